#pragma once

#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>

namespace tesela::detail {

/// Eigenvalues `range` of T into result.values and, where there is an X, their vectors into it: Cuppen's tree, a level
/// at a time. Leaves are solved by QL steps; merges of a level run side by side, and the host waits for what tells a
/// merge's size alone. In the last merge of a block only vectors that are wanted are made. Values alone need no more of
/// the vectors than their first and last row: O(n^2) operations in all, by the same merges on blocks of one row.
template <class T>
void divide_and_conquer(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TileMatrix<T>* x,
                        const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result);

}  // namespace tesela::detail
