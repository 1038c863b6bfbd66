#include <tesela/algorithms/tridiagonal/internal/whole_columns.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_methods.hpp>
#include <tesela/codelets/tridiagonal/elimination.hpp>
#include <tesela/runtime/require.hpp>

#include <limits>

namespace tesela {

using namespace kernels;
namespace {

using detail::whole_column;

/// Solves with kernel K, which needs whole columns.
template <template <class> class K, class T>
void solve_whole(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, index_t work_columns) {
  if (B.m() == 0 || B.n() == 0) return;
  const Tile<T> dl = whole_column(g, A.dl, 0, 0), d = whole_column(g, A.d, 0, 1), du = whole_column(g, A.du, 0, 2),
                work = g.scratch<T>(B.m(), work_columns);
  for (index_t j = 0; j < B.nt(); ++j) {
    const Tile<T> b = whole_column(g, B, j, 3);
    g.insert<K<T>>({}, dl, d, du, b, work, g.status());
    detail::extract_rows(g, b, B, j);
  }
}

}  // namespace

template <class T>
void thomas(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B) {
  detail::require_one_system("thomas", A, B);
  solve_whole<Thomas>(g, A, B, 1);
}

template <class T>
void gtsv(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B) {
  detail::require_one_system("gtsv", A, B);
  require(B.m() <= std::numeric_limits<int>::max() && B.ld() <= std::numeric_limits<int>::max(), "gtsv", "B",
          "its rows or its leading dimension exceed LAPACK's integers");
  solve_whole<Gtsv>(g, A, B, 3);
}

TESELA_FUNCTIONS_FOR_NUMBERS(thomas, gtsv)

}  // namespace tesela
