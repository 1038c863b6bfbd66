#pragma once

#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela::detail {

/// Returns the exponents of the sizes of A's rows, INT_MIN for zero rows. The size of a row is its largest element,
/// after A's columns are divided by their norms if these are graded. Returns an empty vector if an element is not
/// finite. Waits for A.
template <class T>
std::vector<int> row_exponents_of(Graph& g, const TileMatrix<T>& A);

/// Returns whether rows of these sizes differ enough that rounding errors of the largest hide the smallest.
template <class T>
bool graded(const std::vector<int>& exponents);

/// The scaling of the equations.
struct EquationUnits {
  std::vector<int> exponents;  ///< row i was divided by 2^exponents[i]; empty if no row was scaled
  bool graded = false;         ///< whether the sizes of A's rows still differ
  /// Equals row_exponents_of the unscaled A minus `exponents`. Exponents of the scaled A would be wrong: a column that
  /// is zero in the heavy rows would look smaller than the others.
  std::vector<int> sizes;
};

/// Divides the rows of A, B and b by powers of two that give B's rows one size, if these are graded. Solutions do not
/// change, and each error is relative to its equation. A zero row of B makes an exact equation, which is scaled to the
/// size of A's largest row. Waits for all three.
template <class T>
EquationUnits equilibrate_equations(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b);

/// Converts multipliers of the scaled equations to multipliers of the given ones, lambda_i 2^-e[i]. The multipliers are
/// column j of L times 2^exponents[j].
template <class T>
void unscale_multipliers(const std::vector<int>& e, HostMatrix<T>& L, std::vector<int>& exponents);

/// Runs glm() on equations scaled by equilibrate_equations(). Multipliers belong to the scaled equations.
template <class T>
Glm<T> glm_scaled_equations(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b,
                            const GlmOptions& options, const EquationUnits& equations);

}  // namespace tesela::detail
