#include <tesela/algorithms/toeplitz/gohberg_semencul.hpp>
#include <tesela/algorithms/toeplitz/levinson.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_condition.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/codelets/toeplitz/transform_solves.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>

namespace tesela {

using namespace kernels;

template <class T>
GohbergSemencul<T>::GohbergSemencul(Graph& g, const Toeplitz<T>& A, T sigma, InverseRecursion recursion)
    : matrix_(g, shifted_column(A, sigma)),
      shift_(g.runtime(), 1, 1, {1, 1}, "shift"),
      inverse_(g.runtime(), A.n(), 1, {std::max<index_t>(A.n(), 1), 1}, "inverse"),
      generator_(g.runtime(), A.work_rows(), 2, {A.work_rows(), 2}, "generator"),
      report_(g.runtime(), levinson_report_rows, 1, {levinson_report_rows, 1}, "report") {
  const bool tiled = recursion == InverseRecursion::schur;
  require(tiled || A.n() <= levinson_most, "GohbergSemencul", "A", "its order ", A.n(), " exceeds ", levinson_most);
  if (A.n() == 0) return;
  if (tiled) {
    schur(g, matrix_, inverse_, report_);
  } else {
    shift_(0, 0).write()(0, 0) = 0;
    g.insert<Durbin<T>>({}, matrix_.tile(), shift_(0, 0), inverse_(0, 0), report_(0, 0),
                        g.scratch<T>(levinson_work_rows(A.n()), 1));
  }
  norm_ = matrix_.unit_norm();  // during the recursion
  g.insert<GohbergSemenculGenerator<T>>({}, inverse_(0, 0), generator_(0, 0));
}

template <class T>
void GohbergSemencul<T>::solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                               const ToeplitzRefinement& refinement) const {
  require_outcome("GohbergSemencul::solve", B, n(), outcome);
  if (n() > 0) insert(g, B, outcome, refinement.args<T>(matrix_.exponent(), norm_));
}

template <class T>
double GohbergSemencul<T>::condition(Runtime& runtime) const {
  return toeplitz_condition(runtime, matrix_, [&](Graph& g, const auto& B, const auto& outcome) {
    insert(g, B, outcome, {norm_, 0});
  });
}

template <class T>
void GohbergSemencul<T>::insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                                const RefinedSolveArgs<T>& args) const {
  for (index_t j = 0; j < B.nt(); ++j)
    g.insert<GohbergSemenculSolve<T>>(args, matrix_.spectrum(), inverse_(0, 0), generator_(0, 0), report_(0, 0),
                                      B(0, j), outcome(j, 0), g.status(),
                                      g.scratch<T>(matrix_.work_rows(), 6 * B(0, j).cols()));
}

TESELA_CLASSES_FOR_REALS(GohbergSemencul)

}  // namespace tesela
