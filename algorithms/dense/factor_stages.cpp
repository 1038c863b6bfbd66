#include <tesela/algorithms/dense/factor_stages.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/dense/factor_stages.hpp>
#include <tesela/codelets/dense/getrf.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>

namespace tesela {

using namespace kernels;

template <class T>
StageFactorization<T>::StageFactorization(Graph& g, const TileMatrix<T>& A, bool symmetric, index_t stages_at_once)
    : a_(A), stop_(g.runtime(), 1, 1, {1, 1}, "stop"), symmetric_(symmetric) {
  require(A.m() == A.n() && A.nt() <= 1 && A.mt() <= 1, "StageFactorization", "A", A, " in ", Shape{A.mt(), A.nt()},
          " tiles; it must be square, in one");
  require(stages_at_once >= 1, "StageFactorization", "stages_at_once", stages_at_once, " is less than 1");
  require_blas_sizes("StageFactorization", "A", A);
  g.insert<Laset<double>>({0.0}, stop_(0, 0));
  const index_t end = 2 * A.n();
  for (index_t first = 1; first < end; first += stages_at_once)
    g.insert<FactorStages<T>>({symmetric, first, std::min(end, first + stages_at_once)}, A(0, 0), stop_(0, 0));
}

template <class T>
index_t StageFactorization<T>::stop() const {
  return static_cast<index_t>(stop_(0, 0).read()(0, 0));
}

template <class T>
void StageFactorization<T>::solve(Graph& g, const TileMatrix<T>& X) const {
  require(X.m() == a_.n() && X.mt() <= 1, "StageFactorization::solve", "X", X, "; it must have ", a_.n(),
          " rows, in tiles of whole columns");
  require(!X.shares_tiles(a_), "StageFactorization::solve", "X", "shares tiles with A");
  for (index_t j = 0; a_.n() > 0 && j < X.nt(); ++j)
    for (const bool last : {false, true}) {
      if (symmetric_)
        g.insert<Trsm<T>>({last ? Op::none : adjoint<T>}, a_(0, 0), X(0, j));
      else
        g.insert<LuSubstitute<T>>({0, last}, a_(0, 0), X(0, j));
    }
}

TESELA_CLASSES_FOR_NUMBERS(StageFactorization)

}  // namespace tesela
