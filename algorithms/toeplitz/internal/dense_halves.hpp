#pragma once

#include <tesela/algorithms/toeplitz/internal/computed_pairs.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <array>
#include <vector>

namespace tesela::detail {

/// Eigenpairs by LAPACK from the two halves as dense matrices.
template <class T>
struct DensePairs {
  std::vector<ComputedEigenvalue> values;  ///< ascending; empty if LAPACK did not converge
  std::array<OneTile<T>, 2> vectors;       ///< of each half, in the columns ComputedEigenvalue::column
};

/// Returns pairs first ... first + count - 1, counted from the smallest eigenvalue. Waits for the graph.
template <class T>
DensePairs<T> dense_pairs(Graph& g, const SineToeplitz<T>& A, index_t first, index_t count);

/// Returns the values alone; their `residual` is a measured bound of the error. Waits for the graph.
template <class T>
std::vector<ComputedEigenvalue> dense_values(Graph& g, const SineToeplitz<T>& A, index_t first, index_t count);

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
