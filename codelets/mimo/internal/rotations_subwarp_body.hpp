#pragma once

#include <tesela/codelets/mimo/internal/reflectors_subwarp_body.hpp>
#include <tesela/codelets/mimo/internal/rotations_body.hpp>

// QR factorizations of small matrices by plane rotations, by groups of lanes as in reflectors_subwarp_body.hpp.
// Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Annihilates column k by rotations of row k with the m - 1 - k rows below it in turn: column k becomes r and the
/// rotations, which are applied to all later columns. All lanes compute the same rotation, so that none waits for
/// another's.
template <class F, int S, class Warp>
TESELA_INLINE void rotate_column(SubwarpColumns<F, S, Warp>& own, int k, int m) {
  const bool mine = own.group.j == k, behind = own.group.j > k;
  TESELA_FLAT
  for (int i = 1; i < S; ++i) {
    if (i <= k || i >= m) continue;
    const auto found = PlaneRotation<F>::annihilate(own.group.from(own.x[k], k), own.group.from(own.x[i], k));
    F upper = own.x[k], lower = own.x[i];
    found.turn(upper, lower);
    own.x[k] = mine ? found.r : behind ? upper : own.x[k];
    own.x[i] = mine ? found.rho : behind ? lower : own.x[i];
  }
}

/// Replaces y by Q^H y, one column y per lane.
template <class F, int S, class Warp>
TESELA_INLINE void apply_lane_rotations(const SubwarpColumns<F, S, Warp>& own, int steps, int m, F* y) {
  TESELA_FLAT
  for (int k = 0; k < S; ++k) {
    if (k >= steps) break;
    TESELA_FLAT
    for (int i = k + 1; i < S; ++i)
      if (i < m) PlaneRotation<F>::of(own.group.from(own.x[i], k))(y[k], y[i]);
  }
}

}  // namespace tesela::kernels::mimo
