#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/codelets/eigen/internal/block_product.cuh>
#include <tesela/codelets/eigen/internal/bulge_columns.cuh>

#include <cuda_pipeline.h>

// Kernels for all shapes that BulgeColumns does not handle. A thread block moves a strip of columns of C through a
// bundle. A ring in shared memory holds the rows that the blocks of one hop change, and the additional rows of the next
// hop. While one factor of a block reflector is applied, the next factor is copied.

namespace tesela::kernels {
namespace {

/// Kernel for block reflectors of width W and length L, or up to that size (rounded up), and N columns of C.
template <class T, int W, int L, int N, bool exact>
struct Applier {
  static constexpr int threads = 256, ld_first = W + 4, ld_second = L + 4, ld_w = W + 4, pack = 16 / int{sizeof(T)};
  __host__ __device__ static constexpr int ld_ring(int rows) { return ceil_to_16(rows) + 4; }
  __host__ __device__ static constexpr int at_least_one(int count) { return count > 0 ? count : 1; }
  __host__ __device__ static constexpr int ceil_to_16(int rows) { return (rows + 15) / 16 * 16; }
  __host__ __device__ static constexpr int elements(int ring) {
    return ld_first * L + ld_second * W + ld_w * N + ld_ring(ring) * N;
  }

  const Strip<T>& strip;
  T *first, *second, *w, *x;
  int ring, ldx, k = W, rows = L, b, span;
  index_t base, column;
  const int me = static_cast<int>(threadIdx.x), warp = me / 32, lane = me % 32;

  __device__ Applier(const Strip<T>& s, T* memory) : strip(s) {
    first = memory;
    second = first + ld_first * L;
    w = second + ld_second * W;
    x = w + ld_w * N;
    ring = s.ring;
    ldx = ld_ring(ring);
    if constexpr (!exact) {
      k = static_cast<int>(s.plan.width);
      rows = static_cast<int>(s.plan.length());
    }
    b = static_cast<int>(s.plan.chase.b);
    span = static_cast<int>(s.plan.blocks - 1) * k + rows;
    base = s.plan.chase.row(s.plan.first_sweep(s.bundle), 0);
    column = index_t{blockIdx.x} * N;
  }

  /// Clears the buffers: parts outside the factors' shapes stay zero.
  __device__ void clear() const {
    for (int i = me; i < ld_first * L + ld_second * W; i += threads) first[i] = T(0);
    __syncthreads();
  }
  /// Copies m x n elements, stored in panels of four rows, to columns `ld` apart.
  __device__ void copy_factor(T* to, int ld, int m, int n, const T* from) const {
    for (int i = me * pack; i < m * n; i += threads * pack)
      __pipeline_memcpy_async(to + i / (4 * n) * 4 + i % 4 + i / 4 % n * ld, from + i, 16);
  }
  __device__ void load_first(int hop, int q) const {
    const T* const from = strip.factors + strip.plan.column(q, hop) * strip.ld;
    const int k = exact ? W : this->k, rows = exact ? L : this->rows;
    copy_factor(first, ld_first, k, rows, from);
  }
  __device__ void load_second(int hop, int q) const {
    const int k = exact ? W : this->k, rows = exact ? L : this->rows;
    const T* const from = strip.factors + strip.plan.column(q, hop) * strip.ld + k * rows;
    copy_factor(second, ld_second, rows, k, from);
  }

  /// Calls f(address in C, address in the ring) for the rows from `begin` on, counted from the bundle's first row.
  template <class F>
  __device__ void for_rows(int begin, int count, const F& f) const {
    for (int i = me % 32; i < count; i += 32) {
      const index_t global = base + begin + i;
      if (global >= strip.plan.chase.n) break;
      const index_t in_tiles = global - strip.row, tile = in_tiles / strip.height, top = in_tiles - tile * strip.height;
      T* const c = strip.c[tile] + top;
      const index_t ldc = strip.ldc[tile];
      const int slot = (begin + i) % ring;
      for (int j = me / 32; j < N && column + j < strip.columns; j += threads / 32)
        f(c + (column + j) * ldc, x + j * ldx + slot);
    }
  }
  __device__ void load_rows(int begin, int count) const {
    for_rows(begin, count, [](const T* c, T* in) { __pipeline_memcpy_async(in, c, sizeof(T)); });
  }
  __device__ void store_rows(int begin, int count) const {
    for_rows(begin, count, [](T* c, const T* in) { *c = *in; });
  }

  /// Computes W = first X, with X from row `top` of the ring on.
  template <bool transpose>
  __device__ void project(int top) const {
    constexpr int tiles_m = W / 16, groups_n = threads / 32 / tiles_m, tiles_n = at_least_one(N / 8 / groups_n),
                  // V's column t begins in row t and has at most L - W elements.
        depth = transpose ? L : L - W + 16;
    const int m = warp % tiles_m * 16, n = warp / tiles_m * tiles_n * 8, begin = transpose ? 0 : m,
              rows = exact ? L : this->rows;
    if (n >= N) return;
    T sums[1][tiles_n][4] = {};
    block_product<1, tiles_n, depth>(sums, lane, first + m + begin * ld_first, ld_first, [&](int r, int j) {
      const int slot = top + begin + r;
      return begin + r < rows ? x[(n + j) * ldx + (slot < ring ? slot : slot - ring)] : T(0);
    });
    for_fragment<1, tiles_n>(lane,
                             [&](int mi, int ni, int e, int i, int j) { w[(n + j) * ld_w + m + i] = sums[mi][ni][e]; });
  }
  /// Computes X -= second W.
  __device__ void correct(int top) const {
    constexpr int groups_m = L / 16 % 2 == 0 ? 2 : 1, tiles_m = L / 16 / groups_m, groups_n = threads / 32 / groups_m,
                  tiles_n = at_least_one(N / 8 / groups_n);
    const int m = warp % groups_m * tiles_m * 16, n = warp / groups_m * tiles_n * 8;
    if (n >= N) return;
    const int rows = exact ? L : this->rows;
    T sums[tiles_m][tiles_n][4] = {};
    block_product<tiles_m, tiles_n, W>(sums, lane, second + m, ld_second,
                                       [&](int t, int j) { return w[(n + j) * ld_w + t]; });
    for_fragment<tiles_m, tiles_n>(lane, [&](int mi, int ni, int e, int i, int j) {
      const int r = m + i, slot = top + r;
      if (r < rows) x[(n + j) * ldx + (slot < ring ? slot : slot - ring)] -= sums[mi][ni][e];
    });
  }

  struct Place {
    int hop, turn;
  };
  __device__ int block_of(Place p) const {
    return strip.transpose ? p.turn : static_cast<int>(strip.plan.blocks) - 1 - p.turn;
  }
  /// Returns the first existing block from this place on; hop is -1 or hops() after the last block.
  __device__ Place existing(Place p, int hops) const {
    const int blocks = static_cast<int>(strip.plan.blocks);
    while (p.hop >= 0 && p.hop < hops) {
      if (p.turn == blocks)
        p = {strip.transpose ? p.hop - 1 : p.hop + 1, 0};
      else if (strip.plan.exists(strip.bundle, block_of(p), p.hop))
        return p;
      else
        ++p.turn;
    }
    return p;
  }

  __device__ void run() const {
    const int hops = static_cast<int>(strip.plan.hops(strip.bundle));
    Place p = existing({strip.transpose ? hops - 1 : 0, 0}, hops);
    clear();
    for (int i = me; i < ldx * N; i += threads) x[i] = T(0);
    __syncthreads();
    int window = p.hop;  // the hop whose rows are in the ring
    load_rows(window * b, span);
    load_first(p.hop, block_of(p));
    __pipeline_commit();
    while (p.hop >= 0 && p.hop < hops) {
      const int q = block_of(p), top = static_cast<int>((index_t{p.hop} * b + index_t{q} * k) % ring);
      __pipeline_wait_prior(0);
      __syncthreads();
      load_second(p.hop, q);
      __pipeline_commit();
      strip.transpose ? project<true>(top) : project<false>(top);
      const Place next = existing({p.hop, p.turn + 1}, hops);
      const bool last = next.hop < 0 || next.hop >= hops;
      __pipeline_wait_prior(0);
      __syncthreads();
      if (!last) load_first(next.hop, block_of(next));
      if (!last && next.hop != p.hop) load_rows(strip.transpose ? next.hop * b : p.hop * b + span, b);
      __pipeline_commit();
      correct(top);
      if (!last && next.hop != p.hop) {
        __syncthreads();
        store_rows(strip.transpose ? next.hop * b + span : p.hop * b, b);
        window = next.hop;
      }
      p = next;
    }
    __syncthreads();
    store_rows(window * b, span);
  }
};

template <class T, int W, int L, int N, bool exact>
__global__ void __launch_bounds__(Applier<T, W, L, N, exact>::threads) apply_strip(Strip<T> strip) {
  extern __shared__ double2 memory[];
  Applier<T, W, L, N, exact>(strip, reinterpret_cast<T*>(memory)).run();
}

template <class T, int W, int L, int N, bool exact>
int launch(CUstream_st* stream, const Strip<T>& strip) {
  using Kernel = Applier<T, W, L, N, exact>;
  const int bytes = Kernel::elements(strip.ring) * int{sizeof(T)};
  const auto kernel = apply_strip<T, W, L, N, exact>;
  const int status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != 0) {
    cudaGetLastError();  // handled here; later calls must not see the error
    return status;
  }
  kernel<<<static_cast<unsigned>(ceil_div(strip.columns, N)), Kernel::threads, bytes, stream>>>(strip);
  return static_cast<int>(cudaGetLastError());
}

/// Applies the bundle: one strip per multiprocessor. Narrow strips serve GPUs with too little shared memory for a wide
/// one.
template <class T>
int launch_strips(CUstream_st* stream, const Strip<T>& strip) {
  const BulgeBlocks& p = strip.plan;
  int status = -1;
  const bool exact = p.width == 32 && p.length() == 96, small = p.width <= 16 && p.length() <= 48;
  if (exact && strip.columns >= 6144) status = launch<T, 32, 96, 64, true>(stream, strip);
  if (status != 0)
    status = exact   ? launch<T, 32, 96, 32, true>(stream, strip)
             : small ? launch<T, 16, 48, 32, false>(stream, strip)
                     : launch<T, 32, 96, 32, false>(stream, strip);
  return status;
}

/// Returns the warps per block: four, one for each part of a multiprocessor, or eight, which need 1.4 times as long for
/// twice the columns.
inline int warps_of_columns(index_t columns, int processors) {
  const auto rounds = [&](int warps) { return ceil_div(ceil_div(columns, 16 * warps), processors); };
  return 7 * rounds(8) <= 5 * rounds(4) ? 8 : 4;
}

/// Runs BulgeColumns if the blocks have its shape, it is compiled for this GPU, and the FP64 tensor cores are as fast
/// as float's multiply-adds. Returns nonzero if it does not apply.
template <class T, bool transpose>
int launch_columns(CUstream_st* stream, const Strip<T>& strip) {
  using Columns = BulgeColumns<T, transpose>;
  const BulgeBlocks& p = strip.plan;
  if (p.chase.b != Columns::half_width || p.width != Columns::width || p.blocks != Columns::blocks ||
      strip.height < 32 || strip.ld % 4 != 0)
    return -1;
  const auto kernel = apply_columns<T, transpose>;
  int device = 0, processors = 1, ratio = 0;
  cudaFuncAttributes compiled{};
  int status = cudaGetDevice(&device);
  if (status == 0) status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (status == 0) status = cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  if (status == 0) status = cudaFuncGetAttributes(&compiled, kernel);
  if (status == 0 && (compiled.ptxVersion < 90 || (sizeof(T) == 4 && ratio > 2))) return -1;
  const int warps = warps_of_columns(strip.columns, processors), bytes = Columns::bytes(warps);
  if (status == 0) status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != 0) {
    cudaGetLastError();
    return status;
  }
  kernel<<<static_cast<unsigned>(ceil_div(strip.columns, 16 * warps)), 32 * warps, bytes, stream>>>(strip);
  return static_cast<int>(cudaGetLastError());
}

}  // namespace

template <class T>
void ApplyBulgeBlocks<T>::cuda(CudaContext& context, const Args& args, In<T> blocks, Scratch<T>,
                               std::span<const InOut<T>> c) {
  using R = real_t<T>;
  constexpr index_t parts = parts_of<T>;
  const BulgeBlocks p = plan_of_parts<T>(args.plan);
  if (!gpu_applies(p) || static_cast<index_t>(c.size()) > most_gpu_row_tiles) {
    context.check(cudaErrorInvalidValue, "apply_bulge_blocks: the sizes are too large");
    return;
  }
  if (c.empty() || c.front().cols == 0) return;
  Strip<R> strip{p,
                 args.bundle,
                 args.op != Op::none,
                 reinterpret_cast<const R*>(blocks.data),
                 parts * blocks.ld,
                 c.front().cols,
                 parts * args.row - (parts - 1),
                 parts * args.height,
                 static_cast<int>((p.blocks - 1) * p.width + p.length() + p.chase.b),
                 {},
                 {}};
  for (std::size_t i = 0; i < c.size(); ++i) {
    strip.c[i] = reinterpret_cast<R*>(c[i].data);
    strip.ldc[i] = parts * c[i].ld;
  }
  CUstream_st* const stream = context.stream();
  int status = strip.transpose ? launch_columns<R, true>(stream, strip) : launch_columns<R, false>(stream, strip);
  if (status != 0) status = launch_strips(stream, strip);
  context.check(status, "apply_bulge_blocks");
}

TESELA_CUDA_FOR_NUMBERS(ApplyBulgeBlocks)

}  // namespace tesela::kernels
