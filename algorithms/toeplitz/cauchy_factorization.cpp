#include <tesela/algorithms/toeplitz/cauchy_factorization.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_condition.hpp>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
TileMatrix<T> factors_of(Graph& g, index_t n, int part) {
  const Shape shape = cauchy_factors(n, part);
  return TileMatrix<T>(g.runtime(), shape.rows, shape.cols, {shape.rows, shape.cols}, "L");
}

}  // namespace

template <class T>
CauchyFactorization<T>::CauchyFactorization(Graph& g, const Toeplitz<T>& A, T sigma)
    : shifted_(g, A, sigma),
      factors_{factors_of<T>(g, A.n(), 0), factors_of<T>(g, A.n(), 1)},
      report_(g.runtime(), CauchyReport::rows, 2, {CauchyReport::rows, 1}, "report") {
  const Shape work = g.runtime().gpus() > 0 ? cauchy_factor_work(A.n()) : Shape{1, 1};
  for (int part = 0; part < 2; ++part)
    g.insert<CauchyFactor<T>>({0, part}, shifted_.blocks(), factors_[static_cast<std::size_t>(part)](0, 0),
                              report_(0, part), g.scratch<T>(work.rows, work.cols));
}

template <class T>
void CauchyFactorization<T>::solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                                   const ToeplitzRefinement& refinement) const {
  require_outcome("CauchyFactorization::solve", B, n(), outcome);
  insert(g, B, outcome, shifted_.solve_args(refinement));
}

template <class T>
double CauchyFactorization<T>::condition(Runtime& runtime) const {
  return toeplitz_condition(runtime, shifted_.matrix, [&](Graph& g, const auto& B, const auto& outcome) {
    insert(g, B, outcome, {{shifted_.norm, 0}});  // accepts any pivots
  });
}

template <class T>
void CauchyFactorization<T>::insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                                    const CauchySolveArgs<T>& args) const {
  for (index_t j = 0; j < B.nt(); ++j) {
    const Shape work = cauchy_solve_work(n(), B(0, j).cols());
    g.insert<CauchyFactoredSolve<T>>(args, shifted_.matrix.spectrum(), factors_[0](0, 0), factors_[1](0, 0),
                                     report_(0, 0), report_(0, 1), B(0, j), outcome(j, 0), g.status(),
                                     g.scratch<T>(work.rows, work.cols));
  }
}

TESELA_CLASSES_FOR_REALS(CauchyFactorization)

}  // namespace tesela
