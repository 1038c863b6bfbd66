#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tesela::kernels {
namespace {

/// Returns the transform of the first column of the circulant matrix of order `length` around T.
std::vector<double> transformed_circulant(index_t n, const double* c, const double* r, index_t length) {
  std::vector<double> t(static_cast<std::size_t>(toeplitz_rows(length)));
  std::copy_n(c, n, t.data());
  for (index_t k = 1; k < n; ++k) t[static_cast<std::size_t>(length - k)] = r[k];
  toeplitz::Host{}.real_to_complex(length, 1, t.data(), toeplitz_rows(length));
  return t;
}

/// Returns the largest magnitude of the symbol sum_k t(k) exp(i k x): its maximum on N >= 8 n points over
/// cos(pi (n - 1) / N), because Re(z symbol), |z| = 1, is a real polynomial of degree n - 1 (Ehlich and Zeller).
double symbol_bound(index_t n, const double* c, const double* r) {
  const index_t length = fft::good_size(8 * n);
  const std::vector<double> f = transformed_circulant(n, c, r, length);
  double most = 0;
  for (std::size_t k = 0; k + 1 < f.size(); k += 2) {
    const double size = std::hypot(f[k], f[k + 1]);
    if (!(size <= most)) most = size;
    if (!(size <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::quiet_NaN();
  }
  return most / std::cos(std::numbers::pi * static_cast<double>(n - 1) / static_cast<double>(length));
}

}  // namespace

double general_toeplitz_one_norm(index_t n, const double* c, const double* r) {
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

double general_toeplitz_norm_bound(index_t n, const double* c, const double* r) {
  if (n == 0) return 0;
  std::vector<double> row(r, r + n);
  row[0] = c[0];
  const double columns = general_toeplitz_one_norm(n, c, r), rows = general_toeplitz_one_norm(n, row.data(), c);
  const double sums = std::sqrt(columns) * std::sqrt(rows), symbol = symbol_bound(n, c, r);
  return std::isnan(symbol) || symbol < sums ? symbol : sums;
}

GeneralToeplitz::GeneralToeplitz(index_t n, const double* c, const double* r)
    : n_(n),
      length_(toeplitz_length(n)),
      spectrum_(transformed_circulant(n, c, r, length_)),
      work_(static_cast<std::size_t>(toeplitz_rows(length_))) {}

void GeneralToeplitz::multiply(double alpha, const double* x, double beta, double* y) {
  const toeplitz::Host host;
  const index_t rows = toeplitz_rows(length_);
  std::copy_n(x, n_, work_.data());
  std::fill(work_.begin() + n_, work_.end(), 0.0);
  host.real_to_complex(length_, 1, work_.data(), rows);
  multiply_transforms(rows / 2, alpha / static_cast<double>(length_), spectrum_.data(), false, work_.data());
  host.complex_to_real(length_, 1, work_.data(), rows);
  for (index_t i = 0; i < n_; ++i) y[i] = work_[static_cast<std::size_t>(i)] + (beta == 0 ? 0 : beta * y[i]);
}

void multiply_transforms(index_t half, double scale, const double* by, bool conjugate, double* x) {
  for (index_t k = 0; k < 2 * half; k += 2) {
    const double re = scale * by[k], im = conjugate ? -scale * by[k + 1] : scale * by[k + 1], real = x[k];
    x[k] = re * real - im * x[k + 1];
    x[k + 1] = re * x[k + 1] + im * real;
  }
}

}  // namespace tesela::kernels
