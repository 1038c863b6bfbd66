#include <tesela/algorithms/dense/triangular_solve.hpp>
#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/algorithms/least_squares/internal/constraints.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/rank_revealing.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tesela::detail {

using namespace kernels;

template <class T>
Constraints<T>::Constraints(Graph& g, const HostMatrix<T>& C, const HostMatrix<T>& equilibrated, double rcond)
    : kept_(static_cast<std::size_t>(C.rows())), dropped_(static_cast<std::size_t>(C.rows()), false) {
  std::iota(kept_.begin(), kept_.end(), index_t{0});
  if (C.rows() == 0) return;
  if (C.rows() <= C.cols()) {
    factor(g, C);
    condition_ = triangle_condition(r_, true);
    if (clearly_regular(condition_, rcond)) return;
  }
  choose_rows(g, equilibrated, rcond);
  factors_.reset();
  tiles_.reset();
  condition_ = 1;
  if (rank() == 0) return;
  factor(g, C);
  condition_ = triangle_condition(r_, true);
}

template <class T>
void Constraints<T>::choose_rows(Graph& g, const HostMatrix<T>& C, double rcond) {
  index_t rank = 0;
  std::vector<index_t> pivots(kept_);
  if (C.cols() > 0) {
    factor(g, C);
    if (C.rows() <= C.cols() && clearly_regular(triangle_condition(r_, true), rcond)) return;
    HostMatrix<T> nothing(r_.rows(), 0);
    scale_columns(r_);
    RankRevealed revealed = reveal_rank(r_, nothing, rcond);
    rank = revealed.rank;
    cut_ = revealed.cut;
    pivots = std::move(revealed.pivots);
  }
  kept_.assign(pivots.begin(), pivots.begin() + rank);
  std::sort(kept_.begin(), kept_.end());
  dropped_.assign(dropped_.size(), true);
  for (const index_t row : kept_) dropped_[static_cast<std::size_t>(row)] = false;
}

template <class T>
void Constraints<T>::factor(Graph& g, const HostMatrix<T>& C) {
  const index_t n = C.cols(), p = rank();
  transposed_ = HostMatrix<T>(n, p);
  for (index_t i = 0; i < p; ++i)
    for (index_t j = 0; j < n; ++j) transposed_(j, i) = C(kept_[static_cast<std::size_t>(i)], j);
  const TileShape tile = suitable_qr_tile(g.runtime(), n, p);
  tiles_ = TileMatrix<T>::map(g.runtime(), transposed_.data(), n, p, n, tile, "C'");
  factors_ = qr(g, *tiles_);
  const HostMatrix<T> nothing(n, 0);
  r_ = extended_qr(g, *factors_, tile, TileMatrix<T>::map(g.runtime(), nothing.data(), n, 0, n, tile, "D")).R;
}

template <class T>
std::vector<index_t> Constraints<T>::dropped() const {
  std::vector<index_t> rows;
  for (std::size_t i = 0; i < dropped_.size(); ++i)
    if (dropped_[i]) rows.push_back(static_cast<index_t>(i));
  return rows;
}

template <class T>
HostMatrix<T> Constraints<T>::solve(Graph& g, const HostMatrix<T>& D) const {
  HostMatrix<T> y(rank(), D.cols());
  for (index_t k = 0; k < D.cols(); ++k)
    for (index_t i = 0; i < rank(); ++i) y(i, k) = D(kept_[static_cast<std::size_t>(i)], k);
  triangular_solve(g, Op::transpose, r_, y);
  return y;
}

template <class T>
void Constraints<T>::multiply_right(Graph& g, HostMatrix<T>& M) const {
  if (!factors_ || M.size() == 0) return;
  const TileShape tile = tiles_->tile_shape();
  const auto tiles = TileMatrix<T>::map(g.runtime(), M.data(), M.rows(), M.cols(), M.ld(), {tile.mb, tile.mb}, "M");
  factors_->apply(g, Side::right, Op::none, tiles);
  g.wait();
  tiles.bring_home();
}

template <class T>
void Constraints<T>::multiply(Graph& g, HostMatrix<T>& Y) const {
  if (!factors_ || Y.size() == 0) return;
  const TileShape tile{tiles_->tile_shape().mb, std::max<index_t>(Y.cols(), 1)};
  const auto tiles = TileMatrix<T>::map(g.runtime(), Y.data(), Y.rows(), Y.cols(), Y.ld(), tile, "X");
  factors_->apply(g, Side::left, Op::none, tiles);
  g.wait();
  tiles.bring_home();
}

template <class T>
HostMatrix<T> Constraints<T>::multipliers(Graph& g, const HostMatrix<T>& M, const HostMatrix<T>& b) const {
  HostMatrix<T> kept = HostMatrix<T>::zeros(rank(), b.cols()),
                all = HostMatrix<T>::zeros(static_cast<index_t>(dropped_.size()), b.cols());
  if (kept.size() > 0 && b.rows() > 0)
    blas::gemm(Op::transpose, Op::none, kept.rows(), kept.cols(), b.rows(), T(1), M.data(), M.ld(), b.data(), b.ld(),
               T(0), kept.data(), kept.ld());
  triangular_solve(g, Op::none, r_, kept);
  for (index_t k = 0; k < b.cols(); ++k)
    for (index_t i = 0; i < rank(); ++i) all(kept_[static_cast<std::size_t>(i)], k) = kept(i, k);
  return all;
}

template class Constraints<float>;
template class Constraints<double>;

}  // namespace tesela::detail
