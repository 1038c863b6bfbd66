#include <tesela/algorithms/toeplitz/hermitian_toeplitz_eig.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace tesela {
namespace {

/// Returns the lower triangle of U^H T U, and zeros above it.
template <class T>
HostMatrix<real_t<T>> real_form(std::span<const T> t) {
  using Real = real_t<T>;
  const auto n = static_cast<index_t>(t.size()), half = n / 2, second = n - half;
  const auto at = [&](index_t i, index_t j) {
    const T value = t[static_cast<std::size_t>(std::abs(i - j))];
    return i >= j ? value : conj(value);
  };
  constexpr Real root = std::numbers::sqrt2_v<Real>;
  return filled<Real>({n, n}, [&](index_t i, index_t j) -> Real {
    if (i < j) return 0;
    if (i < half) return (at(i, j) + at(i, n - 1 - j)).real();
    if (i < second) return i == j ? t[0].real() : root * at(i, j).real();  // the middle
    const index_t p = i - second;
    if (j < half) return (at(j, n - 1 - p) - at(j, p)).imag();
    if (j < second) return -root * at(j, p).imag();
    return (at(p, j - second) - at(p, n - 1 - (j - second))).real();
  });
}

/// Returns U Z with the largest component of each column real and positive.
template <class T>
HostMatrix<T> from_real_form(const HostMatrix<real_t<T>>& z) {
  using Real = real_t<T>;
  const index_t n = z.rows(), half = n / 2, second = n - half;
  constexpr Real root = std::numbers::sqrt2_v<Real> / 2;
  HostMatrix<T> x(n, z.cols());
  for (index_t j = 0; j < z.cols(); ++j) {
    for (index_t i = 0; i < half; ++i) {
      x(i, j) = root * T(z(i, j), z(i + second, j));
      x(n - 1 - i, j) = conj(x(i, j));
    }
    if (half < second) x(half, j) = z(half, j);
    const T* const column = x.data() + j * x.ld();
    const T largest = *std::max_element(column, column + n, [](T a, T b) { return std::norm(a) < std::norm(b); });
    const T phase = conj(largest) / std::abs(largest);
    for (index_t i = 0; i < n; ++i) x(i, j) = x(i, j) == largest ? T(std::abs(largest)) : times(x(i, j), phase);
  }
  return x;
}

/// Computes the eigenpairs of T from the eigenpairs of its real form, which solve(a, options) returns.
template <class T, class Solve>
HermitianToeplitzEig<T> by_real_form(std::span<const T> t, const SymmetricEigOptions& options, const Solve& solve) {
  for (std::size_t k = 0; k < t.size(); ++k)
    require(is_finite(t[k]), "hermitian_toeplitz_eig", "t", "number ", k, " is not finite");
  require(t.empty() || t[0].imag() == 0, "hermitian_toeplitz_eig", "t", "t(0) has the imaginary part ",
          t.empty() ? "0" : shortest(t[0].imag()), "; the matrix must be Hermitian");
  HermitianToeplitzEig<T> result;
  if (t.empty()) return result;
  // Sums of two elements stay in range at size 1.
  const int exponent = exponent_of_largest(t);
  std::vector<T> unit(t.begin(), t.end());
  scale_by_power_of_two(std::span<T>(unit), -exponent);
  HostMatrix<real_t<T>> a = real_form<T>(std::span<const T>(unit));
  SymmetricEigOptions scaled = options;
  scaled.low = std::ldexp(options.low, -exponent);
  scaled.high = std::ldexp(options.high, -exponent);
  const SymmetricEig<real_t<T>> found = solve(MatrixView(a), scaled);
  result.status = found.status;
  result.norm = std::ldexp(found.norm, exponent);
  result.first = found.first;
  for (const double value : found.values) {
    const double full = std::ldexp(value, exponent);
    const bool fits = std::abs(full) <= static_cast<double>(std::numeric_limits<real_t<T>>::max());
    result.values.push_back(fits ? full : std::copysign(std::numeric_limits<double>::infinity(), full));
    if (!fits && result.status.ok()) result.status.verdict = SymmetricEigStatus::Verdict::overflow;
  }
  if (!found.vectors || !found.status.ok()) return result;
  result.vectors = from_real_form<T>(found.vectors->to_host());
  return result;
}

}  // namespace

template <class T>
HermitianToeplitzEig<T> hermitian_toeplitz_eig(Runtime& runtime, std::span<const T> t,
                                               const SymmetricEigOptions& options) {
  return by_real_form(t, options, [&](MatrixView<real_t<T>> a, const SymmetricEigOptions& o) {
    return symmetric_eig<real_t<T>>(runtime, a, o);
  });
}

template <class T>
HermitianToeplitzEig<T> hermitian_toeplitz_eig(Graph& g, std::span<const T> t, const SymmetricEigOptions& options) {
  return by_real_form(t, options, [&](MatrixView<real_t<T>> a, const SymmetricEigOptions& o) {
    return symmetric_eig<real_t<T>>(g, a.in_tiles(g.runtime(), eig_tile(g.runtime(), a.cols, o)), o);
  });
}

#define TESELA_INSTANTIATE(T)                                                                                        \
  template HermitianToeplitzEig<T> hermitian_toeplitz_eig(Runtime&, std::span<const T>, const SymmetricEigOptions&); \
  template HermitianToeplitzEig<T> hermitian_toeplitz_eig(Graph&, std::span<const T>, const SymmetricEigOptions&);
TESELA_FOR_COMPLEX(TESELA_INSTANTIATE)

}  // namespace tesela
