#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela::detail {

/// An equation is a row of A, B and b, and as large as the larger of its rows of A and B, each over that matrix'
/// largest element. Where sizes differ so much that rounding errors of the largest matter beside the smallest, row i is
/// multiplied by 2^-e[i], which brings it to size 1 or as near as b allows; answers e then, otherwise nothing.
/// Solutions do not change. Waits for all three.
template <class T>
std::vector<int> bring_equations_to_one_size(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                             const TileMatrix<T>& b);

/// Multipliers of the equations as they were, from those of equations so scaled: lambda_i 2^-e[i]; column j of L times
/// 2^exponents[j] are the multipliers.
template <class T>
void in_units_of_equations(const std::vector<int>& e, HostMatrix<T>& L, std::vector<int>& exponents);

}  // namespace tesela::detail
