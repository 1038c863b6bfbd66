#pragma once

#include <tesela/codelets/support/internal/bulk_copy.cuh>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_tree.cuh>

// The kernel that joins the segments of the rows. Internal to codelets/.

namespace tesela::kernels::tridiagonal {

/// Segments per thread: three, odd so that threads use different banks; two joints then fit in the space of three
/// segments.
constexpr int each_segment = 3, threads_of_segments = 128;
/// Most threads of a block: its segments fit in shared memory.
template <class T>
constexpr int most_threads_of_segments = sizeof(T) > 8 ? 256 : 512;
/// Segments of a system that a block joins, and the most that one block joins.
constexpr index_t segments_of_block = each_segment * threads_of_segments;
template <class T>
constexpr index_t most_segments = index_t{most_threads_of_segments<T>} * each_segment;

enum class Top : std::uint8_t { reduce, substitute, solve };

/// Processes one level of segments: a block joins the segments of up to 2^joins threads, from `below`, into one of
/// `level`, or computes the unknowns between them.
template <class T, Top Kind>
__global__ void __launch_bounds__(most_threads_of_segments<T>)
    segments_kernel(Level<T> below, index_t count, int joins, index_t chunks, Level<T> level, DeviceEnds<T> outer,
                    bool periodic, int* info, index_t n, When<T> when) {
  allow_next_kernel();
  wait_for_previous();
  if (when.nothing()) return;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ std::uint64_t barrier;
  __shared__ Segment<T> of_warps[most_threads_of_segments<T> / 32];
  const int t = static_cast<int>(threadIdx.x), begin = t * each_segment;
  const index_t chunk = blockIdx.x % chunks, whole = index_t{blockDim.x} * each_segment, first = chunk * whole,
                system = blockIdx.x / chunks;
  const int segments = static_cast<int>(min(whole, count - first)), own = max(0, min(each_segment, segments - begin));
  Segment<T>* const from = below.data + first + system * below.ld;
  BulkCopy copy(&barrier);
  copy.load(reinterpret_cast<T*>(memory), reinterpret_cast<const T*>(from),
            segments * static_cast<int>(sizeof(Segment<T>) / sizeof(T)));
  Ends<T> ends{};
  if constexpr (Kind == Top::substitute) ends = ends_of(level, chunk, chunks, system, outer);
  copy.wait_loads();

  Segment<T>* const mine = reinterpret_cast<Segment<T>*>(memory) + begin;
  Joint<T>* const joints = reinterpret_cast<Joint<T>*>(mine);
  Segment<T> sum = own > 0 ? mine[0] : no_rows<T>();
  for (int i = 1; i < own; ++i) {
    Joint<T> joint;
    sum = join_device(sum, mine[i], joint);
    if constexpr (Kind != Top::reduce) joints[i - 1] = joint;
  }
  Tree<T, 0> tree(joins, of_warps);
  sum = tree.join(sum);
  if constexpr (Kind == Top::reduce) {
    if (t == 0) level.data[chunk + system * level.ld] = sum;
  } else {
    if constexpr (Kind == Top::solve) {
      if (solve_ends(sum, periodic, ends) == real_t<T>(0) && t == 0) report(info, 1 + n * system);
      // Without a level above, the block stores the outer ends here, after its own.
      if (t == 0) *reinterpret_cast<Ends<T>*>(level.data + system * level.ld) = ends;
    }
    ends = tree.fill(ends);
    const auto broke = [&](int) { report(info, 1 + n * system); };
    tree.breakdowns(broke);
    for (int i = own - 1; i >= 0; --i) {
      T* const value = reinterpret_cast<T*>(from + begin + i);
      T c = ends.a, d = ends.b;
      if (i > 0) {
        const Joint<T> joint = joints[i - 1];
        between(joint, ends, c, d);
        if (joint.inverse_c == T(0) || joint.inverse_d == T(0)) broke(t);
      }
      value[0] = ends.e = c, value[1] = ends.f = d;
    }
  }
}

template <class T, Top Kind>
int launch_segments(cudaStream_t stream, Level<T> below, index_t count, index_t systems, index_t chunk, Level<T> level,
                    DeviceEnds<T> outer, bool periodic, int* info, index_t n, When<T> when) {
  const int joins = std::max(5, log_of(ceil_div(std::min(chunk, count), index_t{each_segment})));
  const index_t whole = index_t{each_segment} << joins, chunks = ceil_div(count, whole);
  return launch(segments_kernel<T, Kind>, chunks * systems, 1 << joins,
                static_cast<std::size_t>(whole) * sizeof(Segment<T>), stream, true, below, count, joins, chunks, level,
                outer, periodic, info, n, when);
}

}  // namespace tesela::kernels::tridiagonal
