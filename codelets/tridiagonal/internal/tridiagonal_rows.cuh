#pragma once

#include <tesela/codelets/support/internal/bulk_copy.cuh>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_segments.cuh>

// The kernel that reads the rows. Internal to codelets/.

namespace tesela::kernels::tridiagonal {

// Rows per thread, measured on an H200 with systems of 2^25 equations and batches of 512 (docs/tridiagonal.md). Odd, so
// that threads that read their rows from shared memory use different banks.
constexpr int each_row = 17, threads_of_rows = 64, joins_of_many = 3;
/// Rows that a block processes in sequence if most blocks have nothing to do: the kernel then ends quickly.
constexpr index_t blocks_of_rows_per_block = 4;

enum class Pass : std::uint8_t { reduce, substitute, solve };

/// Division of the rows: 2^levels threads per system, `chunk` rows of it, in blocks that hold 2^groups systems. A block
/// joins `joins` levels of the binary tree over a system's threads and leaves the others to the next kernel.
struct RowPartition {
  int threads, levels, joins, groups;
  index_t chunk, chunks, parts;  ///< `parts` segments remain of a system in total
  bool columns;                  ///< every array's rows are contiguous in memory
  bool packed;                   ///< memory and its strides are aligned
  bool reversed;                 ///< last rows first: they may still be in the cache
};

/// Positions of a block's rows in its shared memory. Systems in columns (Width 1) follow each other. With Width > 1,
/// the rows of Width adjacent systems are interleaved as in memory.
template <class T, int Each, int Width>
struct SharedRows {
  static constexpr int pack = 16 / static_cast<int>(sizeof(T));
  static constexpr int words = sizeof(T) > 8 ? 2 : 1;  ///< of a number in a box, which holds float or double
  static constexpr int line = Each * Width;            // of one thread of each system
  /// 2^across neighbouring lanes process the same rows of adjacent systems, so that lanes use different banks.
  static constexpr int across = Width == 1 ? 0 : Width == 2 ? 1 : 2;
  /// Rows that are copied as one box; at most 256.
  static constexpr int threads_of_box = 8, rows_of_box = threads_of_box * Each;

  /// Returns thread k's system; the next function returns its index among the system's 2^levels threads.
  __device__ static int system_of(int k, int levels) {
    return k >> (across + levels) << across | (k & ((1 << across) - 1));
  }
  __device__ static int thread_of(int k, int levels) { return k >> across & ((1 << levels) - 1); }

  __host__ __device__ static int numbers(int levels, int groups) {
    return line << (Width > 1 ? levels : levels + groups);
  }
  __device__ static int of_thread(int t, int system, int levels) {
    return Width > 1 ? t * line + system : (system << levels) * line + t * line;
  }
  __device__ static int of_row(int i, int system) { return i * Width + system; }
};

/// Copies rows of adjacent systems, Piece systems at once, from `from[k]` to shared memory `all` numbers apart.
template <class P, int Piece, int Width, class T>
__device__ void fetch_beside(T* to, int all, const T* const (&from)[4], const Strides (&at)[4], int rows, int group) {
  constexpr int pieces = Width / Piece;
  const int t = static_cast<int>(threadIdx.x), s = t % pieces * Piece, step = static_cast<int>(blockDim.x) / pieces;
  if (s >= group) return;
  const T* next[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) next[k] = from[k] + t / pieces * at[k].row + s * at[k].system;
#pragma unroll 2
  for (int i = t / pieces; i < rows; i += step) {
    T* const place = to + P::of_row(i, s);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      __pipeline_memcpy_async(place + k * all, next[k], Piece * sizeof(T));
      next[k] += step * at[k].row;
    }
  }
}

template <class P, int Piece, int Width, class T>
__device__ void give_back_beside(T* to, const T* from, Strides at, int rows, int group) {
  constexpr int pieces = Width / Piece;
  const int t = static_cast<int>(threadIdx.x), s = t % pieces * Piece, step = static_cast<int>(blockDim.x) / pieces;
  if (s >= group) return;
  T* next = to + t / pieces * at.row + s * at.system;
#pragma unroll 4
  for (int i = t / pieces; i < rows; i += step, next += step * at.row) {
    const T* const place = from + P::of_row(i, s);
    if constexpr (Piece > 1)
      *reinterpret_cast<uint4*>(next) = *reinterpret_cast<const uint4*>(place);
    else
      *next = *place;
  }
}

/// The `count` rows of one thread in shared memory, Width numbers apart.
template <class T, int Width>
struct Own {
  T *dl, *d, *du, *b;
  int count;

  /// Reduces the rows. With Keep, pivot row i overwrites row i, and bit i of `nexts` is its kind; `zero` is the last
  /// row with a zero pivot.
  template <bool Keep>
  __device__ Segment<T> reduce(unsigned& nexts, int& zero) const {
    nexts = 0;
    zero = 0;
    if (count == 0) return no_rows<T>();
    T l0 = dl[0], c0 = d[0], u0 = du[0], r0 = b[0];
    fit(l0, c0, u0, r0);
    if (count == 1) return one_row(l0, c0, u0, r0);
    T l = dl[Width], c = d[Width], u = du[Width], r = b[Width];
    fit(l, c, u, r);
    Segment<T> s = two_rows(l0, c0, u0, r0, l, c, u, r);
    // The next row is loaded while the present one is eliminated.
    const auto next = [&](int i) {
      l = dl[i * Width], c = d[i * Width], u = du[i * Width], r = b[i * Width];
      return fit(l, c, u, r);
    };
    unsigned weight_of_next = count > 2 ? next(2) : 0;
#pragma unroll 2
    for (int i = 2; i < count; ++i) {
      const T l1 = l, c1 = c, u1 = u, r1 = r;
      const unsigned weight_of_this = weight_of_next;
      weight_of_next = next(min(i + 1, count - 1));
      const Solved<T> x = append_row(s, l1, c1, u1, r1, weight_of_this);
      if constexpr (Keep) {
        dl[i * Width] = x.e, d[i * Width] = x.q, du[i * Width] = x.f_or_t, b[i * Width] = x.r;
        if (x.next) nexts |= 1u << i;
        if (x.zero) zero = i;
      }
    }
    return s;
  }

  /// Computes x from its ends and the pivot rows that reduce kept. Returns false if an unknown is not finite.
  __device__ bool fill(const Ends<T>& ends, unsigned nexts) const {
    if (count == 0) return true;
    T x = ends.e, after = ends.f;
    unsigned largest = max(weight(x), weight(ends.b));
#pragma unroll 3
    for (int i = count - 1; i >= 2; --i) {
      const T e = dl[i * Width], q = d[i * Width], f = du[i * Width], r = b[i * Width];
      T before = less_product(r, e, ends.a);
      before = less_product(before, f, (nexts >> i & 1) != 0 ? after : ends.b);
      before = less_product(before, q, x);
      b[i * Width] = x;
      after = x;
      x = before;
      largest = max(largest, weight(x));
    }
    if (count > 1) b[Width] = x;
    b[0] = ends.b;
    return largest < not_finite_weight<T>;
  }
};

/// Arrays of adjacent systems, if boxes of them may be copied.
template <int Width>
struct BoxMapsOf {
  BoxMap of[4];  // dl, d, du, b
  bool usable;
};
template <>
struct BoxMapsOf<1> {};

template <class T, int Each, int Width, Pass Kind>
__device__ void rows_block(unsigned block, BulkCopy& copy, const DeviceRows<T>& in, const RowPartition& partition,
                           Level<T> level, DeviceEnds<T> outer, bool periodic, int* info,
                           const BoxMapsOf<Width>& boxes) {
  extern __shared__ __align__(128) unsigned char of_block[];  // required by boxes
  const auto chunks = static_cast<unsigned>(partition.chunks), chunk = block % chunks;
  const index_t first_row = chunk * partition.chunk, system = index_t{block / chunks} << partition.groups;
  const int group = static_cast<int>(min(index_t{1} << partition.groups, in.systems - system));
  const int rows = static_cast<int>(min(partition.chunk, in.rows - first_row));
  using P = SharedRows<T, Each, Width>;
  __shared__ Segment<T> of_warps[8 << P::across];
  const int all = P::numbers(partition.levels, partition.groups);
  T* const dl = reinterpret_cast<T*>(of_block);
  T *const d = dl + all, *const du = d + all, *const b = du + all;

  const auto start = [&](Strides at) { return first_row * at.row + system * at.system; };
  T* const out = in.b + start(in.b_at);
  const bool packed = partition.packed && (Width > 1 ? group == Width : rows % P::pack == 0);
  const T* const from[4] = {in.dl + start(in.dl_at), in.d + start(in.d_at), in.du + start(in.du_at), out};
  const Strides strides[4] = {in.dl_at, in.d_at, in.du_at, in.b_at};
  [[maybe_unused]] const int x = static_cast<int>(system) * P::words, y = static_cast<int>(first_row);
  if constexpr (Width > 1) {
    if (BulkCopy::copies_boxes() && boxes.usable)
      for (int i = 0; i < rows; i += P::rows_of_box)
#pragma unroll
        for (int k = 0; k < 4; ++k) copy.load(dl + k * all + P::of_row(i, 0), boxes.of[k], x, y + i);
    else if (packed)
      fetch_beside<P, P::pack, Width>(dl, all, from, strides, rows, group);
    else
      fetch_beside<P, 1, Width>(dl, all, from, strides, rows, group);
  } else {
    for (int s = 0; s < group; ++s)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        T* const to = dl + k * all + P::of_thread(0, s, partition.levels);
        const T* const system_of = from[k] + s * strides[k].system;
        if (packed)
          copy.load_packed(to, system_of, rows);
        else
          copy.load(to, system_of, rows);
      }
  }

  const int mine = P::system_of(static_cast<int>(threadIdx.x), partition.levels),
            t = P::thread_of(static_cast<int>(threadIdx.x), partition.levels);
  const bool active = mine < group;
  const int begin = t * Each, count = active ? max(0, min(Each, rows - begin)) : 0,
            at = P::of_thread(t, mine, partition.levels);
  const index_t part = (index_t{chunk} << (partition.levels - partition.joins)) + (t >> partition.joins);
  const bool of_part = active && part < partition.parts, leader = of_part && (t & ((1 << partition.joins) - 1)) == 0;
  Ends<T> ends{};
  if constexpr (Kind == Pass::substitute) {
    wait_for_previous();  // the rows themselves existed before it
    if (of_part) ends = ends_of(level, part, partition.parts, system + mine, outer);
  }
  copy.wait_loads();

  const Own<T, Width> own{dl + at, d + at, du + at, b + at, count};
  const index_t row = first_row + begin;
  if (count > 0 && row == 0 && !in.before) own.dl[0] = T(0);
  if (count > 0 && row + count == in.rows && !in.behind) own.du[(count - 1) * Width] = T(0);
  // Rows count from 1, and the pivot row in row i's place belongs to the unknown before it.
  const auto broke = [&](int i) { report(info, row + i + in.n * (system + mine)); };
  unsigned nexts;
  int zero;
  const Segment<T> segment = own.template reduce<Kind != Pass::reduce>(nexts, zero);
  Tree<T, P::across> tree(partition.joins, of_warps);
  const Segment<T> whole = tree.join(segment);
  if constexpr (Kind == Pass::reduce) {
    if (leader) level.data[part + (system + mine) * level.ld] = whole;
  } else {
    if (zero > 0) broke(zero);
    if constexpr (Kind == Pass::solve) {
      if (solve_ends(whole, periodic, ends) == real_t<T>(0) && leader) report(info, 1 + in.n * (system + mine));
    }
    ends = tree.fill(ends);
    if (active)
      tree.breakdowns(
          [&](int before) { report(info, min(row - before * Each, in.rows - 1) + 1 + in.n * (system + mine)); });
    if (count > 0 && !own.fill(ends, nexts)) broke(1);
    BulkCopy::before_stores();
    if constexpr (Width > 1) {
      if (BulkCopy::copies_boxes() && boxes.usable)
        for (int i = 0; i < rows; i += P::rows_of_box) BulkCopy::store(boxes.of[3], x, y + i, b + P::of_row(i, 0));
      else if (packed)
        give_back_beside<P, P::pack, Width>(out, b, in.b_at, rows, group);
      else
        give_back_beside<P, 1, Width>(out, b, in.b_at, rows, group);
    } else {
      for (int s = 0; s < group; ++s) {
        const T* const solution = b + P::of_thread(0, s, partition.levels);
        if (packed)
          BulkCopy::store_packed(out + s * in.b_at.system, solution, rows);
        else
          BulkCopy::store(out + s * in.b_at.system, solution, rows);
      }
    }
    BulkCopy::wait_stores();
  }
}

template <class T, int Each, int Width, Pass Kind>
__global__ void __launch_bounds__(256)
    rows_kernel(DeviceRows<T> in, RowPartition partition, Level<T> level, DeviceEnds<T> outer, bool periodic, int* info,
                When<T> when, const __grid_constant__ BoxMapsOf<Width> boxes) {
  allow_next_kernel();
  if (when.nothing()) return;
  __shared__ std::uint64_t barrier;
  BulkCopy copy(&barrier);
  rows_block<T, Each, Width, Kind>(partition.reversed ? gridDim.x - 1 - blockIdx.x : blockIdx.x, copy, in, partition,
                                   level, outer, periodic, info, boxes);
}

/// Does the same in few blocks, for cases with mostly nothing to do.
template <class T, int Each, Pass Kind>
__global__ void __launch_bounds__(256)
    sparse_rows_kernel(DeviceRows<T> in, RowPartition partition, Level<T> level, DeviceEnds<T> outer, int* info,
                       When<T> when, unsigned blocks) {
  allow_next_kernel();
  wait_for_previous();
  if (when.nothing()) return;
  __shared__ std::uint64_t barrier;
  BulkCopy copy(&barrier);
  for (unsigned block = blockIdx.x; block < blocks; block += gridDim.x) {
    rows_block<T, Each, 1, Kind>(partition.reversed ? blocks - 1 - block : block, copy, in, partition, level, outer,
                                 false, info, {});
    BulkCopy::before_stores();  // and before the next rows arrive
  }
}

/// Adjacent systems that a block processes together, because most of the transferred memory would belong to other
/// systems otherwise: enough to fill the 32 bytes of one transfer, or half of them, so that a multiprocessor holds
/// three blocks; at least two.
template <class T>
inline constexpr int beside = 32 / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int fewer_beside = std::max(beside<T> / 2, 2);

template <class T>
RowPartition partition_rows(const DeviceRows<T>& in) {
  const bool columns = in.dl_at.row == 1 && in.d_at.row == 1 && in.du_at.row == 1 && in.b_at.row == 1;
  // With two systems of 16-byte numbers, a multiprocessor holds three blocks of half as many threads for each.
  const int most = log_of(threads_of_rows) - (!columns && sizeof(T) > 8 ? 1 : 0),
            levels = std::min(log_of(ceil_div(in.rows, index_t{each_row})), most);
  const index_t chunk = index_t{each_row} << levels, chunks = ceil_div(in.rows, chunk);
  const int groups = !columns     ? log_of(levels < most ? beside<T> : fewer_beside<T>)
                     : chunks > 1 ? 0
                                  : std::min(most - levels, log_of(in.systems));
  // The last levels of a block's tree keep few of its threads busy; with enough blocks, a separate kernel joins their
  // segments faster.
  const int joins = chunks > most_segments<T> ? std::min(levels, joins_of_many) : levels;
  const index_t parts = ceil_div(in.rows, index_t{each_row} << joins);
  const auto packs = [](index_t numbers) { return numbers * index_t{sizeof(T)} % 16 == 0; };
  const auto packed = [&](const T* p, Strides at) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 &&
           (columns ? packs(at.system) : at.system == 1 && packs(at.row));
  };
  const bool all_packed = packed(in.dl, in.dl_at) && packed(in.d, in.d_at) && packed(in.du, in.du_at) &&
                          packed(in.b, in.b_at) && (!columns || packs(chunk));
  return {
      std::max(32, 1 << (levels + groups)), levels, joins, groups, chunk, chunks, parts, columns, all_packed, false};
}

template <class T, int Width>
BoxMapsOf<Width> box_maps_of([[maybe_unused]] const DeviceRows<T>& in, [[maybe_unused]] const RowPartition& partition) {
  BoxMapsOf<Width> boxes{};
  if constexpr (Width > 1) {
    using P = SharedRows<T, each_row, Width>;
    using Word = std::conditional_t<sizeof(T) == 4, float, double>;
    const T* const arrays[] = {in.dl, in.d, in.du, in.b};
    const Strides at[] = {in.dl_at, in.d_at, in.du_at, in.b_at};
    boxes.usable = partition.packed && 1 << partition.levels >= P::threads_of_box;
    for (int k = 0; k < 4 && boxes.usable; ++k)
      boxes.usable = describe_boxes(boxes.of[k], reinterpret_cast<const Word*>(arrays[k]), in.systems * P::words,
                                    in.rows, at[k].row * P::words, Width * P::words, P::rows_of_box);
  }
  return boxes;
}

template <class T, Pass Kind, int Width>
int launch_rows_of(cudaStream_t stream, const DeviceRows<T>& in, RowPartition partition, Level<T> level,
                   DeviceEnds<T> outer, bool periodic, int* info, When<T> when) {
  const std::size_t shared =
      4 * sizeof(T) *
      static_cast<std::size_t>(SharedRows<T, each_row, Width>::numbers(partition.levels, partition.groups));
  partition.reversed = Kind == Pass::substitute;
  if constexpr (Width == 1 && Kind != Pass::solve && !is_complex<T>)  // only real systems try one pass
    if (when.left != nullptr) {
      const index_t blocks = partition.chunks * in.systems;
      return launch(sparse_rows_kernel<T, each_row, Kind>, ceil_div(blocks, blocks_of_rows_per_block),
                    partition.threads, shared, stream, true, in, partition, level, outer, info, when,
                    static_cast<unsigned>(blocks));
    }
  return launch(rows_kernel<T, each_row, Width, Kind>,
                partition.chunks * ceil_div(in.systems, index_t{1} << partition.groups), partition.threads, shared,
                stream, Kind == Pass::substitute && partition.chunks > 1, in, partition, level, outer, periodic, info,
                when, box_maps_of<T, Width>(in, partition));
}

template <class T, Pass Kind>
int launch_rows(cudaStream_t stream, const DeviceRows<T>& in, const RowPartition& partition, Level<T> level,
                DeviceEnds<T> outer, bool periodic, int* info, When<T> when) {
  const auto launch = partition.columns                    ? launch_rows_of<T, Kind, 1>
                      : 1 << partition.groups == beside<T> ? launch_rows_of<T, Kind, beside<T>>
                                                           : launch_rows_of<T, Kind, fewer_beside<T>>;
  return launch(stream, in, partition, level, outer, periodic, info, when);
}

}  // namespace tesela::kernels::tridiagonal
