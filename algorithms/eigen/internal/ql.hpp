#pragma once

#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>

namespace tesela::detail {

/// Eigenvalues `range` of T into result.values and, where there is an X, their vectors into it, by implicit QL steps.
/// They run one after the other and leave their rotations, n^2 of them at a time; blocks of X's rows take these side by
/// side, and the next steps run beside them.
template <class T>
void ql(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TileMatrix<T>* x,
        const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result);

}  // namespace tesela::detail
