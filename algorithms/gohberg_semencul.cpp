#include "algorithms/gohberg_semencul.hpp"

#include "algorithms/levinson.hpp"
#include "codelets/gohberg_semencul.hpp"

#include <algorithm>
#include <limits>

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
  constexpr auto routine = "GohbergSemencul::solve";
  require_whole_columns(routine, "B", B, n());
  if (n() == 0) return;
  if (outcome.m() != B.n() || outcome.n() != 4 || outcome.mt() != B.nt() || outcome.nt() > 1 ||
      (B.nt() > 1 && outcome.tile_shape().mb != B.tile_shape().nb))
    throw ArgumentError(routine, "outcome",
                        std::to_string(outcome.m()) + " x " + std::to_string(outcome.n()) +
                            ", or tiles that do not fit; it must be " + std::to_string(B.n()) + " x 4");
  const double tolerance =
      refinement.tolerance > 0 ? refinement.tolerance : 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (index_t j = 0; j < B.nt(); ++j)
    g.insert<GohbergSemenculSolve<T>>({sigma_, norm_, refinement.steps, tolerance}, matrix_.spectrum(), inverse_(0, 0),
                                      generator_(0, 0), report_(0, 0), B(0, j), outcome(j, 0), g.status(),
                                      g.scratch<T>(matrix_.work_rows(), 6 * B(0, j).cols()));
}

template class GohbergSemencul<float>;
template class GohbergSemencul<double>;

}  // namespace tesela
