#pragma once

#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>

namespace tesela::detail {

/// Computes eigenvalues `range` of T in result.values and, if x is given, their vectors in x, by implicit QL steps. The
/// steps run one after another and store their rotations, n^2 at a time. Blocks of X's rows apply them concurrently
/// with each other and with the next steps.
template <class T>
void ql(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TileMatrix<T>* x,
        const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result);

}  // namespace tesela::detail
