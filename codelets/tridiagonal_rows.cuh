#pragma once

#include "codelets/bulk_copy.cuh"
#include "codelets/tridiagonal_tree.cuh"

// The kernel that reads the rows. Internal to codelets/.

namespace tesela::tridiagonal {

// Measured on an H200, with systems of 2^25 equations and batches of 512 (docs/tridiagonal.md). Odd, so that threads
// which read their rows from shared memory meet different banks.
constexpr int each_row = 17, threads_of_rows = 64, joins_of_many = 3;

enum class Pass : std::uint8_t { reduce, substitute, solve };

/// How rows are dealt out: 2^levels threads for each system, `chunk` rows of it, in blocks that hold 2^groups systems.
/// Of the binary tree over a system's threads a block joins `joins` levels, and leaves the rest to the next kernel.
struct Deal {
  int threads, levels, joins, groups;
  index_t chunk, chunks, parts;  ///< `parts` are left of a system in all
  bool reversed;                 ///< last rows first: they may still be in the cache
};

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

template <class T>
Deal deal_rows(const DeviceRows<T>& in) {
  // Systems that lie beside each other are read four at a time, or most of what comes from memory would be others'.
  const int beside = in.b_at.row == 1 ? 0 : std::min(2, log_of(in.systems)), all = log_of(threads_of_rows) + beside;
  const int levels = std::min(log_of(ceil_div(in.rows, index_t{each_row})), all - beside);
  const index_t chunk = index_t{each_row} << levels, chunks = ceil_div(in.rows, chunk);
  const int groups = chunks > 1 || beside > 0 ? beside : std::min(all - levels, log_of(in.systems));
  // The last levels of a block's tree keep few of its threads busy; where there are blocks enough, their segments make
  // a better kernel of their own.
  const int joins = chunks > most_segments ? std::min(levels, joins_of_many) : levels;
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

}  // namespace tesela::tridiagonal
