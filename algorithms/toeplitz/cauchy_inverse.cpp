#include <tesela/algorithms/toeplitz/cauchy_inverse.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_condition.hpp>

namespace tesela {

using namespace kernels;

template <class T>
CauchyInverse<T>::CauchyInverse(Graph& g, const Toeplitz<T>& A, T sigma, double perturbation)
    : shifted_(g, A, sigma),
      inverse_(g.runtime(), A.n(), 3, {A.n(), 3}, "inverse"),
      report_(g.runtime(), CauchyReport::rows, 2, {CauchyReport::rows, 2}, "report") {
  const TileMatrix<double> shift(g.runtime(), 1, 1, {1, 1}, "shift");
  shift(0, 0).write()(0, 0) = perturbation * shifted_.norm;
  g.insert<CauchyInvert<T>>({}, shifted_.blocks(), shift(0, 0), inverse_(0, 0), report_(0, 0),
                            g.scratch<T>(cauchy_table(A.n()), 1));
}

template <class T>
void CauchyInverse<T>::solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                             const ToeplitzRefinement& refinement) const {
  require_outcome("CauchyInverse::solve", B, n(), outcome);
  insert(g, B, outcome, shifted_.solve_args(refinement));
}

template <class T>
double CauchyInverse<T>::condition(Runtime& runtime) const {
  return toeplitz_condition(runtime, shifted_.matrix, [&](Graph& g, const auto& B, const auto& outcome) {
    insert(g, B, outcome, {{shifted_.norm, 0}});  // accepts any pivots
  });
}

template <class T>
void CauchyInverse<T>::insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                              const CauchySolveArgs<T>& args) const {
  for (index_t j = 0; j < B.nt(); ++j) {
    const Shape work = cauchy_solve_work(n(), B(0, j).cols());
    g.insert<CauchyInverseSolve<T>>(args, shifted_.matrix.spectrum(), shifted_.tables(), inverse_(0, 0), report_(0, 0),
                                    B(0, j), outcome(j, 0), g.status(), g.scratch<T>(work.rows, work.cols));
  }
}

TESELA_CLASSES_FOR_REALS(CauchyInverse)

}  // namespace tesela
