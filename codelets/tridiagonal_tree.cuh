#pragma once

#include "codelets/row_status.hpp"
#include "codelets/tridiagonal_device.cuh"
#include "codelets/tridiagonal_kernels.hpp"

#include <algorithm>

// What the kernels that join segments share. Internal to codelets/.

namespace tesela::tridiagonal {

/// The least k such that 2^k >= x.
inline int log_of(index_t x) {
  int k = 0;
  while (index_t{1} << k < x) ++k;
  return k;
}

/// As many segments of a system as one block joins at once.
inline constexpr index_t most_segments = 7 * 256;

/// A segment on its way up; then the joint that consumed it; then the unknowns at this side of what it was.
template <class T>
union alignas(16) Slot {
  Segment<T> segment;
  Joint<T> joint;
  T values[2];
};

/// What the levels above leave of, or know about, each chunk of each system: element c of system s at data + c + s ld.
template <class T>
struct Level {
  Segment<T>* data;
  index_t ld;
};

/// The unknowns at both sides of chunk c: where a level has been solved, each element begins with those before it.
template <class T>
__device__ Ends<T> ends_of(const Level<T>& level, index_t c, index_t count, index_t s, const DeviceEnds<T>& outer) {
  const auto before = [&](index_t i) { return reinterpret_cast<const T*>(level.data + i + s * level.ld); };
  const T* whole = outer.values + s * outer.next;
  const T* const left = c == 0 ? whole : before(c);
  const T* const right = c + 1 == count ? whole + 2 : before(c + 1);
  return {left[0], left[1], right[0], right[1]};
}

__device__ inline void report(int* info, index_t row) {
  if (*static_cast<volatile int*>(info) == 0) atomicCAS(info, 0, row_status(row));
}

/// Joins slots 0, step, 2 step … (2^levels of them, in each of `group` sets that lie `set` slots apart) into slot 0.
template <class T>
__device__ void join_up(Slot<T>* slots, int levels, int group, int set, int first_step) {
  for (int level = levels - 1; level >= 0; --level) {
    const int step = first_step << (levels - 1 - level);
    for (int k = static_cast<int>(threadIdx.x); k < group << level; k += static_cast<int>(blockDim.x)) {
      Slot<T>* const left = slots + (k >> level) * set + (k & ((1 << level) - 1)) * 2 * step;
      Joint<T> joint;
      const Segment<T> joined = join_quickly(left->segment, left[step].segment, joint);
      left->segment = joined;
      left[step].joint = joint;
    }
    __syncthreads();
  }
}

template <class T>
__device__ bool fill_between(Slot<T>* slot, const Ends<T>& ends) {
  const Joint<T> joint = slot->joint;
  T c, d;
  between(joint, ends, c, d);
  slot->values[0] = c;
  slot->values[1] = d;
  return joint.inverse_c != T(0) && joint.inverse_d != T(0);
}

/// The way back of join_up: slot 0 holds the unknowns before the first, the slot behind the last those behind it.
template <class T, class Report>
__device__ void fill_down(Slot<T>* slots, int levels, int group, int set, int first_step, Report broke) {
  for (int level = 0; level < levels; ++level) {
    const int step = first_step << (levels - 1 - level);
    for (int k = static_cast<int>(threadIdx.x); k < group << level; k += static_cast<int>(blockDim.x)) {
      const int s = k >> level, at = (k & ((1 << level) - 1)) * 2 * step;
      Slot<T>* const left = slots + s * set + at;
      const T *const before = left->values, *const behind = left[2 * step].values;
      if (!fill_between(left + step, Ends<T>{before[0], before[1], behind[0], behind[1]})) broke(s, at + step);
    }
    __syncthreads();
  }
}

}  // namespace tesela::tridiagonal
