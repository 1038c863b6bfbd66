#pragma once

#include <tesela/algorithms/toeplitz/internal/computed_pairs.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <vector>

namespace tesela::detail {

/// Returns the eigenvectors of `values`, in their order: orthogonalizes the vectors of the search against the pieces
/// below, and transforms them from the sine basis.
template <class T>
TileMatrix<T> place_vectors(Graph& g, const SineToeplitz<T>& A, const std::vector<ComputedEigenvalue>& values,
                            const std::vector<IntervalPairs<T>>& pieces);

/// Returns the same from the vectors of the two dense halves; waits for the graph.
template <class T>
TileMatrix<T> place_vectors(Graph& g, const SineToeplitz<T>& A, const std::vector<ComputedEigenvalue>& values,
                            const std::array<OneTile<T>, 2>& halves);

}  // namespace tesela::detail
