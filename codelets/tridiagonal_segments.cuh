#pragma once

#include "codelets/tridiagonal_tree.cuh"

// The kernel that joins what the rows left. Internal to codelets/.

namespace tesela::tridiagonal {

constexpr int threads_of_segments = 256;
constexpr index_t segments_of_block = 512;

/// How segments are dealt out: `chunk` of them to a block of 2^joins threads, `chunks` in all of a system.
struct SegmentDeal {
  index_t chunk, chunks;
  int joins;
};

enum class Top : std::uint8_t { reduce, substitute, solve };

/// One level of segments: a block joins `deal.chunk` of those `below` into one of `level`, or fills in what is between
/// them. Each thread begins with `each` neighbours.
template <class T, Top Kind>
__global__ void __launch_bounds__(256)
    segments_kernel(Level<T> below, index_t count, SegmentDeal deal, int each, Level<T> level, DeviceEnds<T> outer,
                    bool periodic, int* info, index_t n, const T* unless) {
  if (unless != nullptr && *unless != T(0)) return;
  extern __shared__ __align__(16) unsigned char memory[];
  Slot<T>* const slots = reinterpret_cast<Slot<T>*>(memory);
  const index_t chunk = blockIdx.x % deal.chunks, first = chunk * deal.chunk, system = blockIdx.x / deal.chunks;
  const int threads = static_cast<int>(blockDim.x), t = static_cast<int>(threadIdx.x), all = threads * each;
  const int segments = static_cast<int>(min(deal.chunk, count - first));
  Segment<T>* const from = below.data + first + system * below.ld;
  constexpr int numbers = static_cast<int>(sizeof(Segment<T>) / sizeof(T));
  const T* const loose = reinterpret_cast<const T*>(from);
  for (int i = t; i < segments * numbers; i += threads)
    reinterpret_cast<T*>(slots + i / numbers)[i % numbers] = loose[i];
  for (int i = segments + t; i < all; i += threads) slots[i].segment = no_rows<T>();
  __syncthreads();
  Slot<T>* const own = slots + t * each;
  for (int i = 1; i < each; ++i) {
    Joint<T> joint;
    const Segment<T> joined = join_quickly(own->segment, own[i].segment, joint);
    own->segment = joined;
    own[i].joint = joint;
  }
  __syncthreads();
  join_up(slots, deal.joins, 1, 0, each);
  if constexpr (Kind == Top::reduce) {
    if (t == 0) level.data[chunk + system * level.ld] = slots->segment;
  } else {
    const auto broke = [&](int, int) { report(info, 1 + n * system); };
    if (t == 0) {
      Ends<T> ends;
      if constexpr (Kind == Top::solve) {
        if (solve_ends(slots->segment, periodic, ends) == T(0)) broke(0, 0);
      } else {
        ends = ends_of(level, chunk, deal.chunks, system, outer);
      }
      slots[0].values[0] = ends.a, slots[0].values[1] = ends.b;
      slots[all].values[0] = ends.e, slots[all].values[1] = ends.f;
    }
    __syncthreads();
    fill_down(slots, deal.joins, 1, 0, each, broke);
    // Slot i of a thread's own joins what is before it: the last one first.
    for (int i = each - 1; i > 0; --i) {
      const T *const before = own->values, *const behind = i + 1 == each ? own[each].values : own[i + 1].values;
      if (!fill_between(own + i, Ends<T>{before[0], before[1], behind[0], behind[1]})) broke(0, 0);
    }
    __syncthreads();
    for (int i = t; i < segments; i += threads) {
      T* const value = reinterpret_cast<T*>(from + i);
      value[0] = slots[i].values[0], value[1] = slots[i].values[1];
    }
    // Whoever has no level above leaves the outer ends here, behind its own.
    if constexpr (Kind == Top::solve) {
      if (t == 0) {
        T* const value = reinterpret_cast<T*>(level.data + system * level.ld);
        for (int k = 0; k < 2; ++k) value[k] = slots[0].values[k], value[2 + k] = slots[all].values[k];
      }
    }
  }
}

template <class T, Top Kind>
int launch_segments(cudaStream_t stream, Level<T> below, index_t count, index_t systems, index_t chunk, Level<T> level,
                    DeviceEnds<T> outer, bool periodic, int* info, index_t n, const T* unless) {
  const auto kernel = segments_kernel<T, Kind>;
  const int log_threads = std::min(log_of(threads_of_segments), log_of(std::min(chunk, count))),
            threads = 1 << log_threads;
  const auto each = static_cast<int>(ceil_div(std::min(chunk, count), index_t{threads}));
  const SegmentDeal deal{chunk, ceil_div(count, chunk), log_threads};
  const std::size_t shared = static_cast<std::size_t>(threads * each + 1) * sizeof(Slot<T>);
  const int status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status != cudaSuccess) return status;
  kernel<<<static_cast<unsigned>(deal.chunks * systems), static_cast<unsigned>(threads), shared, stream>>>(
      below, count, deal, each, level, outer, periodic, info, n, unless);
  return cudaGetLastError();
}

}  // namespace tesela::tridiagonal
