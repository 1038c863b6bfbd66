#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/algorithms/support/internal/blas_sizes.hpp>
#include <tesela/algorithms/support/internal/on_column.hpp>
#include <tesela/algorithms/support/report_not_finite.hpp>
#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

constexpr std::array names{
    Named<Pivoting>{Pivoting::none, "none", "pivots on the diagonal"},
    Named<Pivoting>{Pivoting::tournament, "tournament", "rows of 32 columns at a time by a tournament (CALU)"},
};

}  // namespace

std::span<const Named<Pivoting>> pivotings() { return names; }

TileShape suitable_lu_tile(const Runtime& runtime, index_t n) {
  const bool gpu = runtime.gpus() > 0;
  const index_t nb = std::clamp<index_t>(n / (gpu ? 32 : 16) / 32 * 32, gpu ? 128 : 32, gpu ? 512 : 192);
  return {std::max<index_t>(n, 1), nb};
}

/// Returns room for the inverses of L's diagonal blocks. Only GPUs use them.
template <class T>
TileMatrix<T> inverses_for(Runtime& runtime, const TileMatrix<T>& A) {
  const index_t nb = A.tile_shape().nb;
  if (runtime.gpus() > 0) return {runtime, std::min(nb, A.n()), A.n(), {nb, nb}, "V"};
  return {runtime, 1, A.nt(), {1, 1}, "V"};
}

template <class T>
LuFactorization<T>::LuFactorization(Graph& g, const TileMatrix<T>& A, Pivoting pivoting)
    : a_(A),
      inverses_(inverses_for(g.runtime(), A)),
      swaps_(g.runtime(), A.n(), 1, {A.tile_shape().nb, 1}, "swaps"),
      zero_(g.runtime(), 1, 1, {1, 1}, "zero"),
      pivoting_(pivoting) {
  const index_t n = A.n(), nb = A.tile_shape().nb, nt = A.nt();
  if (A.m() != n || A.mt() > 1)
    throw ArgumentError("lu", "A",
                        to_string(Shape{A.m(), n}) + " in tiles of " + to_string(Shape{A.tile_shape().mb, nb}) +
                            "; it must be square, in tiles of whole columns");
  require_blas_sizes("lu", "A", A);
  g.insert<Laset<double>>(on_gpu, {0.0}, zero_(0, 0));
  for (index_t k = 0; k < nt; ++k) {
    const index_t row = k * nb;
    g.insert<Getrf<T>>(on_column(k, highest_priority), {row, pivoting}, A(0, k), inverses_(0, k), swaps_(k, 0),
                       zero_(0, 0), g.scratch<int>(n / 8 + 128, 1));
    for (index_t j = k + 1; j < nt; ++j) {
      const int value = j == k + 1 ? highest_priority - 1 : static_cast<int>(std::min<index_t>(nt - j, 1000));
      g.insert<LuUpdate<T>>(on_column(j, value), {row, pivoting}, A(0, k), inverses_(0, k), swaps_(k, 0), A(0, j),
                            g.scratch<T>(inverted_block, A(0, j).cols()));
    }
  }
  if (pivoting == Pivoting::none) return;
  for (index_t j = 0; j < nt; ++j)  // apply the exchanges of later steps to the rows of L
    for (index_t k = j + 1; k < nt; ++k) g.insert<Laswp<T>>(on_column(j), {k * nb}, A(0, j), swaps_(k, 0));
}

template <class T>
index_t LuFactorization<T>::zero_pivot() const {
  return static_cast<index_t>(zero_(0, 0).read()(0, 0));
}

template <class T>
std::vector<index_t> LuFactorization<T>::rows() const {
  std::vector<index_t> rows(static_cast<std::size_t>(a_.n()));
  std::iota(rows.begin(), rows.end(), index_t{0});
  swaps_.for_each_tile([&](const Tile<int>& tile, index_t first, index_t) {
    const auto swaps = tile.read();
    for (index_t i = 0; i < swaps.rows; ++i)
      std::swap(rows[static_cast<std::size_t>(first + i)], rows[static_cast<std::size_t>(swaps(i, 0))]);
  });
  return rows;
}

template <class T>
void LuFactorization<T>::solve(Graph& g, const TileMatrix<T>& X) const {
  if (X.m() != a_.n() || X.mt() > 1)
    throw ArgumentError("LuFactorization::solve", "X",
                        to_string(Shape{X.m(), X.n()}) + "; it must have " + std::to_string(a_.n()) +
                            " rows, in tiles of whole columns");
  if (X.shares_tiles(a_)) throw ArgumentError("LuFactorization::solve", "X", "shares tiles with A");
  require_blas_sizes("LuFactorization::solve", "X", X);
  const index_t nb = a_.tile_shape().nb, nt = a_.nt();
  for (index_t j = 0; nt > 0 && j < X.nt(); ++j) {
    for (index_t k = 0; k < nt && pivoting_ != Pivoting::none; ++k)
      g.insert<Laswp<T>>(on_column(j), {k * nb}, X(0, j), swaps_(k, 0));
    for (index_t k = 0; k < nt; ++k) g.insert<LuSubstitute<T>>(on_column(j), {k * nb, false}, a_(0, k), X(0, j));
    for (index_t k = nt; k-- > 0;) g.insert<LuSubstitute<T>>(on_column(j), {k * nb, true}, a_(0, k), X(0, j));
  }
  report_not_finite(g, X);
}

template <class T>
LuFactorization<T> lu(Graph& g, const TileMatrix<T>& A, Pivoting pivoting) {
  return LuFactorization<T>(g, A, pivoting);
}

template class LuFactorization<float>;
template class LuFactorization<double>;
template LuFactorization<float> lu(Graph&, const TileMatrix<float>&, Pivoting);
template LuFactorization<double> lu(Graph&, const TileMatrix<double>&, Pivoting);

}  // namespace tesela
