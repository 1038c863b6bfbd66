#include <tesela/algorithms/tridiagonal/internal/require_one_system.hpp>
#include <tesela/algorithms/tridiagonal/thomas.hpp>
#include <tesela/codelets/tridiagonal/gather_rows.hpp>
#include <tesela/codelets/tridiagonal/gtsv.hpp>
#include <tesela/codelets/tridiagonal/thomas.hpp>

#include <limits>
#include <vector>

namespace tesela {

using namespace kernels;
namespace {

constexpr index_t first_scratch = 1 << 21;  // far from the numbers that kernels ask for

/// The tiles of column j as one.
template <class T>
Tile<T> whole_column(Graph& g, const TileMatrix<T>& A, index_t j, index_t which) {
  if (A.mt() == 1) return A(0, j);
  std::vector<Tile<T>> tiles;
  for (index_t i = 0; i < A.mt(); ++i) tiles.push_back(A(i, j));
  const Tile<T> whole = g.scratch<T>(A.m(), tiles.front().cols(), first_scratch + which);
  g.insert<GatherRows<T>>({}, whole, tiles);
  return whole;
}

/// Solves with kernel K, which takes whole columns.
template <template <class> class K, class T>
void solve_whole(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, index_t work_columns) {
  if (B.m() == 0 || B.n() == 0) return;
  const Tile<T> dl = whole_column(g, A.dl, 0, 0), d = whole_column(g, A.d, 0, 1), du = whole_column(g, A.du, 0, 2),
                work = g.scratch<T>(B.m(), work_columns);
  for (index_t j = 0; j < B.nt(); ++j) {
    const Tile<T> b = whole_column(g, B, j, 3);
    g.insert<K<T>>({}, dl, d, du, b, work, g.status());
    for (index_t i = 0; B.mt() > 1 && i < B.mt(); ++i) g.insert<TakeRows<T>>({i * B.tile_shape().mb}, b, B(i, j));
  }
}

}  // namespace

template <class T>
void thomas(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B) {
  require_one_system("thomas", A, B);
  solve_whole<Thomas>(g, A, B, 1);
}

template <class T>
void gtsv(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B) {
  require_one_system("gtsv", A, B);
  if (B.m() > std::numeric_limits<int>::max() || B.ld() > std::numeric_limits<int>::max())
    throw ArgumentError("gtsv", "B", "its rows or its leading dimension exceed LAPACK's integers");
  solve_whole<Gtsv>(g, A, B, 3);
}

template void thomas(Graph&, const Tridiagonal<float>&, const TileMatrix<float>&);
template void thomas(Graph&, const Tridiagonal<double>&, const TileMatrix<double>&);
template void gtsv(Graph&, const Tridiagonal<float>&, const TileMatrix<float>&);
template void gtsv(Graph&, const Tridiagonal<double>&, const TileMatrix<double>&);

}  // namespace tesela
