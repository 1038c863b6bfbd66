#include <tesela/algorithms/toeplitz/toeplitz_condition.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_gradients.hpp>

namespace tesela {

using namespace kernels;
namespace {

constexpr int most_iterations = 100;

/// Half of the digits per refinement step: residuals of refinement are more accurate than the recurrence's.
template <class T>
const double half = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));

}  // namespace

template <class T>
ToeplitzGradients<T>::ToeplitzGradients(Graph& g, const Toeplitz<T>& A, T sigma)
    : matrix_(g, shifted_column(A, sigma)),
      norm_(matrix_.unit_norm()),
      eigenvalues_(g.runtime(), A.n() / 2 + 1, 1, {A.n() / 2 + 1, 1}, "C"),
      broken_(g.runtime(), 1, 1, {1, 1}, "broken") {
  if (n() > 0)
    g.insert<ToeplitzChan<T>>(on_gpu, {}, matrix_.tile(), eigenvalues_(0, 0), broken_(0, 0),
                              g.scratch<T>(toeplitz_rows(n()), 1));
}

template <class T>
void ToeplitzGradients<T>::solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                                 const ToeplitzRefinement& refinement) const {
  require_outcome("ToeplitzGradients::solve", B, n(), outcome);
  if (n() > 0) insert(g, B, outcome, {refinement.args<T>(matrix_.exponent(), norm_), half<T>, most_iterations});
}

template <class T>
double ToeplitzGradients<T>::condition(Runtime& runtime) const {
  double found = 0;
  // The relative error of a solve is its residual times the condition. A moderate condition needs few digits.
  for (const auto& [inner, steps] : {std::pair{1e-3, 0}, {half<T>, ToeplitzRefinement().steps}}) {
    double residual = 0;
    found = toeplitz_condition(
        runtime, matrix_,
        [&](Graph& g, const auto& B, const auto& outcome) {
          insert(g, B, outcome, {{norm_, steps}, inner, most_iterations});
        },
        &residual);
    if (found * residual <= 0.1) return found;
  }
  return std::isinf(found) ? found : std::numeric_limits<double>::quiet_NaN();
}

template <class T>
void ToeplitzGradients<T>::insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                                  const ToeplitzGradientsArgs<T>& args) const {
  for (index_t j = 0; j < B.nt(); ++j)
    g.insert<ToeplitzGradientsSolve<T>>(
        on_gpu, args, matrix_.spectrum(), eigenvalues_(0, 0), broken_(0, 0), B(0, j), outcome(j, 0), g.status(),
        g.scratch<T>(matrix_.work_rows(), 8 * B(0, j).cols()), g.scratch<double>(toeplitz_gradient_numbers, 1));
}

TESELA_CLASSES_FOR_REALS(ToeplitzGradients)

}  // namespace tesela
