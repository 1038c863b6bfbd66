#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela::detail {

/// The exponents of the sizes of A's rows: of their largest elements, in units in which A's columns have one size, and
/// INT_MIN for a row of zeros. Empty if an element is not finite. Waits for A.
template <class T>
std::vector<int> row_exponents_of(Graph& g, const TileMatrix<T>& A);

/// Whether rows of these sizes differ so much that rounding errors of the largest hide the smallest.
template <class T>
bool graded(const std::vector<int>& exponents);

/// The units that equations were brought to.
struct EquationUnits {
  std::vector<int> exponents;  ///< row i was divided by 2^exponents[i]; empty if no row was
  bool graded = false;         ///< whether A's rows are now
};

/// Brings equations to units in which B's rows have one size, where they differ so much in size that rounding errors of
/// the largest would hide the smallest: solutions do not change, and an error is as large as its own equation's. A row
/// of B that is zero makes an exact equation, which becomes as large as A's largest. Waits for all three.
template <class T>
EquationUnits bring_equations_to_one_size(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                          const TileMatrix<T>& b);

/// Multipliers of the equations as they were, from those of equations so scaled: lambda_i 2^-e[i]; column j of L times
/// 2^exponents[j] are the multipliers.
template <class T>
void in_units_of_equations(const std::vector<int>& e, HostMatrix<T>& L, std::vector<int>& exponents);

}  // namespace tesela::detail
