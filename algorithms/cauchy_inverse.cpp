#include "algorithms/cauchy_inverse.hpp"

#include "codelets/cauchy_solve.hpp"

namespace tesela {

template <class T>
double toeplitz_least_pivot(const Toeplitz<T>& A, T sigma) {
  // Of random matrices of order 1000 some 95 in 100 eigenvalues, as LAPACK rounds them, leave a smaller pivot.
  return 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * A.norm(static_cast<double>(sigma));
}

template <class T>
CauchyInverse<T>::CauchyInverse(Graph& g, const Toeplitz<T>& A, T sigma)
    : matrix_(A),
      sine_(g, {A.column().data(), static_cast<std::size_t>(A.n())}),
      sigma_(sigma),
      norm_(A.norm(static_cast<double>(sigma))),
      least_(toeplitz_least_pivot(A, sigma)),
      inverse_(g.runtime(), A.n(), 3, {A.n(), 3}, "inverse"),
      report_(g.runtime(), CauchyReport::rows, 2, {CauchyReport::rows, 2}, "report") {
  const TileMatrix<double> shift(g.runtime(), 1, 1, {1, 1}, "shift");
  shift(0, 0).write()(0, 0) = static_cast<double>(sigma);
  g.insert<CauchyInvert<T>>({}, sine_.blocks(), shift(0, 0), inverse_(0, 0), report_(0, 0),
                            g.scratch<T>(cauchy_table(A.n()), 1));
}

template <class T>
void CauchyInverse<T>::solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                             const ToeplitzRefinement& refinement) const {
  require_outcome("CauchyInverse::solve", B, n(), outcome);
  for (index_t j = 0; j < B.nt(); ++j) {
    const Shape work = cauchy_solve_work(n(), B(0, j).cols());
    g.insert<CauchyInverseSolve<T>>({{sigma_, norm_, refinement.steps, toeplitz_tolerance<T>(refinement)}, least_},
                                    matrix_.spectrum(), sine_.tables(), inverse_(0, 0), report_(0, 0), B(0, j),
                                    outcome(j, 0), g.status(), g.scratch<T>(work.rows, work.cols));
  }
}

template double toeplitz_least_pivot(const Toeplitz<float>&, float);
template double toeplitz_least_pivot(const Toeplitz<double>&, double);
template class CauchyInverse<float>;
template class CauchyInverse<double>;

}  // namespace tesela
