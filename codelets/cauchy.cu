#include "codelets/cauchy_kernels.hpp"
#include "codelets/cauchy_pivot.cuh"

// A group of thread blocks (one, or a cluster of up to 16) sweeps one block of C. All its rows stay in registers; a warp
// owns 32 R consecutive ones, so that its accesses to the table w are consecutive whatever the pivot is. Every step has
// one exchange: each warp has found the largest diagonal entry of its own rows and publishes it with that row's g and h;
// after one barrier all warps choose among these by themselves, and so know the next pivot's row.

namespace tesela::cauchy {
namespace {

struct Deal {
  int rows = 0;     ///< of a thread
  int warps = 0;    ///< of a thread block
  int cluster = 0;  ///< thread blocks for one block of C
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

template <class T, int R, bool Shared>
__global__ void __launch_bounds__(R > 8 ? 512 : R > 4 ? 640 : 1024) sweep_kernel(DeviceSweep<T> in, int cluster) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Exchange<T> exchange;
  const int lane = static_cast<int>(threadIdx.x % 32), warps = static_cast<int>(blockDim.x / 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int rank = static_cast<int>(blockIdx.x) % cluster;
  const index_t problem = blockIdx.x / cluster, shift = problem / 2;
  const int part = static_cast<int>(problem % 2), n = static_cast<int>(in.n);
  const int half = static_cast<int>(first_half(n)), rows = part == 0 ? half : n - half, first = part * half;
  const int own_warp = rank * warps + warp, base = own_warp * 32 * R;  // the warp's rows
  const bool idle = base >= rows;

  const T* w = in.table;
  if constexpr (Shared) {
    T* const copy = reinterpret_cast<T*>(memory);
    const int count = 3 * half + 32 * R + 1;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) copy[i] = in.table[i];
    w = copy;
  }
  w += half - 1 + base + lane;

  T g[R], h[R], d[R];
  unsigned left = 0, best = 0;
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
      best = max(best, pivot_key<R>(d[i], i));
    }
  }
  exchange.start(cluster);

  int step = 0;
  for (; step < rows; ++step) {
    const unsigned key = __reduce_max_sync(~0u, best | (31u - static_cast<unsigned>(lane)));
    if (lane == lane_of(key)) {
      const int slot = slot_of<R>(key);
#pragma unroll
      for (int i = 0; i < R; ++i)
        if (i == slot) exchange.candidate(step, warp) = {g[i], h[i], d[i], key, base + 32 * i + lane};
      exchange.key(step, warp) = key;
    }
    const Candidate<T> pivot = exchange.choose(step, warp, warps, rank, cluster, lane);
    if (!usable<T>(pivot.key)) break;
    if (threadIdx.x == 0) exchange.note(pivot.d);
    if (idle) continue;

    const int p = pivot.row;
    const bool mine = p >= base && p < base + 32 * R;
    if (p % 32 == lane && mine) left &= ~(1u << (p - base) / 32);
    const T scale = inverse_root(pivot.d < T(0) ? -pivot.d : pivot.d), gp = pivot.g * scale, hp = pivot.h * scale;
    const T gs = pivot.d < T(0) ? -gp : gp, hs = pivot.d < T(0) ? -hp : hp;
    const T *const sums = w + (p + part + 1), *const differences = w - p;
    best = 0;
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const T c = (g[i] * hp - h[i] * gp) * (sums[32 * i] * differences[32 * i]);
      g[i] -= c * gs;
      h[i] -= c * hs;
      d[i] -= with_sign_of(c, pivot.d) * c;
      if (left >> i & 1) best = max(best, pivot_key<R>(d[i], i));
    }
    if (mine) {
#pragma unroll
      for (int i = 0; i < R; ++i)
        if (base + 32 * i + lane == p) {
          g[i] = gs * scale;
          h[i] = hs * scale;
          d[i] = T(-1) / pivot.d;
        }
    }
  }
  exchange.finish(cluster);

  if (own_warp == 0 && lane == 0) {
    double* const out = in.report + problem * in.ld_report;
    out[CauchyReport::negative] = exchange.negative;
    out[CauchyReport::breakdown] = step < rows ? step + 1 : 0;
    out[CauchyReport::smallest_pivot] = rows > 0 ? exchange.smallest : 0;
    out[CauchyReport::largest] = exchange.largest;
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
  auto* const kernel = sweep_kernel<T, R, Shared>;
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
    case 4: return deal.shared ? launch<T, 4, true>(stream, in, deal) : launch<T, 4, false>(stream, in, deal);
    case 8: return deal.shared ? launch<T, 8, true>(stream, in, deal) : launch<T, 8, false>(stream, in, deal);
    default: return deal.shared ? launch<T, 16, true>(stream, in, deal) : launch<T, 16, false>(stream, in, deal);
  }
}

Deal deal_rows(index_t n, index_t shifts, std::size_t element) {
  (void)shifts; (void)element;
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
