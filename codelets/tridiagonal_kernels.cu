#include "codelets/bulk_copy.cuh"
#include "codelets/tridiagonal_device.cuh"
#include "codelets/tridiagonal_kernels.hpp"

#include <algorithm>

// A block of threads takes some consecutive rows of one system, or whole systems: loads them into shared memory, has
// each thread reduce its own few rows to a segment, and joins the segments by a binary tree. What is left of each block
// is a segment again; these are joined, up to 256 and more at a time, until one is left of each system. The way back
// repeats a block's elimination from its rows, keeping the pivot rows in the place of the rows, and fills in.

namespace tesela::tridiagonal {
namespace {

/// A segment on its way up; then the joint that consumed it; then the unknowns at this side of what it was.
template <class T>
union alignas(16) Slot {
  Segment<T> segment;
  Joint<T> joint;
  T values[2];
};

enum class Pass : std::uint8_t { reduce, substitute, solve };

/// How rows are dealt out: 2^levels threads for each system, `chunk` rows of it, in blocks that hold 2^groups systems.
/// Of the binary tree over a system's threads a block joins `joins` levels, and leaves the rest to the next kernel.
struct Deal {
  int threads, levels, joins, groups;
  index_t chunk, chunks, parts;  ///< `parts` are left of a system in all
  bool reversed;                 ///< last rows first: they may still be in the cache
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

__device__ void report(int* info, index_t row) {
  if (*static_cast<volatile int*>(info) == 0) atomicCAS(info, 0, static_cast<int>(row));
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

/// Brings `rows` rows of `group` systems to shared memory, a system's `stride` numbers apart, without waiting.
template <class T>
__device__ void fetch(BulkCopy& copy, T* to, int stride, const T* from, Strides at, int rows, int group, int groups) {
  if (at.row == 1) {
    for (int s = 0; s < group; ++s) copy.load(to + s * stride, from + s * at.system, rows);
  } else {
    for (int k = static_cast<int>(threadIdx.x); k < rows << groups; k += static_cast<int>(blockDim.x)) {
      const int s = k & ((1 << groups) - 1), i = k >> groups;
      if (s < group) __pipeline_memcpy_async(to + s * stride + i, from + i * at.row + s * at.system, sizeof(T));
    }
  }
}

template <class T>
__device__ void give_back(T* to, const T* from, int stride, Strides at, int rows, int group, int groups) {
  BulkCopy::before_stores();
  if (at.row == 1) {
    for (int s = 0; s < group; ++s) BulkCopy::store(to + s * at.system, from + s * stride, rows);
    BulkCopy::wait_stores();
  } else {
    for (int k = static_cast<int>(threadIdx.x); k < rows << groups; k += static_cast<int>(blockDim.x)) {
      const int s = k & ((1 << groups) - 1), i = k >> groups;
      if (s < group) to[i * at.row + s * at.system] = from[s * stride + i];
    }
  }
}

/// The `count` rows of one thread in shared memory.
template <class T>
struct Own {
  T *dl, *d, *du, *b;
  int count;

  /// Reduces them. With Keep, pivot row i is left in the place of row i, and bit i of `nexts` says of which kind it is;
  /// `zero` is the last row whose pivot was zero.
  template <bool Keep>
  __device__ Segment<T> reduce(unsigned& nexts, int& zero) const {
    nexts = 0;
    zero = 0;
    if (count == 0) return no_rows<T>();
    T l0 = dl[0], c0 = d[0], u0 = du[0], r0 = b[0];
    fit(l0, c0, u0, r0);
    if (count == 1) return one_row(l0, c0, u0, r0);
    T l = dl[1], c = d[1], u = du[1], r = b[1];
    fit(l, c, u, r);
    Segment<T> s = two_rows(l0, c0, u0, r0, l, c, u, r);
    // The next row is on its way while one is eliminated.
    const auto next = [&](int i) {
      l = dl[i], c = d[i], u = du[i], r = b[i];
      return fit(l, c, u, r);
    };
    unsigned weight_of_next = count > 2 ? next(2) : 0;
    for (int i = 2; i < count; ++i) {
      const T l1 = l, c1 = c, u1 = u, r1 = r;
      const unsigned weight_of_this = weight_of_next;
      weight_of_next = next(min(i + 1, count - 1));
      const Solved<T> x = append_row(s, l1, c1, u1, r1, weight_of_this);
      if constexpr (Keep) {
        dl[i] = x.e, d[i] = x.q, du[i] = x.f_or_t, b[i] = x.r;
        if (x.next) nexts |= 1u << i;
        if (x.zero) zero = i;
      }
    }
    return s;
  }

  /// Fills in x from its ends and the pivot rows that reduce kept. False when an unknown is not finite.
  __device__ bool fill(const Ends<T>& ends, unsigned nexts) const {
    if (count == 0) return true;
    T x = ends.e, after = ends.f;
    unsigned largest = max(weight(x), weight(ends.b));
#pragma unroll 3
    for (int i = count - 1; i >= 2; --i) {
      const T e = dl[i], q = d[i], f = du[i], r = b[i];
      T before = fma(-e, ends.a, r);
      before = fma(-f, (nexts >> i & 1) != 0 ? after : ends.b, before);
      before = fma(-q, x, before);
      b[i] = x;
      after = x;
      x = before;
      largest = max(largest, weight(x));
    }
    if (count > 1) b[1] = x;
    b[0] = ends.b;
    return largest < strange_weight<T>;
  }
};

template <class T, int Each, Pass Kind>
__global__ void __launch_bounds__(256) rows_kernel(DeviceRows<T> in, Deal deal, Level<T> level, DeviceEnds<T> outer,
                                                   bool periodic, int* info, const T* unless) {
  if (unless != nullptr && *unless != T(0)) return;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ std::uint64_t barrier;
  const unsigned block = deal.reversed ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const auto chunks = static_cast<unsigned>(deal.chunks), chunk = block % chunks;
  const index_t first_row = chunk * deal.chunk, system = index_t{block / chunks} << deal.groups;
  const int group = static_cast<int>(min(index_t{1} << deal.groups, in.systems - system));
  const int rows = static_cast<int>(min(deal.chunk, in.rows - first_row));
  const int per = 1 << deal.levels, stride = per * Each, all = stride << deal.groups;
  T* const dl = reinterpret_cast<T*>(memory);
  T *const d = dl + all, *const du = d + all, *const b = du + all;
  // A reduction needs nothing of the rows once every thread has read them.
  Slot<T>* const slots = reinterpret_cast<Slot<T>*>(Kind == Pass::reduce ? dl : b + all);
  const int set = (1 << deal.joins) + 1, sets = group << (deal.levels - deal.joins);

  const auto start = [&](Strides at) { return first_row * at.row + system * at.system; };
  T* const out = in.b + start(in.b_at);
  BulkCopy copy(&barrier);
  fetch(copy, dl, stride, in.dl + start(in.dl_at), in.dl_at, rows, group, deal.groups);
  fetch(copy, d, stride, in.d + start(in.d_at), in.d_at, rows, group, deal.groups);
  fetch(copy, du, stride, in.du + start(in.du_at), in.du_at, rows, group, deal.groups);
  fetch<T>(copy, b, stride, out, in.b_at, rows, group, deal.groups);

  const int mine = static_cast<int>(threadIdx.x) >> deal.levels, t = static_cast<int>(threadIdx.x) & (per - 1);
  const bool active = mine < group;
  const int begin = t * Each, count = active ? max(0, min(Each, rows - begin)) : 0, at = mine * stride + begin;
  const int mine_of_whole = t & ((1 << deal.joins) - 1);
  const index_t part = (index_t{chunk} << (deal.levels - deal.joins)) + (t >> deal.joins);
  const bool leader = active && mine_of_whole == 0 && part < deal.parts;
  Ends<T> ends{};
  if constexpr (Kind == Pass::substitute) {
    if (leader) ends = ends_of(level, part, deal.parts, system + mine, outer);
  }
  copy.wait_loads();

  const Own<T> own{dl + at, d + at, du + at, b + at, count};
  const index_t row = first_row + begin;
  if (count > 0 && row == 0 && !in.before) own.dl[0] = T(0);
  if (count > 0 && row + count == in.rows && !in.behind) own.du[count - 1] = T(0);
  // Rows count from 1, and the pivot row in row i's place is of the unknown before it.
  const auto broke = [&](int i) { report(info, row + i + in.n * (system + mine)); };
  unsigned nexts;
  int zero;
  const Segment<T> segment = own.template reduce<Kind != Pass::reduce>(nexts, zero);
  if constexpr (Kind == Pass::reduce)
    __syncthreads();
  else if (zero > 0)
    broke(zero);
  Slot<T>* const whole = slots + (static_cast<int>(threadIdx.x) >> deal.joins) * set;
  if (active) whole[mine_of_whole].segment = segment;
  __syncthreads();
  join_up(slots, deal.joins, sets, set, 1);

  if constexpr (Kind == Pass::reduce) {
    if (leader) level.data[part + (system + mine) * level.ld] = whole->segment;
  } else {
    if (leader) {
      if constexpr (Kind == Pass::solve) {
        if (solve_ends(whole->segment, periodic, ends) == T(0)) report(info, 1 + in.n * (system + mine));
      }
      whole[0].values[0] = ends.a, whole[0].values[1] = ends.b;
      whole[set - 1].values[0] = ends.e, whole[set - 1].values[1] = ends.f;
    }
    __syncthreads();
    fill_down(slots, deal.joins, sets, set, 1, [&](int s, int slot) {
      const int parts = deal.levels - deal.joins;
      const index_t at = first_row + (((s & ((1 << parts) - 1)) << deal.joins) + slot) * Each;
      report(info, min(at, in.rows - 1) + 1 + in.n * (system + (s >> parts)));
    });
    if (count > 0) {
      const T *const before = whole[mine_of_whole].values, *const behind = whole[mine_of_whole + 1].values;
      if (!own.fill({before[0], before[1], behind[0], behind[1]}, nexts)) broke(1);
    }
    give_back(out, b, stride, in.b_at, rows, group, deal.groups);
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

template <class T>
__global__ void join_kernel(DeviceTiles<T> tiles, int count, index_t systems, Joint<T>* joints, index_t ld,
                            index_t first) {
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
__global__ void fill_kernel(const Joint<T>* joints, index_t ld, index_t tiles, index_t systems, bool periodic,
                            T* values, index_t next, int* info, index_t n) {
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

// Measured on an H200, with systems of 2^25 equations and batches of 512 (docs/tridiagonal.md). Odd, so that threads
// which read their rows from shared memory meet different banks.
constexpr int each_row = 17, threads_of_rows = 64, joins_of_many = 3;
constexpr int threads_of_segments = 256;
constexpr index_t segments_of_block = 512;

/// The least k such that 2^k >= x.
int log_of(index_t x) {
  int k = 0;
  while (index_t{1} << k < x) ++k;
  return k;
}

template <class T>
constexpr index_t most_segments() {
  return index_t{7} * 256;
}

template <class T>
Deal deal_rows(const DeviceRows<T>& in) {
  // Systems that lie beside each other are read four at a time, or most of what comes from memory would be others'.
  const int beside = in.b_at.row == 1 ? 0 : std::min(2, log_of(in.systems)), all = log_of(threads_of_rows) + beside;
  const int levels = std::min(log_of(ceil_div(in.rows, index_t{each_row})), all - beside);
  const index_t chunk = index_t{each_row} << levels, chunks = ceil_div(in.rows, chunk);
  const int groups = chunks > 1 || beside > 0 ? beside : std::min(all - levels, log_of(in.systems));
  // The last levels of a block's tree keep few of its threads busy; where there are blocks enough, their segments make
  // a better kernel of their own.
  const int joins = chunks > most_segments<T>() ? std::min(levels, joins_of_many) : levels;
  const index_t parts = ceil_div(in.rows, index_t{each_row} << joins);
  return {std::max(32, 1 << (levels + groups)), levels, joins, groups, chunk, chunks, parts, false};
}

template <class T, Pass Kind>
int launch_rows(cudaStream_t stream, const DeviceRows<T>& in, Deal deal, Level<T> level, DeviceEnds<T> outer,
                bool periodic, int* info, const T* unless) {
  const auto kernel = rows_kernel<T, each_row, Kind>;
  const std::size_t numbers = std::size_t{4} * (std::size_t{each_row} << (deal.levels + deal.groups)) * sizeof(T),
                    slots = (((std::size_t{1} << deal.joins) + 1) << (deal.groups + deal.levels - deal.joins)) *
                            sizeof(Slot<T>);
  const std::size_t shared = Kind == Pass::reduce ? std::max(numbers, slots) : numbers + slots;
  const int status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status != cudaSuccess) return status;
  deal.reversed = Kind == Pass::substitute;
  const auto blocks = static_cast<unsigned>(deal.chunks * ceil_div(in.systems, index_t{1} << deal.groups));
  kernel<<<blocks, static_cast<unsigned>(deal.threads), shared, stream>>>(in, deal, level, outer, periodic, info,
                                                                          unless);
  return cudaGetLastError();
}

template <class T, Top Kind>
int launch_segments(cudaStream_t stream, Level<T> below, index_t count, index_t systems, index_t chunk, Level<T> level,
                    DeviceEnds<T> outer, bool periodic, int* info, index_t n, const T* unless) {
  const auto kernel = segments_kernel<T, Kind>;
  const int log_threads = std::min(log_of(threads_of_segments), log_of(std::min(chunk, count))),
            threads = 1 << log_threads;
  const auto each = static_cast<int>(ceil_div(std::min(chunk, count), index_t{threads}));
  const Deal deal{threads, log_threads, log_threads, 0, chunk, ceil_div(count, chunk), 0, false};
  const std::size_t shared = static_cast<std::size_t>(threads * each + 1) * sizeof(Slot<T>);
  const int status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status != cudaSuccess) return status;
  kernel<<<static_cast<unsigned>(deal.chunks * systems), static_cast<unsigned>(threads), shared, stream>>>(
      below, count, deal, each, level, outer, periodic, info, n, unless);
  return cudaGetLastError();
}

/// The levels above the rows, in a tile's work: what is left of the rows, of 512 of these, and so on, until one block
/// can join all. The first element of each system is free for others.
template <class T>
struct Levels {
  Level<T> level[8];
  index_t count[8];
  int size = 1;

  Levels(index_t parts, Segment<T>* work, index_t ld) {
    level[0] = {work + 1, ld};
    count[0] = parts;
    for (; count[size - 1] > most_segments<T>(); ++size) {
      level[size] = {level[size - 1].data + count[size - 1], ld};
      count[size] = ceil_div(count[size - 1], segments_of_block);
    }
  }
};

template <class T>
int reduce_levels(cudaStream_t stream, const DeviceRows<T>& in, const Levels<T>& levels, Level<T> ends,
                  const T* unless) {
  for (int k = 0; k < levels.size; ++k) {
    const bool last = k + 1 == levels.size;
    if (last && ends.data == nullptr) break;
    const int status = launch_segments<T, Top::reduce>(
        stream, levels.level[k], levels.count[k], in.systems, last ? levels.count[k] : segments_of_block,
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
        stream, levels.level[k], levels.count[k], in.systems, last ? levels.count[k] : segments_of_block,
        last ? Level<T>{} : levels.level[k + 1], outer, false, info, in.n, nullptr);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

template <class T>
int reduce_unless(cudaStream_t stream, const DeviceRows<T>& in, Segment<T>* work, index_t ld, Level<T> ends,
                  const T* unless) {
  const Deal deal = deal_rows(in);
  const Levels<T> levels(deal.parts, work, ld);
  const int status = launch_rows<T, Pass::reduce>(
      stream, in, deal, deal.chunks == 1 && ends.data != nullptr ? ends : levels.level[0], {}, false, nullptr, unless);
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
  const Levels<T> levels(deal.parts, work, ld);
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
  const Levels<T> levels(deal.parts, work, ld);
  const int top = levels.size - 1;
  int status = reduce_unless<T>(s, in, work, ld, {}, nullptr);
  if (status != cudaSuccess) return status;
  status = launch_segments<T, Top::solve>(s, levels.level[top], levels.count[top], in.systems, levels.count[top],
                                          {work, ld}, {}, periodic, info, in.n, nullptr);
  if (status != cudaSuccess) return status;
  const DeviceEnds<T> outer{reinterpret_cast<const T*>(work),
                            ld * static_cast<index_t>(sizeof(Segment<T>) / sizeof(T))};
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

#define TESELA_INSTANTIATE(T)                                                                       \
  template int solve(void*, const DeviceRows<T>&, bool, Segment<T>*, index_t, int*);                \
  template int reduce(void*, const DeviceRows<T>&, Segment<T>*, index_t, Segment<T>*, index_t);     \
  template int substitute(void*, const DeviceRows<T>&, Segment<T>*, index_t, DeviceEnds<T>, int*);  \
  template int join_tiles(void*, const DeviceTiles<T>&, int, index_t, Joint<T>*, index_t, index_t); \
  template int fill_tiles(void*, const Joint<T>*, index_t, index_t, index_t, bool, T*, index_t, int*, index_t);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)

}  // namespace tesela::tridiagonal
