#pragma once

#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>

namespace tesela::detail {

/// Computes eigenvalues `range` of T in result.values. All start from one interval, and each end of an interval is the
/// middle of an older one: a value results from the same halvings for every range. While values share intervals, each
/// interval is counted once, level by level; then each value is halved in its own vector lane.
template <class T>
void bisect(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TridiagonalEigOptions& options,
            TridiagonalEigResult<T>& result);

}  // namespace tesela::detail
