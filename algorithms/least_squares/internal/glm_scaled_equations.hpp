#pragma once

#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/algorithms/least_squares/internal/equation_units.hpp>

namespace tesela::detail {

/// Runs glm() on equations scaled by equilibrate_equations(). Multipliers belong to the scaled equations.
template <class T>
Glm<T> glm_scaled_equations(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b,
                            const GlmOptions& options, const EquationUnits& equations);

}  // namespace tesela::detail
