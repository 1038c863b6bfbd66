#include "codelets/normal_residual.hpp"

#include "codelets/blas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

namespace tesela {

template <class T>
NormalResidual<T>::NormalResidual(const HostMatrix<T>& X, double b_norm)
    : n_(X.rows()),
      r_(X.cols()),
      scale_(b_norm > 0 && std::isfinite(b_norm) ? b_norm : 1),
      x_(n_, r_),
      gradient_(HostMatrix<double>::zeros(n_, r_)),
      r_norms_(static_cast<std::size_t>(r_)),
      b_norms_(static_cast<std::size_t>(r_)) {
  std::copy_n(X.data(), X.size(), x_.data());
}

template <class T>
void NormalResidual<T>::add(index_t rows, const T* a, index_t lda, const T* b, index_t ldb) {
  const blas::Threads threads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  constexpr index_t most = 4096;
  HostMatrix<double> block(std::min(rows, most), n_), residual(std::min(rows, most), r_);
  for (index_t first = 0; first < rows; first += most) {
    const index_t count = std::min(most, rows - first), ld = block.ld();
    for (index_t j = 0; j < n_; ++j) {
      std::copy_n(a + first + j * lda, count, &block(0, j));
      a_norm_ = std::hypot(a_norm_, blas::nrm2(count, &block(0, j)));
    }
    for (index_t k = 0; k < r_; ++k) {
      std::copy_n(b + first + k * ldb, count, &residual(0, k));
      double& norm = b_norms_[static_cast<std::size_t>(k)];
      norm = std::hypot(norm, blas::nrm2(count, &residual(0, k)));
    }
    if (r_ == 0) continue;
    if (n_ > 0)
      blas::gemm(Op::none, Op::none, count, r_, n_, -1.0, block.data(), ld, x_.data(), x_.ld(), 1.0, residual.data(),
                 ld);
    for (index_t k = 0; k < r_; ++k) {
      double& norm = r_norms_[static_cast<std::size_t>(k)];
      norm = std::hypot(norm, blas::nrm2(count, &residual(0, k)));
      for (index_t i = 0; i < count; ++i) residual(i, k) /= scale_;
    }
    if (n_ > 0)
      blas::gemm(Op::transpose, Op::none, n_, r_, count, 1.0, block.data(), ld, residual.data(), ld, 1.0,
                 gradient_.data(), gradient_.ld());
  }
  rows_ += rows;
}

template <class T>
typename NormalResidual<T>::Result NormalResidual<T>::result() const {
  Result result;
  const double rounding =
      static_cast<double>(std::max(rows_, n_)) * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (index_t k = 0; k < r_; ++k) {
    const double r = r_norms_[static_cast<std::size_t>(k)];
    result.residual_norm = std::hypot(result.residual_norm, r);
    if (n_ == 0 || a_norm_ == 0) continue;
    const double data = a_norm_ * blas::nrm2(n_, &x_(0, k)) + b_norms_[static_cast<std::size_t>(k)];
    const double gradient = blas::nrm2(n_, &gradient_(0, k)) / a_norm_;  // over scale_
    // NaN must not be lost in a comparison.
    const auto larger = [](double a, double b) { return a > b ? a : b; };
    if (!(r <= rounding * data)) result.normal_residual = larger(result.normal_residual, gradient / (r / scale_));
    if (!(data == 0)) result.backward_error = larger(result.backward_error, gradient / (data / scale_));
  }
  return result;
}

template class NormalResidual<float>;
template class NormalResidual<double>;

}  // namespace tesela
