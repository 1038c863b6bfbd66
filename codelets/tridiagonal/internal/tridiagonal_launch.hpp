#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

// GPU launches of the tridiagonal kernels. Internal to codelets/.

namespace tesela::kernels::tridiagonal {

/// Layout of the systems of a tile in memory: row i of system s is at i row + s system.
struct Strides {
  index_t row, system;
};

/// A tile on the device, and the positions of its bands (dl, d, du) and right-hand sides.
template <class T>
struct DeviceRows {
  const T *dl, *d, *du;
  T* b;
  Strides dl_at, d_at, du_at, b_at;
  index_t rows, systems;
  bool before, behind;
  index_t n;  ///< as in SystemsTile
};

/// Source and destination of ends: values(0 … 3, s) at values + s next are the unknowns around a system's ends.
template <class T>
struct DeviceEnds {
  const T* values;
  index_t next;
};

/// Solves on a stream. `work` is work_segments(rows) x systems, leading dimension ld. This and the next functions
/// enqueue kernels and return a cudaError_t.
template <class T>
int solve(void* stream, const DeviceRows<T>& rows, bool periodic, Segment<T>* work, index_t ld, int* info);
/// Solves with one pass over the rows if they allow it and are real.
template <class T>
int solve_in_one_pass(void* stream, const DeviceRows<T>& rows, bool periodic, Segment<T>* work, index_t ld, int* info);
template <class T>
int reduce(void* stream, const DeviceRows<T>& rows, Segment<T>* work, index_t ld, Segment<T>* ends, index_t next);
template <class T>
int substitute(void* stream, const DeviceRows<T>& rows, Segment<T>* work, index_t ld, DeviceEnds<T> ends, int* info);

/// Statistics of a try of solve_in_one_pass(), in the second half of work's first element.
struct WindowCounts {
  unsigned begun;    ///< windows that were started
  unsigned sampled;  ///< samples, and 2^16 for each sample that depends on distant rows
  unsigned left;     ///< windows that were started and could not be written: the system needs two passes
  unsigned written;  ///< windows that were written
};

/// Most tiles of a system in one kernel launch: tile i's segment of system s is segments[i][s next[i]].
inline constexpr int most_tiles = 200;
template <class T>
struct DeviceTiles {
  const Segment<T>* segments[most_tiles];
  index_t next[most_tiles];
};

/// Joins tiles first … first + count - 1 to the earlier ones; the joint of tile i and system s is joints[i + s ld].
template <class T>
int join_tiles(void* stream, const DeviceTiles<T>& tiles, int count, index_t systems, Joint<T>* joints, index_t ld,
               index_t first);
/// Computes the unknowns between all of them, as TridiagonalJoin, system s at values + s next.
template <class T>
int fill_tiles(void* stream, const Joint<T>* joints, index_t ld, index_t tiles, index_t systems, bool periodic,
               T* values, index_t next, int* info, index_t n);

}  // namespace tesela::kernels::tridiagonal
