#include "codelets/tridiagonal_device.cuh"
#include "codelets/tridiagonal_kernels.hpp"

#include <cuda_pipeline.h>

#include <algorithm>

// A block of threads takes some consecutive rows of one system, or whole systems: loads them into shared memory, has
// each thread reduce its own few rows to a segment, and joins the segments by a binary tree. What is left of each block
// is a segment again; these are joined, up to 256 and more at a time, until one is left of each system. The way back
// repeats a block's elimination from its rows, keeping the pivot rows in the place of the rows, and fills in.

namespace tesela::tridiagonal {
namespace {

/// A segment on its way up; then the joint that consumed it; then the unknowns at this side of what it was.
template <class T>
union Slot {
  Segment<T> segment;
  Joint<T> joint;
  T values[2];
};

enum class Pass : std::uint8_t { reduce, substitute, solve };

/// How rows are dealt out: `per` threads for each system, `chunk` rows of it, in blocks that hold `group` systems.
struct Deal {
  int threads, per, group;
  index_t chunk, chunks;
  bool reversed;  ///< last rows first: they may still be in the cache
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

__device__ void report(int* info, index_t row) { atomicCAS(info, 0, static_cast<int>(row)); }

/// Joins slots 0, step, 2 step … (count of them, in each of `group` sets that lie `set` slots apart) into slot 0.
template <class T>
__device__ void join_up(Slot<T>* slots, int count, int group, int set, int first_step) {
  for (int step = first_step; step < count * first_step; step *= 2) {
    const int pairs = (count * first_step) / (2 * step);
    for (int k = static_cast<int>(threadIdx.x); k < pairs * group; k += static_cast<int>(blockDim.x)) {
      Slot<T>* const left = slots + (k / pairs) * set + (k % pairs) * 2 * step;
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

/// The way back of join_up: slot 0 holds the unknowns before the first, slot `count first_step` those behind the last.
template <class T, class Report>
__device__ void fill_down(Slot<T>* slots, int count, int group, int set, int first_step, Report broke) {
  for (int step = count * first_step / 2; step >= first_step; step /= 2) {
    const int pairs = (count * first_step) / (2 * step);
    for (int k = static_cast<int>(threadIdx.x); k < pairs * group; k += static_cast<int>(blockDim.x)) {
      Slot<T>* const left = slots + (k / pairs) * set + (k % pairs) * 2 * step;
      const T *const before = left->values, *const behind = left[2 * step].values;
      if (!fill_between(left + step, Ends<T>{before[0], before[1], behind[0], behind[1]}))
        broke(k / pairs, (k % pairs) * 2 * step + step);
    }
    __syncthreads();
  }
}

/// Brings `rows` rows of `group` systems to shared memory, a system's `stride` numbers apart, without waiting.
template <class T>
__device__ void fetch(T* to, index_t stride, const T* from, Strides at, int rows, int group) {
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if (at.row == 1) {
    constexpr int pack = 16 / static_cast<int>(sizeof(T));
    for (int s = 0; s < group; ++s, to += stride, from += at.system) {
      const auto misfit = [](const T* p) { return (reinterpret_cast<std::uintptr_t>(p) & 15) != 0; };
      const int packed = misfit(to) || misfit(from) ? 0 : rows / pack * pack;
      for (int i = t * pack; i < packed; i += threads * pack) __pipeline_memcpy_async(to + i, from + i, 16);
      for (int i = packed + t; i < rows; i += threads) __pipeline_memcpy_async(to + i, from + i, sizeof(T));
    }
  } else {
    for (int k = t; k < rows * group; k += threads) {
      const int s = k % group, i = k / group;
      __pipeline_memcpy_async(to + s * stride + i, from + i * at.row + s * at.system, sizeof(T));
    }
  }
}

template <class T>
__device__ void give_back(T* to, const T* from, index_t stride, Strides at, int rows, int group) {
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if (at.row == 1) {
    for (int s = 0; s < group; ++s, from += stride, to += at.system)
      for (int i = t; i < rows; i += threads) to[i] = from[i];
  } else {
    for (int k = t; k < rows * group; k += threads) to[(k / group) * at.row + (k % group) * at.system] = from[(k % group) * stride + k / group];
  }
}

/// The `count` rows of one thread in shared memory.
template <class T>
struct Own {
  T *dl, *d, *du, *b;
  int count;

  /// Reduces them. With Keep, pivot row i is left in the place of row i, and bit i of `nexts` says of which kind it is.
  template <bool Keep, class Report>
  __device__ Segment<T> reduce(bool head, bool tail, unsigned& nexts, Report broke) const {
    nexts = 0;
    if (count == 0) return no_rows<T>();
    const auto row = [&](int i, T& l, T& c, T& u, T& r) {
      l = i == 0 && head ? T(0) : dl[i];
      c = d[i];
      u = i == count - 1 && tail ? T(0) : du[i];
      r = b[i];
      return fit(l, c, u, r);
    };
    T l0, c0, u0, r0, l, c, u, r;
    row(0, l0, c0, u0, r0);
    if (count == 1) return one_row(l0, c0, u0, r0);
    row(1, l, c, u, r);
    Segment<T> s = two_rows(l0, c0, u0, r0, l, c, u, r);
    for (int i = 2; i < count; ++i) {
      const int size = row(i, l, c, u, r);
      const Solved<T> x = append_row(s, l, c, u, r, size);
      if constexpr (Keep) {
        dl[i] = x.e, d[i] = x.q, du[i] = x.f_or_t, b[i] = x.r;
        nexts |= static_cast<unsigned>(x.next) << i;
        if (x.zero) broke(i);
      }
    }
    return s;
  }

  /// Fills in x from its ends and the pivot rows that reduce kept.
  template <class Report>
  __device__ void fill(const Ends<T>& ends, unsigned nexts, Report broke) const {
    if (count == 0) return;
    T x = ends.e, after = ends.f;
    bool finite = x - x == T(0);
    for (int i = count - 1; i >= 2; --i) {
      const T e = dl[i], q = d[i], f = du[i], r = b[i];
      const bool next = (nexts >> i & 1) != 0;
      const T more = next ? f * after : e * ends.a + f * ends.b;
      const T before = r - q * x - more;
      b[i] = x;
      after = x;
      x = before;
      finite = finite && x - x == T(0);
    }
    if (count > 1) b[1] = x;
    b[0] = ends.b;
    if (!(finite && ends.b - ends.b == T(0))) broke(0);
  }
};

template <class T, int Each, Pass Kind>
__global__ void __launch_bounds__(256) rows_kernel(DeviceRows<T> in, Deal deal, Level<T> level, DeviceEnds<T> outer,
                                                   bool periodic, int* info, const T* unless) {
  if (unless != nullptr && *unless != T(0)) return;
  extern __shared__ __align__(16) unsigned char memory[];
  const index_t block = deal.reversed ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const index_t chunk = block % deal.chunks, first_row = chunk * deal.chunk, system = block / deal.chunks * deal.group;
  const int group = static_cast<int>(min(static_cast<index_t>(deal.group), in.systems - system));
  const int rows = static_cast<int>(min(deal.chunk, in.rows - first_row));
  const int stride = deal.per * Each, all = deal.group * stride;
  T* const dl = reinterpret_cast<T*>(memory);
  T *const d = dl + all, *const du = d + all, *const b = du + all;
  // A reduction needs nothing of the rows once every thread has read them.
  Slot<T>* const slots = reinterpret_cast<Slot<T>*>(Kind == Pass::reduce ? dl : b + all);
  const int set = deal.per + 1;

  const auto start = [&](Strides at) { return first_row * at.row + system * at.system; };
  T* const out = in.b + start(in.b_at);
  fetch(dl, stride, in.dl + start(in.dl_at), in.dl_at, rows, group);
  fetch(d, stride, in.d + start(in.d_at), in.d_at, rows, group);
  fetch(du, stride, in.du + start(in.du_at), in.du_at, rows, group);
  fetch<T>(b, stride, out, in.b_at, rows, group);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  const int mine = static_cast<int>(threadIdx.x) / deal.per, t = static_cast<int>(threadIdx.x) % deal.per;
  const bool active = mine < group;
  const int begin = t * Each, count = active ? max(0, min(Each, rows - begin)) : 0, at = mine * stride + begin;
  const Own<T> own{dl + at, d + at, du + at, b + at, count};
  const index_t global_row = first_row + begin;
  // The pivot row in row i's place is of the unknown before it; rows count from 1.
  const auto broke = [&](int i) { report(info, global_row + i + in.n * (system + mine)); };
  unsigned nexts;
  const Segment<T> segment = own.template reduce<Kind != Pass::reduce>(
      global_row == 0 && !in.before, global_row + count == in.rows && !in.behind, nexts, broke);
  if constexpr (Kind == Pass::reduce) __syncthreads();
  if (active) slots[mine * set + t].segment = segment;
  __syncthreads();
  join_up(slots, deal.per, group, set, 1);

  Slot<T>* const whole = slots + mine * set;
  if constexpr (Kind == Pass::reduce) {
    if (active && t == 0) level.data[chunk + (system + mine) * level.ld] = whole->segment;
  } else {
    if (active && t == 0) {
      Ends<T> ends;
      if constexpr (Kind == Pass::solve) {
        if (solve_ends(whole->segment, periodic, ends) == T(0)) report(info, 1 + in.n * (system + mine));
      } else {
        ends = ends_of(level, chunk, deal.chunks, system + mine, outer);
      }
      whole[0].values[0] = ends.a, whole[0].values[1] = ends.b;
      whole[deal.per].values[0] = ends.e, whole[deal.per].values[1] = ends.f;
    }
    __syncthreads();
    fill_down(slots, deal.per, group, set, 1, [&](int s, int slot) {
      report(info, min(first_row + slot * Each, in.rows - 1) + 1 + in.n * (system + s));
    });
    if (active) {
      const T *const before = whole[t].values, *const behind = whole[t + 1].values;
      own.fill({before[0], before[1], behind[0], behind[1]}, nexts, [&](int) { broke(1); });
    }
    __syncthreads();
    give_back(out, b, stride, in.b_at, rows, group);
  }
}

enum class Top : std::uint8_t { reduce, substitute, solve };

/// One level of segments: a block joins `deal.chunk` of those `below` into one of `level`, or fills in what is between
/// them. Each thread begins with `each` neighbours.
template <class T, Top Kind>
__global__ void __launch_bounds__(256)
    segments_kernel(Level<T> below, index_t count, Deal deal, int each, Level<T> level, DeviceEnds<T> outer,
                    bool periodic, int* info, index_t n, const T* unless) {
  if (unless != nullptr && *unless != T(0)) return;
  extern __shared__ __align__(16) unsigned char memory[];
  Slot<T>* const slots = reinterpret_cast<Slot<T>*>(memory);
  const index_t chunk = blockIdx.x % deal.chunks, first = chunk * deal.chunk, system = blockIdx.x / deal.chunks;
  const int threads = static_cast<int>(blockDim.x), t = static_cast<int>(threadIdx.x), all = threads * each;
  const int segments = static_cast<int>(min(deal.chunk, count - first));
  Segment<T>* const from = below.data + first + system * below.ld;
  for (int i = t; i < all; i += threads) slots[i].segment = i < segments ? from[i] : no_rows<T>();
  __syncthreads();
  Slot<T>* const own = slots + t * each;
  for (int i = 1; i < each; ++i) {
    Joint<T> joint;
    const Segment<T> joined = join_quickly(own->segment, own[i].segment, joint);
    own->segment = joined;
    own[i].joint = joint;
  }
  __syncthreads();
  join_up(slots, threads, 1, 0, each);
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
    fill_down(slots, threads, 1, 0, each, broke);
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

template <class T>
__global__ void join_kernel(DeviceTiles<T> tiles, int count, index_t systems, Joint<T>* joints, index_t ld, index_t first) {
  const index_t s = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
  if (s >= systems) return;
  Joint<T>* const own = joints + s * ld;
  Segment<T>& sofar = reinterpret_cast<Slot<T>*>(own)->segment;  // nothing is joined to tile 0
  Segment<T> whole = first == 0 ? tiles.segments[0][s * tiles.next[0]] : sofar;
  for (int i = first == 0 ? 1 : 0; i < count; ++i)
    whole = join_quickly(whole, tiles.segments[i][s * tiles.next[i]], own[first + i]);
  sofar = whole;
}

template <class T>
__global__ void fill_kernel(const Joint<T>* joints, index_t ld, index_t tiles, index_t systems, bool periodic, T* values,
                            index_t next, int* info, index_t n) {
  const index_t s = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
  if (s >= systems) return;
  const Joint<T>* const own = joints + s * ld;
  T* const v = values + s * next;
  Ends<T> ends;
  bool regular = solve_ends(reinterpret_cast<const Slot<T>*>(own)->segment, periodic, ends) != T(0);
  v[0] = ends.a, v[1] = ends.b, v[2 * tiles] = ends.e, v[2 * tiles + 1] = ends.f;
  for (index_t i = tiles - 1; i > 0; --i) {
    const Joint<T> joint = own[i];
    regular = regular && joint.inverse_c != T(0) && joint.inverse_d != T(0);
    between(joint, Ends<T>{v[0], v[1], v[2 * i + 2], v[2 * i + 3]}, v[2 * i], v[2 * i + 1]);
  }
  if (!regular) report(info, 1 + n * s);
}

constexpr int each_row = 15, threads_of_rows = 128, threads_of_segments = 256;

int power_of_two(index_t least) {
  int p = 1;
  while (p < least) p *= 2;
  return p;
}

template <class T>
constexpr index_t most_segments() {
  return index_t{200 * 1024} / static_cast<index_t>(sizeof(Slot<T>)) / threads_of_segments * threads_of_segments;
}

template <class T>
Deal deal_rows(const DeviceRows<T>& in) {
  // Systems that lie beside each other are read a few at a time, or most of what comes from memory would be others'.
  const int most = in.b_at.row == 1 ? threads_of_rows : threads_of_rows / 4;
  const index_t needed = ceil_div(in.rows, index_t{each_row});
  const int per = needed >= most ? most : power_of_two(needed);
  Deal deal{threads_of_rows, per, threads_of_rows / per, index_t{per} * each_row, 1, false};
  if (deal.group > in.systems) deal.group = static_cast<int>(in.systems), deal.threads = std::max(32, deal.group * per);
  deal.chunks = ceil_div(in.rows, deal.chunk);
  if (deal.chunks > 1 && in.b_at.row == 1) deal.group = 1;
  deal.threads = std::max(32, deal.group * per);
  return deal;
}

template <class T, Pass Kind>
int launch_rows(cudaStream_t stream, const DeviceRows<T>& in, Deal deal, Level<T> level, DeviceEnds<T> outer,
                bool periodic, int* info, const T* unless) {
  const auto kernel = rows_kernel<T, each_row, Kind>;
  const std::size_t numbers = std::size_t{4} * static_cast<std::size_t>(deal.group * deal.per * each_row) * sizeof(T),
                    slots = static_cast<std::size_t>(deal.group * (deal.per + 1)) * sizeof(Slot<T>);
  const std::size_t shared = Kind == Pass::reduce ? std::max(numbers, slots) : numbers + slots;
  const int status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status != cudaSuccess) return status;
  deal.reversed = Kind == Pass::substitute;
  const auto blocks = static_cast<unsigned>(deal.chunks * ceil_div(in.systems, index_t{deal.group}));
  kernel<<<blocks, static_cast<unsigned>(deal.threads), shared, stream>>>(in, deal, level, outer, periodic, info, unless);
  return cudaGetLastError();
}

template <class T, Top Kind>
int launch_segments(cudaStream_t stream, Level<T> below, index_t count, index_t systems, index_t chunk, Level<T> level,
                    DeviceEnds<T> outer, bool periodic, int* info, index_t n, const T* unless) {
  const auto kernel = segments_kernel<T, Kind>;
  const int threads = std::min(threads_of_segments, power_of_two(std::min(chunk, count)));
  const auto each = static_cast<int>(ceil_div(std::min(chunk, count), index_t{threads}));
  const Deal deal{threads, threads, 1, chunk, ceil_div(count, chunk), false};
  const std::size_t shared = static_cast<std::size_t>(threads * each + 1) * sizeof(Slot<T>);
  const int status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status != cudaSuccess) return status;
  kernel<<<static_cast<unsigned>(deal.chunks * systems), static_cast<unsigned>(threads), shared, stream>>>(
      below, count, deal, each, level, outer, periodic, info, n, unless);
  return cudaGetLastError();
}

/// The levels above the rows, in a tile's work: what is left of chunks, of 256 of these, and so on, until one block can
/// join all. The first element of each system is free for others.
template <class T>
struct Levels {
  Level<T> level[8];
  index_t count[8];
  int size = 1;

  Levels(index_t chunks, Segment<T>* work, index_t ld) {
    level[0] = {work + 1, ld};
    count[0] = chunks;
    for (; count[size - 1] > most_segments<T>(); ++size) {
      level[size] = {level[size - 1].data + count[size - 1], ld};
      count[size] = ceil_div(count[size - 1], index_t{threads_of_segments});
    }
  }
};

template <class T>
int reduce_levels(cudaStream_t stream, const DeviceRows<T>& in, const Levels<T>& levels, Level<T> ends, const T* unless) {
  for (int k = 0; k < levels.size; ++k) {
    const bool last = k + 1 == levels.size;
    if (last && ends.data == nullptr) break;
    const int status = launch_segments<T, Top::reduce>(stream, levels.level[k], levels.count[k], in.systems,
                                                       last ? levels.count[k] : threads_of_segments,
                                                       last ? ends : levels.level[k + 1], {}, false, nullptr, 0, unless);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

template <class T>
int substitute_levels(cudaStream_t stream, const DeviceRows<T>& in, const Levels<T>& levels, int from,
                      DeviceEnds<T> outer, int* info) {
  for (int k = from; k >= 0; --k) {
    const bool last = k + 1 == levels.size;
    const int status = launch_segments<T, Top::substitute>(
        stream, levels.level[k], levels.count[k], in.systems, last ? levels.count[k] : threads_of_segments,
        last ? Level<T>{} : levels.level[k + 1], outer, false, info, in.n, nullptr);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

template <class T>
int reduce_unless(cudaStream_t stream, const DeviceRows<T>& in, Segment<T>* work, index_t ld, Level<T> ends,
                  const T* unless) {
  const Deal deal = deal_rows(in);
  const Levels<T> levels(deal.chunks, work, ld);
  const int status = launch_rows<T, Pass::reduce>(stream, in, deal, deal.chunks == 1 && ends.data != nullptr ? ends : levels.level[0],
                                                  {}, false, nullptr, unless);
  if (status != cudaSuccess || deal.chunks == 1) return status;
  return reduce_levels(stream, in, levels, ends, unless);
}

}  // namespace

template <class T>
int reduce(void* stream, const DeviceRows<T>& in, Segment<T>* work, index_t ld, Segment<T>* ends, index_t next) {
  auto* const s = static_cast<cudaStream_t>(stream);
  const int status = cudaMemsetAsync(work, 1, sizeof(T), s);  // not zero: a GPU wrote this
  if (status != cudaSuccess) return status;
  return reduce_unless<T>(s, in, work, ld, {ends, next}, nullptr);
}

template <class T>
int substitute(void* stream, const DeviceRows<T>& in, Segment<T>* work, index_t ld, DeviceEnds<T> ends, int* info) {
  auto* const s = static_cast<cudaStream_t>(stream);
  const Deal deal = deal_rows(in);
  const Levels<T> levels(deal.chunks, work, ld);
  if (deal.chunks > 1) {
    // A core may have reduced the tile; what it kept is of no use here.
    int status = reduce_unless<T>(s, in, work, ld, {}, reinterpret_cast<const T*>(work));
    if (status == cudaSuccess) status = substitute_levels(s, in, levels, levels.size - 1, ends, info);
    if (status != cudaSuccess) return status;
  }
  return launch_rows<T, Pass::substitute>(s, in, deal, levels.level[0], ends, false, info, nullptr);
}

template <class T>
int solve(void* stream, const DeviceRows<T>& in, bool periodic, Segment<T>* work, index_t ld, int* info) {
  auto* const s = static_cast<cudaStream_t>(stream);
  const Deal deal = deal_rows(in);
  if (deal.chunks == 1) return launch_rows<T, Pass::solve>(s, in, deal, {}, {}, periodic, info, nullptr);
  const Levels<T> levels(deal.chunks, work, ld);
  const int top = levels.size - 1;
  int status = reduce_unless<T>(s, in, work, ld, {}, nullptr);
  if (status != cudaSuccess) return status;
  status = launch_segments<T, Top::solve>(s, levels.level[top], levels.count[top], in.systems, levels.count[top],
                                          {work, ld}, {}, periodic, info, in.n, nullptr);
  if (status != cudaSuccess) return status;
  const DeviceEnds<T> outer{reinterpret_cast<const T*>(work), ld * static_cast<index_t>(sizeof(Segment<T>) / sizeof(T))};
  status = substitute_levels(s, in, levels, top - 1, outer, info);
  if (status != cudaSuccess) return status;
  return launch_rows<T, Pass::substitute>(s, in, deal, levels.level[0], outer, false, info, nullptr);
}

template <class T>
int join_tiles(void* stream, const DeviceTiles<T>& tiles, int count, index_t systems, Joint<T>* joints, index_t ld,
               index_t first) {
  const auto blocks = static_cast<unsigned>(ceil_div(systems, index_t{128}));
  join_kernel<<<blocks, 128, 0, static_cast<cudaStream_t>(stream)>>>(tiles, count, systems, joints, ld, first);
  return cudaGetLastError();
}

template <class T>
int fill_tiles(void* stream, const Joint<T>* joints, index_t ld, index_t tiles, index_t systems, bool periodic,
               T* values, index_t next, int* info, index_t n) {
  const auto blocks = static_cast<unsigned>(ceil_div(systems, index_t{128}));
  fill_kernel<<<blocks, 128, 0, static_cast<cudaStream_t>(stream)>>>(joints, ld, tiles, systems, periodic, values, next,
                                                                     info, n);
  return cudaGetLastError();
}

#define TESELA_INSTANTIATE(T)                                                                                         \
  template int solve(void*, const DeviceRows<T>&, bool, Segment<T>*, index_t, int*);                                  \
  template int reduce(void*, const DeviceRows<T>&, Segment<T>*, index_t, Segment<T>*, index_t);                       \
  template int substitute(void*, const DeviceRows<T>&, Segment<T>*, index_t, DeviceEnds<T>, int*);                    \
  template int join_tiles(void*, const DeviceTiles<T>&, int, index_t, Joint<T>*, index_t, index_t);                   \
  template int fill_tiles(void*, const Joint<T>*, index_t, index_t, index_t, bool, T*, index_t, int*, index_t);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)

}  // namespace tesela::tridiagonal
