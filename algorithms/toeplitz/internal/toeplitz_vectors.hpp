#pragma once

#include <tesela/algorithms/toeplitz/internal/found_pairs.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <vector>

namespace tesela::detail {

/// The eigenvectors of `values`, one after the other: the search's are orthogonalized against those of the pieces below
/// and brought from the sine basis.
template <class T>
TileMatrix<T> place_vectors(Graph& g, const SineToeplitz<T>& A, const std::vector<FoundValue>& values,
                            const std::vector<FoundPiece<T>>& pieces);

/// The same from those of the two dense halves; waits.
template <class T>
TileMatrix<T> place_vectors(Graph& g, const SineToeplitz<T>& A, const std::vector<FoundValue>& values,
                            const std::array<OneTile<T>, 2>& halves);

}  // namespace tesela::detail
