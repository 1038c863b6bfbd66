#pragma once

#include <tesela/algorithms/toeplitz/internal/found_pairs.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <array>
#include <vector>

namespace tesela::detail {

/// Eigenpairs by LAPACK, from the two halves as dense matrices.
template <class T>
struct DensePairs {
  std::vector<FoundValue> values;     ///< ascending; none where LAPACK did not converge
  std::array<OneTile<T>, 2> vectors;  ///< of each half, a column for each FoundValue::column
};

/// The pairs first ... first + count - 1, counted from the smallest eigenvalue of all; waits.
template <class T>
DensePairs<T> dense_pairs(Graph& g, const SineToeplitz<T>& A, index_t first, index_t count);

/// The values alone, each with a measured bound of its error in the place of a residual; waits.
template <class T>
std::vector<FoundValue> dense_values(Graph& g, const SineToeplitz<T>& A, index_t first, index_t count);

}  // namespace tesela::detail
