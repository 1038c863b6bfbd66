#include <tesela/codelets/dense/gemm_launch.hpp>
#include <tesela/codelets/support/internal/bulk_copy.cuh>
#include <tesela/codelets/support/internal/mma_f64.cuh>

#include <cuda_runtime.h>

// The tuned product in double for sm_90a, where registers can move between warps.
//
// Two blocks share a multiprocessor. In each block four warps multiply on the FP64 tensor cores, each 64 x 32 or 32 x
// 64 of C. Four more warps give most of their registers to these; one of their threads requests slices of A and B in
// advance, box by box. Barriers in shared memory signal that a slice has arrived and that all warps have read it, so
// the multiplying warps neither compute addresses of copies nor wait for each other.
//
// Lane 4 g + t of m16n8k8 holds rows g, g + 8 and k slots t, t + 4 of A; the same slots and column g of B; rows g, g +
// 8 and columns 2t, 2t + 1 of C. The assignment of rows to g and of k to slots t is free (gemm_tuned.cuh). It is chosen
// such that every read is of two neighbours and that eight lanes, which read 16 bytes each at once, touch every bank.

namespace tesela::kernels {
namespace {

constexpr int block_m = 128, block_n = 64, depth = 16, stages = 4, blocks = 2;
constexpr int multiplying = 4, threads = 32 * 2 * multiplying;
constexpr int line = 128;  // bytes per line; the hardware stores 16-byte piece q of line l at q ^ (l % 8)
constexpr int a_bytes = block_m * line, stage_bytes = (block_m + block_n) * line;
constexpr int shared_bytes = stages * (stage_bytes + 16) + 1024;  // slices, barriers, alignment
static_assert(depth * sizeof(double) == line);

struct Operands {
  BoxMap a, b;
};

/// The fastest layouts at 8192 x 8192 x 8192: a warp's part of C, and the height in tiles of the bands of C in which
/// blocks run.
template <bool OpA, bool OpB>
struct Way {
  static constexpr int warp_m = OpA && !OpB ? 32 : 64, warp_n = block_m * block_n / multiplying / warp_m;
  static constexpr int band = OpA == OpB ? 8 : OpA ? 16 : 4;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ void wait(unsigned barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
}

__device__ void copy_box(unsigned to, const BoxMap& boxes, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(to),
      "l"(&boxes.map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

/// Copies a slice of an operand; x is a row of op(A) or a column of op(B), and l runs along k. If l is contiguous, a
/// line holds all l of one x. Otherwise it holds 16 x of one l, and 16 lines make a box.
template <bool DepthContiguous, int Extent>
__device__ void copy_slice(unsigned to, const BoxMap& boxes, int x0, int l0, unsigned barrier) {
  if constexpr (DepthContiguous) {
    copy_box(to, boxes, l0, x0, barrier);
  } else {
#pragma unroll
    for (int x = 0; x < Extent; x += 16) copy_box(to + x * line, boxes, x0 + x, l0, barrier);
  }
}

__device__ void read_pair(double& first, double& second, unsigned from) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(first), "=d"(second) : "r"(from));
}

/// Positions of a lane's pairs in a slice.
struct Places {
  int g, t, spread;  // spread: row or column (of eight) that g denotes if k is contiguous
  unsigned deep, wide[2];

  __device__ explicit Places(int lane) : g(lane / 4), t(lane % 4), spread(g / 2 + 4 * (g % 2)) {
    deep = static_cast<unsigned>(spread * line + ((t ^ spread) << 4));
    for (int half = 0; half < 2; ++half) {
      const int l = 2 * t + half;
      wide[half] = static_cast<unsigned>(l * line + ((g ^ l) << 4));
    }
  }
  /// Returns the address of k slots 2t, 2t + 1 of panel `step` (eight k), row or column x + spread.
  __device__ unsigned along_k(int step, int x) const {
    return (deep ^ static_cast<unsigned>(64 * step)) + static_cast<unsigned>(x * line);
  }
  /// Returns the address of rows or columns x + 2g, x + 2g + 1 at k slot 2t + half of panel `step`.
  __device__ unsigned across_k(int step, int x, int half) const {
    return wide[half] + static_cast<unsigned>(x * line + 8 * step * line);
  }
};
#endif

template <bool OpA, bool OpB>
__global__ void __launch_bounds__(threads, blocks)
    bulk_kernel([[maybe_unused]] const __grid_constant__ Operands operands,
                [[maybe_unused]] const __grid_constant__ GemmProblem<double> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char raw[];
  const unsigned base = (static_cast<unsigned>(__cvta_generic_to_shared(raw)) + 1023) / 1024 * 1024;
  const unsigned full = base + stages * stage_bytes, empty = full + 8 * stages;
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0), lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty + 8 * s), "n"(multiplying) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  // Blocks that run at the same time cover a near-square patch of C, so that they read the same slices from L2.
  using W = Way<OpA, OpB>;
  constexpr int warp_m = W::warp_m, warp_n = W::warp_n, band = W::band, frags_m = warp_m / 16, frags_n = warp_n / 8;
  const int tiles_m = static_cast<int>((p.m + block_m - 1) / block_m), id = static_cast<int>(blockIdx.x);
  const int tiles_n = static_cast<int>((p.n + block_n - 1) / block_n), first = id / (band * tiles_n) * band;
  const int width = tiles_m - first < band ? tiles_m - first : band, within = id % (band * tiles_n);
  const int i0 = (first + within % width) * block_m, j0 = within / width * block_n;
  const int slices = static_cast<int>((p.k + depth - 1) / depth);

  if (warp >= multiplying) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (warp > multiplying || lane > 0) return;
    for (int s = 0; s < slices; ++s) {
      const int stage = s % stages;
      if (s >= stages) wait(empty + 8 * stage, (s / stages - 1) & 1);
      const unsigned to = base + stage * stage_bytes, barrier = full + 8 * stage;
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "n"(stage_bytes)
                   : "memory");
      copy_slice<OpA, block_m>(to, operands.a, i0, s * depth, barrier);
      copy_slice<!OpB, block_n>(to + a_bytes, operands.b, j0, s * depth, barrier);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");

  const Places at(lane);
  const int row0 = warp % (block_m / warp_m) * warp_m, col0 = warp / (block_m / warp_m) * warp_n;
  double acc[frags_m][frags_n][4] = {}, rows[2][4], columns[2][frags_n][2];
  unsigned here = base;
  const auto read_rows = [&](double(&f)[4], int step, int mi) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (OpA)
        read_pair(f[half], f[half + 2], here + at.along_k(step, row0 + 16 * mi + 8 * half));
      else
        read_pair(f[2 * half], f[2 * half + 1], here + at.across_k(step, row0 + 16 * mi, half));
    }
  };
  const auto read_columns = [&](double(&f)[frags_n][2], int step) {
#pragma unroll
    for (int ni = 0; ni < frags_n; ++ni) {
      const int half = ni % 2, even = ni - half;
      if (OpB)
        read_pair(f[even][half], f[even + 1][half], here + a_bytes + at.across_k(step, col0 + 8 * even, half));
      else
        read_pair(f[ni][0], f[ni][1], here + a_bytes + at.along_k(step, col0 + 8 * ni));
    }
  };
  int stage = 0;
  unsigned parity = 0;
  wait(full, 0);
  read_columns(columns[0], 0);
  read_rows(rows[0], 0, 0);
  for (int s = 0; s < slices; ++s) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
#pragma unroll
      for (int mi = 0; mi < frags_m; ++mi) {  // the next fragments are read first
        if (mi + 1 < frags_m) {
          read_rows(rows[(mi + 1) % 2], step, mi + 1);
        } else if (step == 0) {
          read_columns(columns[1], 1);
          read_rows(rows[0], 1, 0);
        } else {
          __syncwarp();
          if (lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empty + 8 * stage) : "memory");
          if (++stage == stages) stage = 0, parity ^= 1;
          here = base + stage * stage_bytes;
          if (s + 1 < slices) {
            wait(full + 8 * stage, parity);
            read_columns(columns[0], 0);
            read_rows(rows[0], 0, 0);
          }
        }
#pragma unroll
        for (int ni = 0; ni < frags_n; ++ni) multiply_add(acc[mi][ni], rows[mi % 2], columns[step][ni]);
      }
    }
  }

#pragma unroll
  for (int ni = 0; ni < frags_n; ++ni) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int column = OpB ? 16 * (ni / 2) + 2 * (2 * at.t + e) + ni % 2 : 8 * ni + at.t + 4 * e;
      const index_t j = j0 + col0 + column;
      if (j >= p.n) continue;
#pragma unroll
      for (int mi = 0; mi < frags_m; ++mi) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const index_t i = i0 + row0 + 16 * mi + (OpA ? 8 * half + at.spread : 2 * at.g + half);
          if (i >= p.m) continue;
          double& c = p.c[i + j * p.ldc];
          const double sum = acc[mi][ni][2 * half + e];
          c = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * c;
        }
      }
    }
  }
#endif
}

bool is_aligned(const double* data, index_t ld) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % 2 == 0;
}

/// Describes the boxes of an operand to the hardware: lines along k, or boxes of 16 lines across k.
bool describe(BoxMap& boxes, const double* data, index_t ld, bool depth_contiguous, index_t extent, index_t k,
              int tile) {
  return depth_contiguous ? describe_boxes(boxes, data, k, extent, ld, depth, tile, CU_TENSOR_MAP_SWIZZLE_128B)
                          : describe_boxes(boxes, data, extent, k, ld, 16, depth, CU_TENSOR_MAP_SWIZZLE_128B);
}

template <bool OpA, bool OpB>
int launch(CUstream_st* stream, const GemmProblem<double>& p, index_t tiles) {
  const auto kernel = bulk_kernel<OpA, OpB>;
  Operands operands{};
  if (!describe(operands.a, p.a, p.lda, OpA, p.m, p.k, block_m) ||
      !describe(operands.b, p.b, p.ldb, !OpB, p.n, p.k, block_n))
    return gemm_bulk_declines;
  if (const int status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes))
    return status;
  kernel<<<static_cast<unsigned>(tiles), threads, shared_bytes, stream>>>(operands, p);
  return cudaGetLastError();
}

}  // namespace

int gemm_bulk(CUstream_st* stream, const GemmProblem<double>& p, index_t least_tiles) {
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.alpha == 0 || !is_aligned(p.a, p.lda) || !is_aligned(p.b, p.ldb))
    return gemm_bulk_declines;
  int device = 0, major = 0, minor = 0, processors = 0;
  if (const int status = cudaGetDevice(&device)) return status;
  if (const int status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device)) return status;
  if (const int status = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device)) return status;
  if (const int status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) return status;
  const index_t tiles = ceil_div(p.m, block_m) * ceil_div(p.n, block_n);
  if (major != 9 || minor != 0 || tiles < (least_tiles > 0 ? least_tiles : blocks * processors))
    return gemm_bulk_declines;
  if (p.op_a == Op::none)
    return p.op_b == Op::none ? launch<false, false>(stream, p, tiles) : launch<false, true>(stream, p, tiles);
  return p.op_b == Op::none ? launch<true, false>(stream, p, tiles) : launch<true, true>(stream, p, tiles);
}

}  // namespace tesela::kernels
