#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/support/internal/blas_sizes.hpp>
#include <tesela/algorithms/support/internal/on_column.hpp>
#include <tesela/algorithms/support/report_not_finite.hpp>
#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/cholesky_link.hpp>
#include <tesela/codelets/dense/potrf.hpp>
#include <tesela/codelets/dense/row_update.hpp>
#include <tesela/codelets/dense/trsm.hpp>
#include <tesela/codelets/support/copy_block.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>

namespace tesela {

using namespace kernels;

TileShape suitable_cholesky_tile(const Runtime& runtime, index_t n) {
  const auto rounded = [](index_t size) { return size / 32 * 32; };
  if (runtime.gpus() > 0) {
    const index_t nb = std::clamp<index_t>(rounded(n / 24), 128, 512);
    return {nb, std::max(n, nb)};
  }
  const index_t nb = std::clamp<index_t>(rounded(n / 8), 32, 256);
  return {nb, nb};
}

/// The diagonal block of tile row k.
template <class T>
struct CholeskyFactorization<T>::Block {
  index_t tile, column;  ///< tile column of the block, and the block's first column within that tile
  index_t order;
};

template <class T>
auto CholeskyFactorization<T>::block(index_t k) const -> Block {
  const auto [nb, width] = r_.tile_shape();
  const index_t first = k * nb;
  return {first / width, first % width, std::min(nb, r_.n() - first)};
}

template <class T>
bool CholeskyFactorization<T>::square() const {
  return r_.nt() == r_.mt();
}

template <class T>
Priority CholeskyFactorization<T>::home(index_t i, index_t j, int value) const {
  return on_column(square() ? j : i, value);
}

template <class T>
Tile<T> CholeskyFactorization<T>::diagonal(index_t k) const {
  return diagonals_ ? (*diagonals_)(k, 0) : r_(k, k);
}

/// Inserts R(k, k). With wide tiles it also inserts the next diagonal block after the subtraction of row k, so that
/// this block need not wait for the rest of the row.
template <class T>
void CholeskyFactorization<T>::insert_diagonal(Graph& g, index_t k) const {
  const index_t nb = r_.tile_shape().mb;
  const Block d = block(k);
  const Priority first = home(k, k, highest_priority);
  if (diagonals_ && k == 0)
    g.insert<CopyBlock<T, Out>>(first, {.a_column = d.column, .rows = d.order, .columns = d.order}, r_(k, d.tile),
                                diagonal(k));
  g.insert<Potrf<T>>(first, {k * nb}, diagonal(k), minor_(0, 0));
  if (inverses_) g.insert<InvertBlocks<T>>(first, {}, diagonal(k), (*inverses_)(k, 0));
  if (!diagonals_ || k + 1 == r_.mt()) return;
  const Block next = block(k + 1);
  g.insert<CholeskyNextDiagonal<T>>(first, {next.column}, diagonal(k), inverses_ ? (*inverses_)(k, 0) : diagonal(k),
                                    r_(k, next.tile), r_(k + 1, next.tile), diagonal(k + 1),
                                    g.scratch<T>(nb, next.order), g.scratch<T>(inverted_block, next.order, 1));
}

template <class T>
CholeskyFactorization<T>::CholeskyFactorization(Graph& g, const TileMatrix<T>& A)
    : r_(A), minor_(g.runtime(), 1, 1, {1, 1}, "minor") {
  const index_t n = A.n(), nt = A.nt(), nb = A.tile_shape().mb, width = A.tile_shape().nb;
  if (A.m() != n || (nt > 1 && width % nb != 0))
    throw ArgumentError("cholesky", "A",
                        to_string(Shape{A.m(), n}) + " in tiles of " + to_string(Shape{nb, width}) +
                            "; it must be square, in tiles that are square, or wider by a whole number of heights");
  require_blas_sizes("cholesky", "A", A);
  const auto blocks = [&](const char* name) {
    return std::make_shared<const TileMatrix<T>>(g.runtime(), n, std::min(nb, n), TileShape{nb, nb}, name);
  };
  if (!square()) diagonals_ = blocks("D");
  if (g.runtime().gpus() > 0 && n > 0) inverses_ = blocks("V");
  g.insert<Laset<double>>(on_gpu, {0.0}, minor_(0, 0));
  for (index_t k = 0; k < A.mt(); ++k) {
    const Block d = block(k);
    insert_diagonal(g, k);
    for (index_t j = d.tile; j < nt; ++j)
      if (const index_t column = j == d.tile ? d.column + d.order : 0; column < A(k, j).cols())
        solve_diagonal(g, home(k, j, highest_priority - (diagonals_ ? 1 : 0)), Op::transpose, k, A(k, j), column);
    for (index_t i = k + 1; i < A.mt(); ++i) {
      const Block to = block(i);
      for (index_t j = to.tile; j < nt; ++j) {
        const bool first = j == to.tile;
        const int value = i == k + 1 ? highest_priority - 1 : static_cast<int>(std::min<index_t>(A.mt() - i, 1000));
        index_t column = first ? to.column : 0;
        // insert_diagonal has updated the next diagonal block already
        if (diagonals_ && first && i == k + 1) column += to.order;
        if (column < A(i, j).cols())
          g.insert<RowUpdate<T>>(home(i, j, value), {Op::transpose, to.column, column, square() && first},
                                 A(k, to.tile), A(k, j), A(i, j));
      }
    }
    if (diagonals_)
      g.insert<CopyBlock<T>>(home(k, k), {.b_column = d.column, .rows = d.order, .columns = d.order}, diagonal(k),
                             A(k, d.tile));
  }
}

template <class T>
index_t CholeskyFactorization<T>::minor() const {
  return static_cast<index_t>(minor_(0, 0).read()(0, 0));
}

template <class T>
void CholeskyFactorization<T>::solve_diagonal(Graph& g, const Priority& where, Op op, index_t k, const Tile<T>& x,
                                              index_t column) const {
  if (inverses_)
    g.insert<BlockTrsm<T>>(where, {op, column}, diagonal(k), (*inverses_)(k, 0), x,
                           g.scratch<T>(inverted_block, std::max<index_t>(x.cols(), 1)));
  else
    g.insert<Trsm<T>>(where, {op, column}, diagonal(k), x);
}

template <class T>
void CholeskyFactorization<T>::solve(Graph& g, const TileMatrix<T>& X) const {
  if (X.m() != r_.n() || (X.mt() > 1 && X.tile_shape().mb != r_.tile_shape().mb))
    throw ArgumentError("CholeskyFactorization::solve", "X",
                        to_string(Shape{X.m(), X.n()}) + "; it must have " + std::to_string(r_.n()) +
                            " rows, in tiles as high as A's, " + std::to_string(r_.tile_shape().mb));
  if (X.shares_tiles(r_)) throw ArgumentError("CholeskyFactorization::solve", "X", "shares tiles with A");
  require_blas_sizes("CholeskyFactorization::solve", "X", X);
  const index_t mt = r_.mt();
  for (index_t j = 0; j < X.nt(); ++j) {
    for (index_t k = 0; k < mt; ++k) {
      solve_diagonal(g, on_column(j), Op::transpose, k, X(k, j));
      for (index_t i = k + 1; i < mt; ++i)
        g.insert<RowUpdate<T>>(on_column(j), {Op::transpose, block(i).column}, r_(k, block(i).tile), X(k, j), X(i, j));
    }
    for (index_t k = mt; k-- > 0;) {
      for (index_t i = k + 1; i < mt; ++i)
        g.insert<RowUpdate<T>>(on_column(j), {Op::none, block(i).column}, r_(k, block(i).tile), X(i, j), X(k, j));
      solve_diagonal(g, on_column(j), Op::none, k, X(k, j));
    }
  }
  report_not_finite(g, X);
}

template <class T>
CholeskyFactorization<T> cholesky(Graph& g, const TileMatrix<T>& A) {
  return CholeskyFactorization<T>(g, A);
}

template class CholeskyFactorization<float>;
template class CholeskyFactorization<double>;
template CholeskyFactorization<float> cholesky(Graph&, const TileMatrix<float>&);
template CholeskyFactorization<double> cholesky(Graph&, const TileMatrix<double>&);

}  // namespace tesela
