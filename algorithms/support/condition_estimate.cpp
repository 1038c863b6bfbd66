#include <tesela/algorithms/support/condition_estimate.hpp>
#include <tesela/runtime/scalar.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {
namespace {

template <class S>
double norm1(const std::vector<S>& x) {
  double sum = 0;
  for (const S value : x) sum += std::abs(value);
  return sum;
}

/// Returns the number of size 1 whose product with x is |x|, 1 for 0.
template <class S>
S conjugate_sign(S x) {
  if constexpr (is_complex<S>)
    return x == S(0) ? S(1) : conj(x) / std::abs(x);
  else
    return x < 0 ? -1 : 1;
}

}  // namespace

template <class S>
double norm1_estimate(index_t n, const std::type_identity_t<std::function<void(std::vector<S>&)>>& multiply) {
  if (n == 0) return 0;
  const auto size = static_cast<std::size_t>(n);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<S> x(size), signs(size);
  // LAPACK starts with equal numbers, but a matrix that is symmetric about both of its diagonals never leaves such
  // vectors.
  for (std::size_t i = 0; i < size; ++i)
    x[i] = 2 * static_cast<double>(i + 1) / (static_cast<double>(n) * static_cast<double>(n + 1));
  multiply(x);
  double estimate = norm1(x);
  if (n == 1 || !std::isfinite(estimate)) return std::isfinite(estimate) ? estimate : infinity;
  // ||A x||_1 is convex in x: ascend along its subgradient A^H sign(A x) = conj(A conj(sign(A x))), from one unit
  // vector to the next.
  std::size_t unit = size;
  for (int step = 0; step < 5; ++step) {
    bool same = step > 0;
    for (std::size_t i = 0; i < size; ++i) {
      const S sign = conjugate_sign(x[i]);
      same = same && sign == signs[i];
      signs[i] = sign;
    }
    if (same) break;
    x = signs;
    multiply(x);
    const auto most = std::max_element(x.begin(), x.end(), [](S a, S b) { return std::abs(a) < std::abs(b); });
    if (unit < size && std::abs(x[unit]) >= std::abs(*most)) break;
    unit = static_cast<std::size_t>(most - x.begin());
    std::fill(x.begin(), x.end(), S(0));
    x[unit] = 1;
    multiply(x);
    const double next = norm1(x);
    if (!std::isfinite(next)) return infinity;
    if (next <= estimate) break;
    estimate = next;
  }
  // A last vector detects cancellation in all the others.
  for (std::size_t i = 0; i < size; ++i)
    x[i] = (i % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(i) / static_cast<double>(n - 1));
  multiply(x);
  const double other = 2 * norm1(x) / (3 * static_cast<double>(n));
  return std::isfinite(other) ? std::max(estimate, other) : infinity;
}

template double norm1_estimate<double>(index_t, const std::function<void(std::vector<double>&)>&);
template double norm1_estimate<std::complex<double>>(index_t,
                                                     const std::function<void(std::vector<std::complex<double>>&)>&);

}  // namespace tesela
