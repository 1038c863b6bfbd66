#include <tesela/host/blas.hpp>
#include <tesela/host/internal/unit_columns.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/rank_revealing.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace tesela::kernels {
namespace {

/// Returns the start vector, whose pattern no triangle shares.
template <class T>
std::vector<T> start(index_t n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  std::uint32_t state = 1;
  for (T& value : x) {
    state = state * 1664525u + 1013904223u;
    value = T(static_cast<real_t<T>>(state >> 8) / static_cast<real_t<T>>(1 << 24) - real_t<T>(0.5));
  }
  return x;
}

/// Divides x by its norm, and returns the norm.
template <class T>
double normalized(std::vector<T>& x) {
  const real_t<T> size = euclidean_norm(static_cast<index_t>(x.size()), x.data());
  for (T& value : x) value /= size;
  return static_cast<double>(size);
}

/// Returns the largest eigenvalue of the Hermitian operator x <- M x as estimated by some steps of Lanczos's method;
/// NaN if it overflows.
template <class T>
double largest_eigenvalue(index_t n, int steps, const auto& multiply) {
  std::vector<T> x = start<T>(n), before(x.size(), T(0));
  normalized(x);
  std::vector<double> diagonal, beside;
  for (int k = 0; k < steps; ++k) {
    std::vector<T> next = x;
    multiply(next);
    const double along = std::inner_product(x.begin(), x.end(), next.begin(), 0.0, std::plus(),
                                            [](T a, T b) { return static_cast<double>(real_part(times(conj(a), b))); });
    if (!std::isfinite(along)) return std::numeric_limits<double>::quiet_NaN();
    const auto a = static_cast<real_t<T>>(along), b = static_cast<real_t<T>>(beside.empty() ? 0 : beside.back());
    for (std::size_t i = 0; i < x.size(); ++i) next[i] -= a * x[i] + b * before[i];
    diagonal.push_back(along);
    beside.push_back(normalized(next));
    if (!(beside.back() > static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) * along)) break;
    before = std::exchange(x, std::move(next));
  }
  lapack::sterf(std::ssize(diagonal), diagonal.data(), beside.data());
  return diagonal.back();
}

}  // namespace

template <class T>
double spectral_condition(const HostMatrix<T>& R) {
  const index_t n = R.cols();
  if (n == 0) return 1;
  std::vector<T> y(static_cast<std::size_t>(n));
  const double largest = largest_eigenvalue<T>(n, 8, [&](std::vector<T>& x) {
    blas::gemv(Op::none, n, n, T(1), R.data(), R.ld(), x.data(), T(0), y.data());
    blas::gemv(adjoint<T>, n, n, T(1), R.data(), R.ld(), y.data(), T(0), x.data());
  });
  const double inverse = largest_eigenvalue<T>(n, 16, [&](std::vector<T>& x) {
    blas::trsm(adjoint<T>, n, 1, R.data(), R.ld(), x.data(), n);
    blas::trsm(Op::none, n, 1, R.data(), R.ld(), x.data(), n);
  });
  return std::sqrt(largest) * std::sqrt(inverse);
}

template <class T>
double spectral_condition_of_unit_columns(HostMatrix<T> R) {
  scale_to_unit_columns(R);
  return spectral_condition(R);
}

TESELA_FUNCTIONS_FOR_NUMBERS(spectral_condition, spectral_condition_of_unit_columns)

}  // namespace tesela::kernels
