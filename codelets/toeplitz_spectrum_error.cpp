#include "codelets/toeplitz_spectrum_error.hpp"

#include "codelets/blas.hpp"
#include "codelets/lapack.hpp"
#include "codelets/toeplitz_error.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace tesela {
namespace {

int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

/// NaN wins.
void grow(double& most, double value) {
  if (!std::isnan(most) && !(value <= most)) most = value;
}

}  // namespace

template <class T>
ToeplitzSpectrumError toeplitz_spectrum_error(index_t n, const T* t, std::span<const double> values,
                                              std::span<const signed char> symmetry, const T* x, double norm) {
  const auto k = static_cast<index_t>(values.size());
  ToeplitzSpectrumError error;
  std::vector<T> y(static_cast<std::size_t>(n));
  for (index_t j = 0; j < k; ++j) {
    const T* const v = x + n * j;
    const auto at = static_cast<std::size_t>(j);
    toeplitz_product(n, t, values[at], 1, v, y.data());
    double odd = 0;
    for (index_t i = 0; i < n; ++i)
      odd += std::pow(static_cast<double>(v[n - 1 - i]) - symmetry[at] * static_cast<double>(v[i]), 2);
    grow(error.residual, static_cast<double>(blas::nrm2(n, y.data())) / norm);
    grow(error.symmetry, std::sqrt(odd));
  }
  const blas::Threads all(cores());
  constexpr index_t panel = 512;
  std::vector<T> products(static_cast<std::size_t>(panel * k));
  for (index_t j = 0; j < k; j += panel) {
    const index_t some = std::min(panel, k - j);
    blas::gemm<T>(Op::transpose, Op::none, some, k, n, 1, x + n * j, n, x, n, 0, products.data(), panel);
    for (index_t c = 0; c < k; ++c)
      for (index_t r = 0; r < some; ++r)
        grow(error.orthogonality, std::abs(static_cast<double>(products[static_cast<std::size_t>(r + c * panel)]) -
                                           (j + r == c ? 1.0 : 0.0)));
  }
  return error;
}

template <class T>
std::vector<double> toeplitz_dense_values(index_t n, const T* t) {
  std::vector<double> a(static_cast<std::size_t>(n * n)), values(static_cast<std::size_t>(n));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a[static_cast<std::size_t>(i + j * n)] = static_cast<double>(t[std::abs(i - j)]);
  const blas::Threads all(cores());
  if (lapack::syevd(n, a.data(), n, values.data(), false) != 0) values.clear();
  return values;
}

template <class T>
double toeplitz_norm_estimate(index_t n, const T* t, std::span<const double> found) {
  double squares = 0, norm = 0;
  for (index_t k = 0; k < n; ++k)
    squares += (k == 0 ? 1.0 : 2.0) * static_cast<double>(n - k) * std::pow(static_cast<double>(t[k]), 2);
  for (const double value : found) norm = std::max(norm, std::abs(value));
  norm = std::max(norm, std::sqrt(squares / static_cast<double>(n)));
  return norm > 0 ? norm : 1;
}

#define TESELA_TOEPLITZ_SPECTRUM_ERROR(T)                                                                 \
  template ToeplitzSpectrumError toeplitz_spectrum_error(index_t, const T*, std::span<const double>,      \
                                                         std::span<const signed char>, const T*, double); \
  template std::vector<double> toeplitz_dense_values(index_t, const T*);                                  \
  template double toeplitz_norm_estimate(index_t, const T*, std::span<const double>);
TESELA_TOEPLITZ_SPECTRUM_ERROR(float)
TESELA_TOEPLITZ_SPECTRUM_ERROR(double)

}  // namespace tesela
