#include "tools/checks/explained_part.hpp"

#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {

using namespace kernels;

InstrumentProjection::InstrumentProjection(const HostMatrix<double>& R, const std::vector<index_t>& instruments,
                                           double rcond)
    : factor_(R.rows(), std::ssize(instruments)),
      tau_(static_cast<std::size_t>(std::min(factor_.rows(), factor_.cols()))) {
  const index_t n = R.rows(), w = factor_.cols(), most = std::min(n, w);
  for (index_t j = 0; j < w; ++j) std::copy_n(&R(0, instruments[static_cast<std::size_t>(j)]), n, &factor_(0, j));
  if (most == 0) return;
  std::vector<index_t> pivots;
  lapack::geqp3(n, w, factor_.data(), n, pivots, tau_.data());
  while (rank_ < most && std::abs(factor_(rank_, rank_)) > rcond * std::abs(factor_(0, 0))) ++rank_;
  triangle_ = HostMatrix<double>::zeros(rank_, rank_);
  for (index_t j = 0; j < rank_; ++j) {
    std::copy_n(&factor_(0, j), j + 1, &triangle_(0, j));
    columns_.push_back(instruments[static_cast<std::size_t>(pivots[static_cast<std::size_t>(j)])]);
  }
  if (rank_ > 0) condition_ = triangle_condition(triangle_, true);
}

HostMatrix<double> InstrumentProjection::of(HostMatrix<double> A) const {
  HostMatrix<double> part(rank_, A.cols());
  if (part.size() == 0) return part;
  lapack::ormqr(Op::transpose, A.rows(), A.cols(), rank_, factor_.data(), A.rows(), tau_.data(), A.data(), A.ld());
  for (index_t j = 0; j < A.cols(); ++j) std::copy_n(&A(0, j), rank_, &part(0, j));
  return part;
}

HostMatrix<double> InstrumentProjection::of_products(const HostMatrix<double>& products) const {
  HostMatrix<double> part(rank_, products.cols());
  if (part.size() == 0) return part;
  for (index_t j = 0; j < part.cols(); ++j)
    for (index_t k = 0; k < rank_; ++k) part(k, j) = products(columns_[static_cast<std::size_t>(k)], j);
  blas::trsm(Op::transpose, rank_, part.cols(), triangle_.data(), rank_, part.data(), rank_);
  return part;
}

HostMatrix<double> InstrumentProjection::rest(HostMatrix<double> A) const {
  if (rank_ == 0 || A.size() == 0) return A;
  const auto apply = [&](Op op) {
    lapack::ormqr(op, A.rows(), A.cols(), rank_, factor_.data(), A.rows(), tau_.data(), A.data(), A.ld());
  };
  apply(Op::transpose);
  for (index_t j = 0; j < A.cols(); ++j) std::fill_n(&A(0, j), rank_, 0.0);
  apply(Op::none);
  return A;
}

}  // namespace tesela
