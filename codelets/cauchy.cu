#include "codelets/cauchy_kernels.hpp"
#include "codelets/cauchy_pivot.cuh"

// A group of thread blocks (one, or a cluster of up to 16) sweeps one block of C. All its rows stay in registers; a
// warp owns 32 R consecutive ones, so that its accesses to the table w are consecutive whatever the pivot is. Every
// step has one exchange: each warp has found the largest diagonal entry of its own rows and publishes it with that
// row's g and h; after one barrier all warps choose among these by themselves, and so know the next pivot's row.

namespace tesela::cauchy {
namespace {

struct Deal {
  int rows = 0;         ///< of a thread
  int warps = 0;        ///< of a thread block
  int cluster = 0;      ///< thread blocks for one block of C
  bool shared = false;  ///< the table is copied to shared memory
};

__host__ __device__ constexpr index_t first_half(index_t n) { return n - n / 2; }

/// w(k) for k = 1 - ceil(n / 2) ... n, zeros behind.
template <class T>
__global__ void fill_table(T* table, index_t n, index_t count) {
  const index_t i = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const index_t k = i - (first_half(n) - 1), size = k < 0 ? -k : k, near = size < n + 1 - size ? size : n + 1 - size;
  const double w = near > 0 ? 1 / sinpi(static_cast<double>(near) / static_cast<double>(n + 1)) : 0;
  table[i] = static_cast<T>(k < 0 ? -w : w);
}

constexpr int most_threads(int rows) { return rows <= 4 ? 1024 : rows <= 8 ? 768 : 512; }

template <class T, int R, bool Shared, bool Cluster>
__global__ void __launch_bounds__(most_threads(R)) sweep_kernel(DeviceSweep<T> in, int cluster) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Exchange<T> exchange;
  if constexpr (!Cluster) cluster = 1;
  const int lane = static_cast<int>(threadIdx.x % 32), rank = Cluster ? static_cast<int>(blockIdx.x) % cluster : 0;
  const index_t problem = blockIdx.x / static_cast<unsigned>(cluster), shift = problem / 2;
  const int part = static_cast<int>(problem % 2), n = static_cast<int>(in.n), half = static_cast<int>(first_half(n));
  const int rows = part == 0 ? half : n - half, first = part * half;
  const int of_block = static_cast<int>(threadIdx.x / 32) * 32 * R;  // the warp's rows in the thread block's
  const int start = rank * static_cast<int>(blockDim.x) * R, base = start + of_block;  // in all

  const T* w = in.table;
  if constexpr (Shared) {
    T* const copy = reinterpret_cast<T*>(memory);
    const int count = 3 * half + 32 * R + 1;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) copy[i] = in.table[i];
    w = copy;
  }
  w += half - 1 + base + lane;

  T g[R], h[R], d[R];
  unsigned left = 0, best = no_row;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    const int a = base + 32 * i + lane;
    g[i] = h[i] = d[i] = T(0);
    if (a < rows) {
      const T* const row = in.c + first + a;
      g[i] = row[0];
      h[i] = row[in.ld_c];
      d[i] = row[2 * in.ld_c] - static_cast<T>(in.sigma[shift]);
      left |= 1u << i;
      best = max(best, slot_key(d[i], i));
    }
  }
  exchange.start(cluster);

  int step = 0;
  for (; step < rows; ++step) {
    const unsigned key = exchange.best_of_block(row_key(best, static_cast<unsigned>(of_block + lane)), step);
    const int mine = static_cast<int>(row_of(key)) - of_block;
    if (static_cast<unsigned>(mine) < 32 * R) {
      if (mine % 32 == lane) {
        T gp = g[0], hp = h[0], dp = d[0];
#pragma unroll
        for (int i = 1; i < R; ++i)
          if (mine >= 32 * i) gp = g[i], hp = h[i], dp = d[i];
        const T scale = inverse_root(dp < T(0) ? -dp : dp);
        exchange.own = {gp * scale, hp * scale, dp, key, start + static_cast<int>(row_of(key))};
      }
      if constexpr (Cluster) {
        __syncwarp();
        exchange.send(step, rank, cluster, lane);
      }
    }
    if constexpr (!Cluster) __syncthreads();
    const Pivot<T>& pivot = Cluster ? exchange.receive(step, cluster, lane) : exchange.own;
    if (!usable<T>(Cluster ? pivot.key : key)) break;
    if (base >= rows) continue;

    const int p = Cluster ? pivot.row : static_cast<int>(row_of(key));
    const unsigned pivot_here = static_cast<unsigned>(p - base);
    if (pivot_here < 32 * R && static_cast<int>(pivot_here % 32) == lane) left &= ~(1u << pivot_here / 32);
    const T gp = pivot.g, hp = pivot.h, dp = pivot.d;
    const T *const sums = w + (p + part + 1), *const differences = w - p;
    best = no_row;
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const T c = (g[i] * hp - h[i] * gp) * (sums[32 * i] * differences[32 * i]), l = with_sign_of(c, dp);
      g[i] -= l * gp;
      h[i] -= l * hp;
      d[i] -= l * c;
      if (left >> i & 1) best = max(best, slot_key(d[i], i));
    }
    if (pivot_here < 32 * R) {
      const T inverse = T(1) / dp;
#pragma unroll
      for (int i = 0; i < R; ++i)
        if (static_cast<int>(pivot_here) == 32 * i + lane) {
          g[i] *= inverse;
          h[i] *= inverse;
          d[i] = -inverse;
        }
    }
    if (threadIdx.x == 0) exchange.note(dp);
  }
  exchange.finish(cluster);

  if (rank == 0 && threadIdx.x == 0) {
    double* const out = in.report + problem * in.ld_report;
    out[CauchyReport::negative] = exchange.negative;
    out[CauchyReport::breakdown] = step < rows ? step + 1 : 0;
    out[CauchyReport::smallest_pivot] = rows > 0 ? static_cast<double>(exchange.smallest) : 0;
    out[CauchyReport::largest] = static_cast<double>(exchange.largest);
  }
  if (in.inverse == nullptr) return;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    const int a = base + 32 * i + lane;
    if (a >= rows) continue;
    T* const out = in.inverse + first + a + 3 * shift * in.ld_inverse;
    out[0] = -g[i];
    out[in.ld_inverse] = h[i];
    out[2 * in.ld_inverse] = -d[i];
  }
}

template <class T, int R, bool Shared>
int launch(cudaStream_t stream, const DeviceSweep<T>& in, const Deal& deal) {
  auto* const kernel = deal.cluster > 1 ? sweep_kernel<T, R, Shared, true> : sweep_kernel<T, R, Shared, false>;
  const std::size_t bytes =
      Shared ? static_cast<std::size_t>(3 * first_half(in.n) + 32 * R + 1) * sizeof(T) : std::size_t{0};
  cudaError_t status = cudaSuccess;
  if (bytes > 48 * 1024)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (status == cudaSuccess && deal.cluster > 8)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (status != cudaSuccess) return status;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(deal.cluster);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(2 * in.shifts * deal.cluster));
  config.blockDim = dim3(static_cast<unsigned>(32 * deal.warps));
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = deal.cluster > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, in, deal.cluster);
}

template <class T>
int launch(cudaStream_t stream, const DeviceSweep<T>& in, const Deal& deal) {
  switch (deal.rows) {
    case 4:
      return deal.shared ? launch<T, 4, true>(stream, in, deal) : launch<T, 4, false>(stream, in, deal);
    case 8:
      return deal.shared ? launch<T, 8, true>(stream, in, deal) : launch<T, 8, false>(stream, in, deal);
    case 12:
      return deal.shared ? launch<T, 12, true>(stream, in, deal) : launch<T, 12, false>(stream, in, deal);
    default:
      return deal.shared ? launch<T, 16, true>(stream, in, deal) : launch<T, 16, false>(stream, in, deal);
  }
}

Deal deal_rows(index_t n, index_t shifts, std::size_t element) {
  (void)shifts;
  (void)element;
  const int rows = static_cast<int>(first_half(n));
  const auto warps = [&](int r, int cluster) { return static_cast<int>(ceil_div(ceil_div(rows, cluster), 32 * r)); };
  for (int cluster = 1; cluster <= 16; cluster *= 2)
    if (warps(16, cluster) <= 8) return {16, warps(16, cluster), cluster, n <= 8192};
  return {16, warps(16, 16), 16, false};
}

}  // namespace

template <class T>
int sweep(void* stream, const DeviceSweep<T>& in) {
  if (in.n == 0 || in.shifts == 0) return cudaSuccess;
  auto* const s = static_cast<cudaStream_t>(stream);
  const index_t count = cauchy_table(in.n);
  fill_table<<<static_cast<unsigned>(ceil_div(count, index_t{256})), 256, 0, s>>>(in.table, in.n, count);
  const int status = cudaGetLastError();
  return status != cudaSuccess ? status : launch(s, in, deal_rows(in.n, in.shifts, sizeof(T)));
}

template int sweep<float>(void*, const DeviceSweep<float>&);
template int sweep<double>(void*, const DeviceSweep<double>&);

}  // namespace tesela::cauchy
