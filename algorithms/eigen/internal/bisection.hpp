#pragma once

#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>

namespace tesela::detail {

/// Eigenvalues `range` of T into result.values. All start from one interval, and each end of an interval is the middle
/// of an older one: a value comes from the same halvings whichever others are wanted. While values share intervals each
/// interval is counted once, a level at a time; then each value has a lane of its own.
template <class T>
void bisect(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TridiagonalEigOptions& options,
            TridiagonalEigResult<T>& result);

}  // namespace tesela::detail
