#pragma once

#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>

namespace tesela::detail {

/// Computes eigenvalues `range` of T in result.values and, if x is given, their vectors in x, by Cuppen's tree, level
/// by level. Leaves are solved by QL steps. The merges of a level run concurrently; the host waits only for the numbers
/// that determine the size of a merge. The last merge of a block computes only the selected vectors. Values alone need
/// only the first and last row of the vectors: O(n^2) operations in total, by the same merges on blocks of one row.
template <class T>
void divide_and_conquer(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TileMatrix<T>* x,
                        const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result);

}  // namespace tesela::detail
