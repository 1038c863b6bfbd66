#pragma once

#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Returns x / y, rounded up.
TESELA_BOTH constexpr index_t ceiling(index_t x, index_t y) { return (x + y - 1) / y; }

/// Tasks of bulge chasing down a symmetric band of order n and half-width b, in tiles of `window` columns (a multiple
/// of b, at least 2 b, or all n).
///
/// Sweep s, 0 <= s < sweeps(), annihilates column s below the sub-diagonal and chases the resulting bulge down the
/// band: its hop k, 0 <= k <= last_hop(s), reflects the (at most b) rows from row(s, k) on. Hop (s, k) depends on (s, k
/// - 1) and (s - 1, k + 1), and on no other hops.
///
/// `group` consecutive sweeps advance together: in step h sweep t of the group does its hop h - t. A task performs the
/// steps whose foremost hop ends in one tile. With (group + 1) b <= window it changes that tile and the previous one,
/// and the next group follows two tasks behind. If one window holds all that a group changes (whole()), the group is
/// one task.
struct BulgePlan {
  index_t n = 0, b = 1, window = 1, group = 1;

  TESELA_BOTH index_t sweeps() const { return b > 1 && n > 2 ? n - 2 : 0; }
  TESELA_BOTH index_t last_hop(index_t sweep) const { return (n - 2 - sweep) / b; }
  TESELA_BOTH index_t row(index_t sweep, index_t hop) const { return sweep + 1 + hop * b; }
  /// Returns the number of rows that a hop reflects.
  TESELA_BOTH index_t length(index_t sweep, index_t hop) const { return least(b, n - row(sweep, hop)); }
  TESELA_BOTH index_t tiles() const { return ceiling(n, window); }

  /// Return the number of groups, and the first sweep, the number of sweeps and the steps of group g.
  TESELA_BOTH index_t groups() const { return ceiling(sweeps(), group); }
  TESELA_BOTH index_t first_sweep(index_t g) const { return g * group; }
  TESELA_BOTH index_t size(index_t g) const { return least(group, sweeps() - first_sweep(g)); }
  TESELA_BOTH index_t steps(index_t g) const { return size(g) + last_hop(first_sweep(g) + size(g) - 1); }

  /// Returns the window of a step. The tasks of group g belong to the windows first_window(g) … last_window(g); the
  /// last one may be tiles().
  TESELA_BOTH index_t window_of(index_t g, index_t step) const { return (first_sweep(g) + (step + 1) * b) / window; }
  TESELA_BOTH index_t first_window(index_t g) const { return window_of(g, 0); }
  TESELA_BOTH index_t last_window(index_t g) const { return window_of(g, steps(g) - 1); }
  TESELA_BOTH index_t first_step(index_t g, index_t w) const {
    const index_t columns = w * window - first_sweep(g);
    return columns > b ? ceiling(columns, b) - 1 : 0;
  }
  TESELA_BOTH index_t end_step(index_t g, index_t w) const { return least(steps(g), first_step(g, w + 1)); }

  /// Rows of a task's tile of reflectors. Its column slot() holds the b numbers of a vector, including the leading one
  /// and zeros after a short vector, and below them the factor tau.
  TESELA_BOTH index_t slot_rows() const { return b + 1; }
  TESELA_BOTH index_t slots(index_t g) const { return whole() ? size(g) * hops(g) : group * (window / b); }
  TESELA_BOTH index_t slot(index_t g, index_t w, index_t t, index_t step) const {
    return whole() ? t * hops(g) + step - t : (step - first_step(g, w)) * group + t;
  }
  TESELA_BOTH bool whole() const { return window > n + group * b; }

 private:
  TESELA_BOTH index_t hops(index_t g) const { return last_hop(first_sweep(g)) + 1; }  // of its first sweep
  TESELA_BOTH static index_t least(index_t x, index_t y) { return x < y ? x : y; }
};

}  // namespace tesela::kernels
