#include <tesela/algorithms/toeplitz/levinson.hpp>
#include <tesela/runtime/require.hpp>

namespace tesela {

using namespace kernels;
namespace {

/// Checks the shapes. Returns the number of right-hand sides per shift.
template <class T>
index_t require_shifts(const char* routine, const Toeplitz<T>& A, const TileMatrix<T>& shifts, const char* argument,
                       const TileMatrix<T>& X, const TileMatrix<double>& report) {
  const index_t s = shifts.m(), sb = shifts.tile_shape().mb;
  require(A.n() <= levinson_most, routine, "A", "its order ", A.n(), " exceeds ", levinson_most);
  require(shifts.n() == 1, routine, "shifts", shifts.n(), " columns, expected one");
  require_whole_columns(routine, argument, X, A.n());
  require_whole_columns(routine, "report", report, levinson_report_rows);
  require(s != 0 && X.n() % s == 0, routine, argument, X.n(), " columns are not a multiple of ", s, " shifts");
  const index_t k = X.n() / s;
  const auto cut = [&](const char* name, const auto& tiles, index_t columns) {
    require(tiles.nt() == shifts.mt() && (tiles.nt() <= 1 || tiles.tile_shape().nb == columns), routine, name, "its ",
            tiles.nt(), " tiles of ", tiles.tile_shape().nb, " columns do not match ", shifts.mt(), " tiles of shifts");
  };
  require(report.n() == s, routine, "report", report.n(), " columns; it must have one per shift");
  if (A.n() > 0 && k > 0) cut(argument, X, k * sb);
  cut("report", report, sb);
  return k;
}

}  // namespace

template <class T>
void levinson(Graph& g, const Toeplitz<T>& A, const TileMatrix<T>& shifts, const TileMatrix<T>& X,
              const TileMatrix<double>& report) {
  if (require_shifts("levinson", A, shifts, "X", X, report) == 0 || A.n() == 0) return;
  for (index_t i = 0; i < shifts.mt(); ++i)
    g.insert<Levinson<T>>({0, A.exponent()}, A.tile(), shifts(i, 0), X(0, i), report(0, i),
                          g.scratch<T>(levinson_work_rows(A.n()), X(0, i).cols()));
}

template <class T>
void durbin(Graph& g, const Toeplitz<T>& A, const TileMatrix<T>& shifts, const TileMatrix<T>& inverse,
            const TileMatrix<double>& report) {
  const index_t k = require_shifts("durbin", A, shifts, "inverse", inverse, report);
  require(k == 1, "durbin", "inverse", inverse.n(), " columns; it must have one per shift");
  if (A.n() == 0) return;
  for (index_t i = 0; i < shifts.mt(); ++i)
    g.insert<Durbin<T>>({0, A.exponent()}, A.tile(), shifts(i, 0), inverse(0, i), report(0, i),
                        g.scratch<T>(levinson_work_rows(A.n()), inverse(0, i).cols()));
}

TESELA_FUNCTIONS_FOR_REALS(levinson, durbin)

}  // namespace tesela
