#pragma once

#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>

namespace tesela::detail {

/// Eigenvalues `range` of T, ascending. All start from one interval, and each end of an interval is the middle of an
/// older one: a value comes from the same halvings whichever others are wanted. While values share intervals each
/// interval is counted once, a level at a time; then each value has a lane of its own. `halvings` becomes how many one
/// value took.
template <class T>
std::vector<T> bisect(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, index_t batch,
                      index_t& halvings);

}  // namespace tesela::detail
