#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tesela::kernels {
namespace {

/// Returns the transform of the first column of the circulant matrix of order `length` around T.
template <class S>
std::vector<S> transformed_circulant(index_t n, const S* c, const S* r, index_t length) {
  std::vector<S> t(static_cast<std::size_t>(transform_rows<S>(length)));
  std::copy_n(c, n, t.data());
  for (index_t k = 1; k < n; ++k) t[static_cast<std::size_t>(length - k)] = r[k];
  transform_forward(length, t.data());
  return t;
}

/// Returns the real and imaginary parts of a transform, one after the other.
template <class S>
const double* parts(const S* x) {
  return reinterpret_cast<const double*>(x);
}
template <class S>
constexpr index_t parts_each = is_complex<S> ? 2 : 1;

/// Returns the largest magnitude of the symbol sum_k t(k) exp(i k x): its maximum on N >= 8 n points over
/// cos(pi (n - 1) / N), because Re(z symbol), |z| = 1, is a real polynomial of degree n - 1 (Ehlich and Zeller).
template <class S>
double symbol_bound(index_t n, const S* c, const S* r) {
  const index_t length = fft::good_size(8 * n);
  const std::vector<S> transform = transformed_circulant(n, c, r, length);
  const double* const f = parts(transform.data());
  double most = 0;
  for (index_t k = 0; k < parts_each<S> * static_cast<index_t>(transform.size()); k += 2) {
    const double size = std::hypot(f[k], f[k + 1]);
    if (!(size <= most)) most = size;
    if (!(size <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::quiet_NaN();
  }
  return most / std::cos(std::numbers::pi * static_cast<double>(n - 1) / static_cast<double>(length));
}

}  // namespace

template <class S>
double general_toeplitz_one_norm(index_t n, const S* c, const S* r) {
  // below[i] = |c_0| + ... + |c_{i-1}|, above = |r_1| + ... + |r_j|.
  std::vector<double> below(static_cast<std::size_t>(n) + 1);
  for (index_t i = 0; i < n; ++i)
    below[static_cast<std::size_t>(i + 1)] = below[static_cast<std::size_t>(i)] + std::abs(c[i]);
  double most = 0, above = 0;
  for (index_t j = 0; j < n; ++j) {
    above += j > 0 ? std::abs(r[j]) : 0;
    const double sum = above + below[static_cast<std::size_t>(n - j)];
    if (!(sum <= most)) most = sum;
  }
  return most;
}

template <class S>
double general_toeplitz_norm_bound(index_t n, const S* c, const S* r) {
  if (n == 0) return 0;
  std::vector<S> row(r, r + n);
  row[0] = c[0];
  const double columns = general_toeplitz_one_norm(n, c, r), rows = general_toeplitz_one_norm(n, row.data(), c);
  const double sums = std::sqrt(columns) * std::sqrt(rows), symbol = symbol_bound(n, c, r);
  return std::isnan(symbol) || symbol < sums ? symbol : sums;
}

template <class S>
void transform_forward(index_t length, S* data) {
  const toeplitz::Host host;
  if constexpr (is_complex<S>)
    fft::transform(fft::Direction::forward, length, 1, data, length);
  else
    host.real_to_complex(length, 1, data, transform_rows<S>(length));
}

template <class S>
void transform_backward(index_t length, S* data) {
  const toeplitz::Host host;
  if constexpr (is_complex<S>)
    fft::transform(fft::Direction::backward, length, 1, data, length);
  else
    host.complex_to_real(length, 1, data, transform_rows<S>(length));
}

template <class S>
void multiply_transforms(index_t rows, double scale, const S* by, bool conjugate, S* x) {
  const double* const from = parts(by);
  double* const to = reinterpret_cast<double*>(x);
  for (index_t k = 0; k < parts_each<S> * rows; k += 2) {
    const double re = scale * from[k], im = conjugate ? -scale * from[k + 1] : scale * from[k + 1], real = to[k];
    to[k] = re * real - im * to[k + 1];
    to[k + 1] = re * to[k + 1] + im * real;
  }
}

template <class S>
GeneralToeplitz<S>::GeneralToeplitz(index_t n, const S* c, const S* r)
    : n_(n),
      length_(toeplitz_length(n)),
      spectrum_(transformed_circulant(n, c, r, length_)),
      work_(static_cast<std::size_t>(transform_rows<S>(length_))) {}

template <class S>
void GeneralToeplitz<S>::multiply(double alpha, const S* x, double beta, S* y) {
  std::copy_n(x, n_, work_.data());
  std::fill(work_.begin() + n_, work_.end(), S(0));
  transform_forward(length_, work_.data());
  multiply_transforms(transform_rows<S>(length_), alpha / static_cast<double>(length_), spectrum_.data(), false,
                      work_.data());
  transform_backward(length_, work_.data());
  for (index_t i = 0; i < n_; ++i) y[i] = work_[static_cast<std::size_t>(i)] + (beta == 0 ? S(0) : beta * y[i]);
}

#define TESELA_GENERAL_TOEPLITZ(S)                                          \
  template double general_toeplitz_norm_bound(index_t, const S*, const S*); \
  template double general_toeplitz_one_norm(index_t, const S*, const S*);   \
  template void transform_forward(index_t, S*);                             \
  template void transform_backward(index_t, S*);                            \
  template void multiply_transforms(index_t, double, const S*, bool, S*);   \
  template class GeneralToeplitz<S>;
TESELA_GENERAL_TOEPLITZ(double)
TESELA_GENERAL_TOEPLITZ(std::complex<double>)

}  // namespace tesela::kernels
