#pragma once

#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/codelets/eigen/internal/block_product.cuh>
#include <tesela/codelets/support/internal/copy_ring.cuh>

#include <cuda_pipeline.h>

// Bundles of four blocks of 32 sweeps of a band of half-width 64. Each warp carries 16 columns of C through one bundle
// on the FP64 tensor cores (also for float, if they are as fast as its multiply-adds). Internal to codelets/eigen.
//
// A warp computes W^T = C^T first^T and C^T -= W^T second^T by fragments. A lane holds columns 2 l and 2 l + 1 of a
// product, but needs columns l and l + 4 of the next product's left operand. So column 2 l + e is defined to be row l +
// 4 e of C, or of W, and lanes exchange nothing. C and W stay in registers, and only the factors, which all warps
// share, are read from shared memory. The rows of a hop are six chunks of 32: three are in registers, and the others
// wait in shared memory, in places that chunks leave and enter by turns. Warps wait only for factors.

namespace tesela::kernels {

/// Columns of C, in tiles, for a kernel that moves them through a bundle.
template <class T>
struct Strip {
  BulgeBlocks plan;
  index_t bundle;
  bool transpose;
  const T* factors;
  index_t ld;
  index_t columns, row, height;  // of C; the first tile's first row; a tile's rows
  int ring;                      // rows
  T* c[most_gpu_row_tiles];
  index_t ldc[most_gpu_row_tiles];
};

/// Nonzero fragments of 8 x 8 of a factor, which has 12 rows r and 4 columns s of fragments, and their positions in
/// storage. is_v: V, whose column t begins in row t; else V T, whose columns begin in row 0.
template <bool is_v>
struct Fragments {
  static constexpr int count = is_v ? 36 : 42;
  TESELA_BOTH static constexpr int first_row(int s) { return is_v ? s : 0; }
  TESELA_BOTH static constexpr int rows(int s) { return s + 9 - first_row(s); }
  TESELA_BOTH static constexpr int first_column(int r) { return r > 8 ? r - 8 : 0; }
  TESELA_BOTH static constexpr int columns(int r) { return (is_v && r < 3 ? r + 1 : 4) - first_column(r); }
  TESELA_BOTH static constexpr bool there(int r, int s) { return r >= first_row(s) && r < first_row(s) + rows(s); }

  /// Returns the position in column order; by_rows() returns it in row order.
  TESELA_BOTH static constexpr int by_columns(int r, int s) {
    return (is_v ? 9 * s : 9 * s + s * (s - 1) / 2) + r - first_row(s);
  }
  TESELA_BOTH static constexpr int by_rows(int r, int s) {
    const int above = r < 9 ? r : 9, below = r - above;
    return (!is_v       ? 4 * above
            : above < 3 ? above * (above + 1) / 2
                        : 4 * above - 6) +
           below * (7 - below) / 2 + s - first_column(r);
  }
};

template <class T, bool transpose>
class BulgeColumns {
 public:
  static constexpr int half_width = 64, width = 32, length = 96, blocks = 4, columns = 16, most_warps = 8;

  /// Returns the bytes of shared memory.
  static int bytes(int warps) {
    return (places * place_size + warps * incoming_size) * int{sizeof(T)} + warps * waiting_size * 16 +
           CopyRing<places>::barriers * 8;
  }

  __device__ BulgeColumns(const Strip<T>& strip, double2* memory)
      : strip_(strip),
        warps_(static_cast<int>(blockDim.x) / 32),
        warp_(static_cast<int>(threadIdx.x) / 32),
        lane_(static_cast<int>(threadIdx.x) % 32),
        top_(static_cast<int>(strip.plan.chase.row(strip.plan.first_sweep(strip.bundle), 0) - strip.row)),
        end_(static_cast<int>(strip.plan.chase.n - strip.row)),
        hops_(static_cast<int>(strip.plan.hops(strip.bundle))),
        left_((index_t{blockIdx.x} * warps_ + warp_) * columns),
        waiting_(memory + warp_ * waiting_size + lane_),
        factors_(reinterpret_cast<T*>(memory + warps_ * waiting_size)),
        coming_(factors_ + places * place_size + warp_ * incoming_size),
        ring_(reinterpret_cast<std::uint64_t*>(factors_ + places * place_size + warps_ * incoming_size), warps_) {}

  __device__ void run() {
    __syncthreads();
    fetch_first(0);
    fetch_second(0);
    carry();
  }

 private:
  static constexpr int chunk = 32, chunk_size = chunk * columns, pairs = chunk_size / 2, in_registers = 3,
                       waiting_size = (blocks + 2 - in_registers) * pairs, incoming_size = 2 * chunk_size;
  // Even and odd panels of a factor are in different banks.
  static constexpr int places = 3, odd_panels = 42 * 32 + (sizeof(T) == 8 ? 2 : 16), place_size = 2 * odd_panels;
  static constexpr int ahead = 4;  // fragments of a factor that are read before their products start
  using First = Fragments<!transpose>;
  using Second = Fragments<transpose>;

  /// Left operand of a product, made of the result of another, whose elements have a different order in their
  /// registers. The identity operation hides from the compiler that nothing changes; otherwise it would move the
  /// registers before each product.
  struct Left {
    double a[4];
    __device__ __forceinline__ void operator=(const double (&c)[4]) {
      a[0] = moved(c[0]);
      a[1] = moved(c[2]);
      a[2] = moved(c[1]);
      a[3] = moved(c[3]);
    }
    __device__ __forceinline__ static double moved(double x) {
      const int zero = static_cast<int>(gridDim.y) - 1;
      return __hiloint2double(__double2hiint(x) ^ zero, __double2loint(x) ^ zero);
    }
  };
  struct Right {
    double b[2];
    __device__ __forceinline__ void load(const T* fragment) {
      b[0] = static_cast<double>(fragment[0]);
      b[1] = static_cast<double>(fragment[16]);
    }
  };

  const Strip<T>& strip_;
  const int warps_, warp_, lane_;
  const int top_, end_, hops_;  // the bundle's first row, and C's end, counted from the first tile's first row
  const index_t left_;          // the warp's first column
  double2* const waiting_;
  T *const factors_, *const coming_;
  CopyRing<places> ring_;
  int fetches_ = 0;  // the next warp to fetch
  const T* f_ = nullptr;
  Right begin_[ahead];                           // the present factor's first fragments
  double x_[in_registers][4][4] = {}, w_[4][4];  // a waiting chunk c of a hop is in place (2 hop + c) % 3

  __device__ int hop_of(int step) const { return transpose ? hops_ - 1 - step : step; }

  /// Fetches the first factor of a turn; warps fetch by turns. A lane copies a panel of four rows without its zeros;
  /// even panels come first.
  __device__ void fetch_first(int turn) {
    const int half = lane_ / 2, r = First::first_row(half);
    fetch(turn, lane_ * 4 * length + r * 32, First::by_columns(r, half), lane_ < width / 4 ? First::rows(half) : 0,
          First::count);
  }
  __device__ void fetch_second(int turn) {
    const int half = lane_ / 2, s = Second::first_column(half);
    fetch(turn, width * length + lane_ * 4 * width + s * 32, Second::by_rows(half, s),
          lane_ < length / 4 ? Second::columns(half) : 0, Second::count);
  }
  __device__ void fetch(int turn, int from, int to, int count, int fragments) {
    if (turn >= blocks * hops_) return;
    const bool mine = fetches_ == warp_;
    if (++fetches_ == warps_) fetches_ = 0;
    if (!mine) return ring_.end_filling();
    const int hop = hop_of(turn / blocks), block = transpose ? turn % blocks : blocks - 1 - turn % blocks;
    const T* const factors = strip_.factors + strip_.plan.column(block, hop) * strip_.ld;
    ring_.begin_filling(fragments * 64 * int{sizeof(T)});
    if (count > 0)
      ring_.fill(factors_ + ring_.filled() * place_size + lane_ % 2 * odd_panels + to * 32, factors + from,
                 count * 32 * int{sizeof(T)});
    ring_.end_filling();
  }

  /// Returns the tile of a row, counted from the first tile's first row.
  __device__ int tile_of(int row) const { return min(row, end_ - 1) / static_cast<int>(strip_.height); }
  /// Returns the address of the row in the warp's column j, relative to that tile.
  __device__ T* in_tile(int tile, int row, int j) const {
    return strip_.c[tile] + row - tile * static_cast<int>(strip_.height) + (left_ + j) * strip_.ldc[tile];
  }

  /// Requests 32 rows from `first` on, counted from the bundle's first row, one row per lane.
  __device__ void order(int i, int first) const {
    const int row = top_ + first + lane_, tile = tile_of(row);
    const T* const from = in_tile(tile, row, 0);
    const index_t ld = strip_.ldc[tile];
    T* const to = coming_ + i * chunk_size;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < columns; ++j)
      __pipeline_memcpy_async(to + in_coming(lane_, j), from + j * ld, sizeof(T),
                              row < end_ && left_ + j < strip_.columns ? 0 : sizeof(T));
  }
  /// Returns the position in shared memory of a chunk's element, permuted such that a fragment's rows are in different
  /// banks.
  __device__ static int in_coming(int row, int column) {
    return column * chunk + (row ^ (sizeof(T) == 8 ? column % 4 * 4 : column % 8 * 4));
  }
  __device__ __forceinline__ void take(int i, double (&x)[4][4]) const {
    const T* const from = coming_ + i * chunk_size;
#pragma unroll
    for (int number = 0; number < 16; ++number)
      x[number / 4][number % 4] =
          from[in_coming(number / 4 * 8 + number % 2 * 4 + lane_ % 4, number / 2 % 2 * 8 + lane_ / 4)];
  }
  __device__ __forceinline__ void store(const double (&x)[4][4], int first) const {
    const int row = top_ + first + lane_ % 4, tile = tile_of(top_ + first), next = tile_of(top_ + first + chunk - 1),
              seam = (tile + 1) * static_cast<int>(strip_.height);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int j = lane_ / 4 + 8 * half;
      T *const c = in_tile(tile, row, j), *const c_next = in_tile(next, row, j);
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (row + 4 * i < end_ && left_ + j < strip_.columns)
          (row + 4 * i < seam ? c : c_next)[4 * i] = static_cast<T>(x[i / 2][2 * half + i % 2]);
    }
  }
  /// Exchanges a chunk with a waiting one.
  __device__ __forceinline__ void exchange(double (&x)[4][4], int place) const {
    double2* const at = waiting_ + place * pairs;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const double2 pair = at[i * 32];
      at[i * 32] = make_double2(x[i / 2][i % 2 * 2], x[i / 2][i % 2 * 2 + 1]);
      x[i / 2][i % 2 * 2] = pair.x;
      x[i / 2][i % 2 * 2 + 1] = pair.y;
    }
  }
  /// Moves the first chunk in registers to the end, or (transposed) the last one to the front.
  __device__ __forceinline__ void rotate() {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      constexpr int out = transpose ? 0 : 2, in = 2 - out;
      const double x = x_[out][i / 4][i % 4];
      x_[out][i / 4][i % 4] = x_[1][i / 4][i % 4];
      x_[1][i / 4][i % 4] = x_[in][i / 4][i % 4];
      x_[in][i / 4][i % 4] = x;
    }
  }

  /// Calls f(number, r, s) for the products with the first factor, by rows: the sums of s = 0 are complete first.
  template <class F>
  __device__ __forceinline__ static void for_first(const F& f) {
    int number = 0;
#pragma unroll
    for (int r = 0; r < 12; ++r)
#pragma unroll
      for (int s = 0; s < 4; ++s)
        if (First::there(r, s)) f(number++, r, s);
  }
  /// Calls f for the products with the second factor, by columns, s = 0 first; the chunk that leaves the registers is
  /// complete first.
  template <class F>
  __device__ __forceinline__ static void for_second(const F& f) {
    int number = 0;
#pragma unroll
    for (int s = 0; s < 4; ++s)
#pragma unroll
      for (int i = 0; i < 12; ++i) {
        const int r = transpose ? i : 4 * (2 - i / 4) + i % 4;
        if (Second::there(r, s)) f(number++, r, s);
      }
  }
  /// Returns a factor's fragments after it has arrived.
  __device__ __forceinline__ const T* factor() const {
    ring_.begin_reading();
    return factors_ + ring_.read() * place_size + lane_ / 4 % 2 * odd_panels + 4 * (lane_ % 4) + lane_ / 8;
  }
  __device__ __forceinline__ void begin_first() {
    const T* const f = factor();
    for_first([&](int number, int r, int s) {
      if (number < ahead) begin_[number].load(f + First::by_columns(r, s) * 32);
    });
    f_ = f;
  }
  __device__ __forceinline__ void begin_second() {
    const T* const f = factor();
    for_second([&](int number, int r, int s) {
      if (number < ahead) begin_[number].load(f + Second::by_rows(r, s) * 32);
    });
    f_ = f;
  }

  /// Multiplies by the first factor. The last products run while the next factor's first fragments are read.
  __device__ __forceinline__ void project(int turn) {
    constexpr int end = First::count - ahead;
    const T* const f = f_;
    Right first[ahead], last[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i) first[i] = begin_[i];
#pragma unroll
    for (int i = 0; i < 16; ++i) w_[i / 4][i % 4] = 0;
    Left left;
    for_first([&](int number, int r, int s) {
      if (number == end) {
        for_first([&](int n, int row, int column) {
          if (n >= end) last[n - end].load(f + First::by_columns(row, column) * 32);
        });
        ring_.end_reading();
        fetch_first(turn + 1);
        begin_second();
      }
      Right other;
      if (number >= ahead && number < end) other.load(f + First::by_columns(r, s) * 32);
      const Right& right = number < ahead ? first[number] : number < end ? other : last[number - end];
      if (s == 0 || !First::there(r, s - 1)) left = x_[r / 4][r % 4];
      multiply_add(w_[s], left.a, right.b);
    });
  }
  __device__ __forceinline__ void correct(int turn, int place) {
    constexpr int end = Second::count - ahead, out = transpose ? 0 : 2;
    const T* const f = f_;
    Right first[ahead], last[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i) first[i] = begin_[i];
    Left left;
    for_second([&](int number, int r, int s) {
      if (number == end) {
        for_second([&](int n, int row, int column) {
          if (n >= end) last[n - end].load(f + Second::by_rows(row, column) * 32);
        });
        ring_.end_reading();
        fetch_second(turn + 1);
        if (turn + 1 < blocks * hops_) begin_first();
        exchange(x_[out], place);
      }
      Right other;
      if (number >= ahead && number < end) other.load(f + Second::by_rows(r, s) * 32);
      const Right& right = number < ahead ? first[number] : number < end ? other : last[number - end];
      if (r == (transpose ? s : 8)) left = w_[s];
      const double minus[4] = {-left.a[0], -left.a[1], -left.a[2], -left.a[3]};
      multiply_add(x_[r / 4][r % 4], minus, right.b);
    });
  }

  __device__ __forceinline__ void wait_for_rows() const {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
  }
  /// Loads the first hop's rows: three chunks stay in registers, the others wait.
  __device__ __forceinline__ void begin() {
    constexpr int stays = transpose ? 0 : 3, waits = 3 - stays;
    const int hop = hop_of(0);
#pragma unroll 1
    for (int i = 0; i < 6; ++i) {
      const int c = (i < 3 ? waits : stays - 3) + i;
      order(0, (2 * hop + c) * chunk);
      wait_for_rows();
      if (i < 3) {
        take(0, x_[0]);
        exchange(x_[0], (2 * hop + c) % 3);
      } else {  // the last chunk to arrive is the last one in registers
#pragma unroll
        for (int j = 0; j < 16; ++j) {
          x_[0][j / 4][j % 4] = x_[1][j / 4][j % 4];
          x_[1][j / 4][j % 4] = x_[2][j / 4][j % 4];
        }
        take(0, x_[2]);
      }
    }
  }
  __device__ __forceinline__ void carry() {
    constexpr int stays = transpose ? 0 : 2, goes = transpose ? 0 : 1;  // after a hop, two chunks
    begin();
    begin_first();
#pragma unroll 1
    for (int step = 0; step < hops_; ++step) {
      const int hop = hop_of(step), top = 2 * hop * chunk;
      const bool last = step + 1 == hops_;
#pragma unroll 1
      for (int i = 0; i < 2 && !last; ++i) order(i, top + ((transpose ? -2 : 6) + i) * chunk);
#pragma unroll 1
      for (int turn = blocks * step; turn < blocks * (step + 1); ++turn) {
        const int block = transpose ? turn % blocks : blocks - 1 - turn % blocks;
        project(turn);
        correct(turn, (2 * hop + block + stays) % 3);
        rotate();
      }
      store(x_[goes], top + (transpose ? 4 : 0) * chunk);
      store(x_[goes + 1], top + (transpose ? 5 : 1) * chunk);
      wait_for_rows();
      if (last) break;
      take(0, x_[goes]);
      take(1, x_[goes + 1]);
    }
    finish(hop_of(hops_ - 1));
  }
  /// Stores the chunk that arrived last, and the waiting chunks.
  __device__ __forceinline__ void finish(int hop) {
    store(x_[transpose ? 2 : 0], (2 * hop + (transpose ? 0 : 5)) * chunk);
#pragma unroll 1
    for (int c = transpose ? 1 : 2, i = 0; i < 3; ++i, ++c) {
      exchange(x_[1], (2 * hop + c) % 3);
      store(x_[1], (2 * hop + c) * chunk);
    }
  }
};

template <class T, bool transpose>
__global__ void __launch_bounds__(32 * BulgeColumns<T, transpose>::most_warps, 1)
    apply_columns([[maybe_unused]] const __grid_constant__ Strip<T> strip) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ double2 shared[];
  BulgeColumns<T, transpose>(strip, shared).run();
#endif
}

}  // namespace tesela::kernels
