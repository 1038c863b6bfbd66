#include "codelets/toeplitz_error.hpp"

#include "codelets/toeplitz_host.hpp"
#include "codelets/toeplitz_steps.hpp"

#include <algorithm>
#include <vector>

namespace tesela {
namespace {

/// Products by one matrix, column by column.
class Product {
 public:
  template <class T>
  Product(index_t n, const T* t, double sigma)
      : n_(n),
        length_(toeplitz_length(n)),
        spectrum_(static_cast<std::size_t>(length_ / 2 + 1)),
        work_(static_cast<std::size_t>(toeplitz_rows(length_))),
        x_(static_cast<std::size_t>(n)) {
    std::copy_n(t, n, x_.begin());
    if (n > 0) x_[0] -= sigma;
    toeplitz::spectrum(host_, x_.data(), n, spectrum_.data(), length_ / 2 + 1, work_.data());
  }
  /// y = T x + beta y.
  template <class T>
  void operator()(const T* x, double beta, double* y) {
    std::copy_n(x, n_, x_.begin());
    toeplitz::multiply(host_, spectrum_.data(), length_ / 2 + 1, 0.0, 1.0, x_.data(), n_, beta, y, n_, n_, 1,
                       work_.data());
  }

 private:
  index_t n_, length_;
  toeplitz::Host host_;
  std::vector<double> spectrum_, work_, x_;
};

}  // namespace

template <class T>
void toeplitz_product(index_t n, const T* t, double sigma, index_t k, const T* x, T* b) {
  if (n == 0) return;
  Product product(n, t, sigma);
  std::vector<double> y(static_cast<std::size_t>(n));
  for (index_t j = 0; j < k; ++j) {
    product(x + j * n, 0, y.data());
    std::transform(y.begin(), y.end(), b + j * n, [](double value) { return static_cast<T>(value); });
  }
}

template <class T>
double toeplitz_residual(index_t n, const T* t, double sigma, index_t k, const T* x, const T* b) {
  if (n == 0) return 0;
  Product product(n, t, sigma);
  const double norm = toeplitz_norm_bound(n, t, sigma);
  std::vector<double> y(static_cast<std::size_t>(n)), wide(y.size());
  const auto norm_of = [&](const T* column) {
    std::copy_n(column, n, wide.begin());
    return blas::nrm2(n, wide.data());
  };
  double worst = 0;
  for (index_t j = 0; j < k; ++j) {
    std::copy_n(b + j * n, n, y.begin());
    product(x + j * n, -1, y.data());
    const double r = blas::nrm2(n, y.data()), size = norm * norm_of(x + j * n) + norm_of(b + j * n);
    const double relative = r == 0 ? 0 : r / size;
    worst = relative > worst || std::isnan(relative) ? relative : worst;
  }
  return worst;
}

template void toeplitz_product(index_t, const float*, double, index_t, const float*, float*);
template void toeplitz_product(index_t, const double*, double, index_t, const double*, double*);
template double toeplitz_residual(index_t, const float*, double, index_t, const float*, const float*);
template double toeplitz_residual(index_t, const double*, double, index_t, const double*, const double*);

}  // namespace tesela
