#include <tesela/codelets/toeplitz/internal/toeplitz_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::kernels {
namespace {

/// One column in double precision, at size 1: the column is `x` times 2^exponent.
struct Unit {
  static constexpr int nothing = -10000;  ///< smaller than every other exponent
  std::vector<double> x;
  int exponent = 0;
  template <class T>
  void take(index_t n, const T* from) {
    x.assign(from, from + n);
    normalize();
  }
  void normalize() {
    exponent = exponent_of_largest<double>(x);
    scale_by_power_of_two<double>(x, -exponent);
    if (std::all_of(x.begin(), x.end(), [](double value) { return value == 0; })) exponent = nothing;
  }
};

/// Products with one matrix, column by column.
class Product {
 public:
  template <class T>
  Product(index_t n, const T* t, double sigma)
      : n_(n),
        length_(toeplitz_length(n)),
        spectrum_(static_cast<std::size_t>(length_ / 2 + 1)),
        work_(static_cast<std::size_t>(toeplitz_rows(length_))) {
    Unit column{{t, t + n}};
    column.x[0] -= sigma;
    column.normalize();
    exponent_ = column.exponent;
    norm_ = toeplitz_norm_bound(n, column.x.data(), 0);
    toeplitz::spectrum(host_, column.x.data(), n, spectrum_.data(), length_ / 2 + 1, work_.data());
  }
  /// Returns the exponent of the scaling: the matrix is the multiplied one times 2^exponent().
  int exponent() const { return exponent_; }
  double norm() const { return norm_; }  ///< of the multiplied matrix
  /// Computes y = alpha T x + beta y.
  void operator()(double alpha, const std::vector<double>& x, double beta, std::vector<double>& y) {
    toeplitz::multiply(host_, spectrum_.data(), length_ / 2 + 1, 1.0, 0.0, alpha, x.data(), n_, beta, y.data(), n_, n_,
                       1, work_.data());
  }

 private:
  index_t n_, length_;
  toeplitz::Host host_;
  std::vector<double> spectrum_, work_;
  int exponent_;
  double norm_;
};

}  // namespace

template <class T>
void toeplitz_product(index_t n, const T* t, double sigma, index_t k, const T* x, T* b) {
  if (n == 0) return;
  Product product(n, t, sigma);
  std::vector<double> y(static_cast<std::size_t>(n));
  Unit from;
  for (index_t j = 0; j < k; ++j) {
    from.take(n, x + j * n);
    product(1, from.x, 0, y);
    scale_by_power_of_two<double>(y, product.exponent() + from.exponent);
    std::transform(y.begin(), y.end(), b + j * n, [](double value) { return static_cast<T>(value); });
  }
}

template <class T>
double toeplitz_residual(index_t n, const T* t, double sigma, index_t k, const T* x, const T* b) {
  if (n == 0) return 0;
  Product product(n, t, sigma);
  const double norm = product.norm();
  Unit left, right;
  double worst = 0;
  for (index_t j = 0; j < k; ++j) {
    left.take(n, x + j * n);
    right.take(n, b + j * n);
    // Both sides in units of the larger one.
    const int left_exponent = product.exponent() + left.exponent, most = std::max(left_exponent, right.exponent);
    const double alpha = std::ldexp(1.0, left_exponent - most), beta = std::ldexp(1.0, right.exponent - most);
    const double size = alpha * norm * blas::nrm2(n, left.x.data()) + beta * blas::nrm2(n, right.x.data());
    product(alpha, left.x, -beta, right.x);
    const double r = blas::nrm2(n, right.x.data());
    const double relative = r == 0 ? 0 : r / size;
    worst = relative > worst || std::isnan(relative) ? relative : worst;
  }
  return worst;
}

template void toeplitz_product(index_t, const float*, double, index_t, const float*, float*);
template void toeplitz_product(index_t, const double*, double, index_t, const double*, double*);
template double toeplitz_residual(index_t, const float*, double, index_t, const float*, const float*);
template double toeplitz_residual(index_t, const double*, double, index_t, const double*, const double*);

}  // namespace tesela::kernels
