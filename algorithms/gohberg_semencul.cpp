#include "algorithms/gohberg_semencul.hpp"

#include "algorithms/levinson.hpp"
#include "codelets/gohberg_semencul.hpp"

#include <algorithm>

namespace tesela {

template <class T>
GohbergSemencul<T>::GohbergSemencul(Graph& g, const Toeplitz<T>& A, T sigma)
    : matrix_(A),
      sigma_(sigma),
      norm_(A.norm(static_cast<double>(sigma))),
      shift_(g.runtime(), 1, 1, {1, 1}, "shift"),
      inverse_(g.runtime(), A.n(), 1, {std::max<index_t>(A.n(), 1), 1}, "inverse"),
      generator_(g.runtime(), A.work_rows(), 2, {A.work_rows(), 2}, "generator"),
      report_(g.runtime(), levinson_report_rows, 1, {levinson_report_rows, 1}, "report") {
  shift_(0, 0).write()(0, 0) = sigma;
  durbin(g, A, shift_, inverse_, report_);
  if (A.n() > 0) g.insert<GohbergSemenculGenerator<T>>({}, inverse_(0, 0), generator_(0, 0));
}

template <class T>
void GohbergSemencul<T>::solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                               const ToeplitzRefinement& refinement) const {
  require_outcome("GohbergSemencul::solve", B, n(), outcome);
  if (n() == 0) return;
  for (index_t j = 0; j < B.nt(); ++j)
    g.insert<GohbergSemenculSolve<T>>({sigma_, norm_, refinement.steps, toeplitz_tolerance<T>(refinement)},
                                      matrix_.spectrum(), inverse_(0, 0), generator_(0, 0), report_(0, 0), B(0, j),
                                      outcome(j, 0), g.status(), g.scratch<T>(matrix_.work_rows(), 6 * B(0, j).cols()));
}

template class GohbergSemencul<float>;
template class GohbergSemencul<double>;

}  // namespace tesela
