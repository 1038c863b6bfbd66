#include <tesela/algorithms/tridiagonal/tridiagonal_factorization.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_factors.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/size_checks.hpp>

namespace tesela {

using namespace kernels;

template <class T>
TridiagonalFactorization<T>::TridiagonalFactorization(Graph& g, const Tridiagonal<T>& A)
    : n_(A.d.n() == 1 ? A.d.m() : A.d.n()),
      factors_(g.runtime(), n_, tridiagonal_factor_columns, {std::max<index_t>(n_, 1), tridiagonal_factor_columns},
               "factors"),
      status_(g.runtime(), 1, 1, {1, 1}, "factored") {
  for (const auto& [band, name] : {std::pair{&A.dl, "A.dl"}, std::pair{&A.d, "A.d"}, std::pair{&A.du, "A.du"}}) {
    const bool fits = (band->m() == n_ && band->n() == 1) || (band->m() == 1 && band->n() == n_);
    require(fits && band->mt() <= 1 && band->nt() <= 1, "TridiagonalFactorization", name, *band, " in ",
            Shape{band->mt(), band->nt()}, " tiles; the diagonals must be vectors of one length, each in one tile");
  }
  if (n_ == 0) return;
  g.insert<TridiagonalFactor<T>>(urgent, {}, A.dl(0, 0), A.d(0, 0), A.du(0, 0), factors_(0, 0), status_(0, 0),
                                 g.status());
}

template <class T>
void TridiagonalFactorization<T>::solve(Graph& g, const TileMatrix<T>& B, SystemsIn systems) const {
  const bool columns = systems == SystemsIn::columns;
  require((columns ? B.m() : B.n()) == n_ && (columns ? B.mt() : B.nt()) <= 1, "TridiagonalFactorization::solve", "B",
          B, " in ", Shape{B.mt(), B.nt()}, " tiles; systems of ", n_, " equations in ", columns ? "columns" : "rows",
          " must each lie in one tile");
  if (n_ == 0) return;
  B.for_each_tile([&](Tile<T> tile, index_t row, index_t column) {
    g.insert<TridiagonalFactoredSolve<T>>({systems}, factors_(0, 0), status_(0, 0), tile,
                                          g.status((columns ? column : row) * n_));
  });
}

TESELA_CLASSES_FOR_NUMBERS(TridiagonalFactorization)

}  // namespace tesela
