#include "tools/checks/toeplitz_spectrum_error.hpp"

#include "tools/checks/worse.hpp"
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

using namespace kernels;
namespace {

/// T times a power of two, so that no product of its numbers overflows or underflows.
template <class T>
struct Scaled {
  Scaled(index_t n, const T* from) : t(from, from + n), exponent(exponent_of_largest<T>(t)) {
    scale_by_power_of_two<T>(t, -exponent);
  }
  double operator()(double value) const { return std::ldexp(value, -exponent); }
  double back(double value) const { return std::ldexp(value, exponent); }

  std::vector<T> t;
  int exponent;
};

/// Returns LAPACK's eigenvalues of the scaled matrix.
template <class T>
std::vector<double> dense_values(index_t n, const Scaled<T>& scaled) {
  std::vector<double> a(static_cast<std::size_t>(n * n)), values(static_cast<std::size_t>(n));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      a[static_cast<std::size_t>(i + j * n)] = static_cast<double>(scaled.t[static_cast<std::size_t>(std::abs(i - j))]);
  const blas::Threads threads(blas::threads_for(n));
  if (lapack::syevd(n, a.data(), n, values.data(), false) != 0) values.clear();
  return values;
}

}  // namespace

template <class T>
ToeplitzSpectrumError toeplitz_spectrum_error(index_t n, const T* t, std::span<const double> values,
                                              std::span<const signed char> symmetry, const T* x, double norm) {
  const auto k = static_cast<index_t>(values.size());
  const Scaled<T> scaled(n, t);
  ToeplitzSpectrumError error;
  std::vector<T> y(static_cast<std::size_t>(n));
  for (index_t j = 0; j < k; ++j) {
    const T* const v = x + n * j;
    const auto at = static_cast<std::size_t>(j);
    toeplitz_product(n, scaled.t.data(), scaled(values[at]), 1, v, y.data());
    double odd = 0;
    for (index_t i = 0; i < n; ++i)
      odd += std::pow(static_cast<double>(v[n - 1 - i]) - symmetry[at] * static_cast<double>(v[i]), 2);
    error.residual = worse(error.residual, static_cast<double>(blas::nrm2(n, y.data())) / scaled(norm));
    error.symmetry = worse(error.symmetry, std::sqrt(odd));
  }
  const blas::Threads threads(blas::threads_for(n));
  constexpr index_t panel = 512;
  std::vector<T> products(static_cast<std::size_t>(panel * k));
  for (index_t j = 0; j < k; j += panel) {
    const index_t some = std::min(panel, k - j);
    blas::gemm<T>(Op::transpose, Op::none, some, k, n, 1, x + n * j, n, x, n, 0, products.data(), panel);
    for (index_t c = 0; c < k; ++c)
      for (index_t r = 0; r < some; ++r)
        error.orthogonality =
            worse(error.orthogonality, std::abs(static_cast<double>(products[static_cast<std::size_t>(r + c * panel)]) -
                                                (j + r == c ? 1.0 : 0.0)));
  }
  return error;
}

template <class T>
std::vector<double> toeplitz_dense_values(index_t n, const T* t) {
  const Scaled<T> scaled(n, t);
  std::vector<double> values = dense_values(n, scaled);
  for (double& value : values) value = scaled.back(value);
  return values;
}

template <class T>
ToeplitzValuesError toeplitz_values_error(index_t n, const T* t, std::span<const double> values, index_t first,
                                          bool missing, double low, double high, double near) {
  const Scaled<T> scaled(n, t);
  const std::vector<double> right = dense_values(n, scaled);
  const auto found = static_cast<index_t>(values.size());
  ToeplitzValuesError result;
  if (right.empty()) return {std::numeric_limits<double>::quiet_NaN(), 0};
  const double norm = std::max(std::abs(right.front()), std::abs(right.back()));
  for (index_t i = 0; i < found; ++i) {
    const double value = scaled(values[static_cast<std::size_t>(i)]);
    double apart = std::numeric_limits<double>::infinity();
    if (!missing && first + i < n) apart = std::abs(value - right[static_cast<std::size_t>(first + i)]);
    for (std::size_t j = 0; missing && j < right.size(); ++j) apart = std::min(apart, std::abs(value - right[j]));
    if (apart != 0)
      result.error =
          worse(result.error, std::isfinite(value) ? apart / norm : std::numeric_limits<double>::quiet_NaN());
  }
  if (missing) return result;
  const double from = scaled(low) - scaled(near), to = scaled(high) - scaled(near);
  result.miscounted =
      std::abs(found - std::ranges::count_if(right, [&](double value) { return value >= from && value < to; }));
  return result;
}

template <class T>
double toeplitz_norm_estimate(index_t n, const T* t, std::span<const double> found) {
  const Scaled<T> scaled(n, t);
  double squares = 0, norm = 0;
  for (index_t k = 0; k < n; ++k)
    squares += (k == 0 ? 1.0 : 2.0) * static_cast<double>(n - k) *
               std::pow(static_cast<double>(scaled.t[static_cast<std::size_t>(k)]), 2);
  for (const double value : found) norm = std::max(norm, std::abs(scaled(value)));
  norm = std::max(norm, std::sqrt(squares / static_cast<double>(n)));
  return norm > 0 ? std::min(scaled.back(norm), std::numeric_limits<double>::max()) : 1;
}

TESELA_FUNCTIONS_FOR_REALS(toeplitz_spectrum_error, toeplitz_dense_values, toeplitz_values_error,
                           toeplitz_norm_estimate)

}  // namespace tesela
