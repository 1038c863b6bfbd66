#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace tesela::kernels {
namespace {

/// One column in double precision, at size 1: the column is `x` times 2^exponent. S is double or std::complex<double>.
template <class S>
struct Unit {
  static constexpr int nothing = -10000;  ///< smaller than every other exponent
  std::vector<S> x;
  int exponent = 0;
  template <class T>
  void take(index_t n, const T* from) {
    x.resize(static_cast<std::size_t>(n));
    std::transform(from, from + n, x.begin(), [](T value) { return converted<S>(value); });
    normalize();
  }
  void normalize() {
    exponent = exponent_of_largest<S>(x);
    scale_by_power_of_two<S>(x, -exponent);
    if (std::all_of(x.begin(), x.end(), [](S value) { return value == S(0); })) exponent = nothing;
  }
};

/// Products with one matrix, column by column; r is null for a symmetric or Hermitian one.
template <class S>
class Product {
 public:
  template <class T>
  Product(index_t n, const T* c, const T* r, double sigma) {
    std::vector<S>& t = numbers_.x;
    for (index_t i = 0; i < n; ++i) t.push_back(converted<S>(c[i]));
    t[0] -= sigma;
    const bool symmetric = r == nullptr && !is_complex<S>;
    for (index_t i = 0; !symmetric && i < n; ++i)
      t.push_back(i == 0 ? S(0) : r != nullptr ? converted<S>(r[i]) : conj(t[static_cast<std::size_t>(i)]));
    numbers_.normalize();
    const S* const row = t.data() + (symmetric ? 0 : n);
    norm_ = general_toeplitz_norm_bound(n, t.data(), row);
    if constexpr (!is_complex<S>)
      if (symmetric) norm_ = toeplitz_norm_bound(n, row, 0);
    matrix_.emplace(n, t.data(), row);
  }
  /// Returns the exponent of the scaling: the matrix is the multiplied one times 2^exponent().
  int exponent() const { return numbers_.exponent; }
  double norm() const { return norm_; }  ///< of the multiplied matrix
  /// Computes y = alpha T x + beta y.
  void operator()(double alpha, const std::vector<S>& x, double beta, std::vector<S>& y) {
    matrix_->multiply(alpha, x.data(), beta, y.data());
  }

 private:
  Unit<S> numbers_;
  double norm_ = 0;
  std::optional<GeneralToeplitz<S>> matrix_;
};

}  // namespace

template <class T>
void toeplitz_product(index_t n, const T* c, const T* r, double sigma, index_t k, const T* x, T* b) {
  using Wide = with_parts<T, double>;
  if (n == 0) return;
  Product<Wide> product(n, c, r, sigma);
  std::vector<Wide> y(static_cast<std::size_t>(n));
  Unit<Wide> from;
  for (index_t j = 0; j < k; ++j) {
    from.take(n, x + j * n);
    product(1, from.x, 0, y);
    scale_by_power_of_two<Wide>(y, product.exponent() + from.exponent);
    std::transform(y.begin(), y.end(), b + j * n, [](Wide value) { return converted<T>(value); });
  }
}

template <class T>
double toeplitz_residual(index_t n, const T* c, const T* r, double sigma, index_t k, const T* x, const T* b) {
  using Wide = with_parts<T, double>;
  if (n == 0) return 0;
  Product<Wide> product(n, c, r, sigma);
  const double norm = product.norm();
  Unit<Wide> left, right;
  double worst = 0;
  for (index_t j = 0; j < k; ++j) {
    left.take(n, x + j * n);
    right.take(n, b + j * n);
    // Both sides in units of the larger one.
    const int left_exponent = product.exponent() + left.exponent, most = std::max(left_exponent, right.exponent);
    const double alpha = std::ldexp(1.0, left_exponent - most), beta = std::ldexp(1.0, right.exponent - most);
    const double size = alpha * norm * blas::nrm2(n, left.x.data()) + beta * blas::nrm2(n, right.x.data());
    product(alpha, left.x, -beta, right.x);
    const double difference = blas::nrm2(n, right.x.data());
    const double relative = difference == 0 ? 0 : difference / size;
    worst = relative > worst || std::isnan(relative) ? relative : worst;
  }
  return worst;
}

template <class T>
void toeplitz_product(index_t n, const T* t, double sigma, index_t k, const T* x, T* b) {
  toeplitz_product<T>(n, t, nullptr, sigma, k, x, b);
}

template <class T>
double toeplitz_residual(index_t n, const T* t, double sigma, index_t k, const T* x, const T* b) {
  return toeplitz_residual<T>(n, t, nullptr, sigma, k, x, b);
}

#define TESELA_TOEPLITZ_ERROR(T)                                                              \
  template void toeplitz_product(index_t, const T*, double, index_t, const T*, T*);           \
  template void toeplitz_product(index_t, const T*, const T*, double, index_t, const T*, T*); \
  template double toeplitz_residual(index_t, const T*, double, index_t, const T*, const T*);  \
  template double toeplitz_residual(index_t, const T*, const T*, double, index_t, const T*, const T*);
TESELA_FOR_NUMBERS(TESELA_TOEPLITZ_ERROR)

}  // namespace tesela::kernels
