#pragma once

#include "codelets/gemm_kernels.hpp"

#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// The skeleton that the tuned float and double kernels share.
//
// A block of 8 warps owns a 128 x 128 tile of C in registers. Slices of op(A) and op(B), `Slice::depth` deep, stream
// through a ring of `stages` buffers in shared memory by cp.async, so a slice is in flight for several slices' worth of
// arithmetic. Warps multiply on the tensor cores with the m16n8k8 shape, whose fragments are laid out alike for double
// and for float (tf32): lane = 4 g + t holds rows g, g + 8 and k slots t, t + 4 of A; k slots t, t + 4 and column g of
// B; rows g, g + 8 and columns 2t, 2t + 1 of C.
//
// The tensor core does not care which row we call g, nor which k we call t, as long as A, B and C agree. So fragments
// are permuted to make every shared-memory read a two-element vector: the k slots t, t + 4 are the neighbours
// 2t, 2t + 1; and where the operand is staged with its rows (columns) contiguous, the rows g, g + 8 are the neighbours
// 2g, 2g + 1. The store of C undoes the permutation.

namespace tesela::kernels::tuned {

constexpr int block_m = 128, block_n = 128;
constexpr int warp_m = 64, warp_n = 32;
constexpr int warps = (block_m / warp_m) * (block_n / warp_n);
constexpr int threads = 32 * warps;
constexpr int frags_m = warp_m / 16, frags_n = warp_n / 8;
constexpr int panel = 8;  // k of one tensor-core step

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

/// Copies `Bytes` to shared memory behind the thread's back; where `exists` is false, writes zeros and reads nothing.
template <int Bytes>
__device__ void copy_async(void* shared, const void* global, bool exists) {
#if __CUDA_ARCH__ >= 800
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = exists ? Bytes : 0;
  if constexpr (Bytes == 16) {  // .cg, past L1, exists for 16 bytes alone
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(global), "n"(Bytes), "r"(bytes)
                 : "memory");
  }
#endif
}

__device__ inline void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `Pending` of this thread's newest groups are still in flight.
template <int Pending>
__device__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

/// One operand's slice in shared memory: element (x, l), x along the rows of op(A) or the columns of op(B), l along k.
/// It keeps the contiguous dimension of global memory contiguous, so one copy instruction moves 16 bytes.
///
/// x contiguous: rows of `extent`, padded by 16 bytes; fragment reads then step 2t rows and g pairs, and meet each bank
/// once. k contiguous: panels of 8 k, dense within a panel (a fragment read covers whole lines); the gap between panels
/// spreads the panels over the banks for the copies, whose 8-lane phases touch every panel.
template <class T, int Extent, int Depth, bool DepthContiguous>
struct Slice {
  static constexpr int pitch = Extent + 16 / int{sizeof(T)};
  static constexpr int panel_pitch = panel * Extent + 128 / int{sizeof(T)} / (Depth / panel);
  static constexpr int size = DepthContiguous ? panel_pitch * (Depth / panel) : pitch * Depth;
  __device__ static constexpr int at(int x, int l) {
    return DepthContiguous ? (l / panel) * panel_pitch + x * panel + l % panel : l * pitch + x;
  }
};

/// Copies slices of one operand: `Vector` elements an instruction, each thread the same places of every slice. It keeps
/// nothing but a pointer (ld comes from the kernel's parameters each time): registers are what the kernel is short of.
template <class T, int Extent, int Depth, bool DepthContiguous, int Vector>
class SliceCopier {
  using Layout = Slice<T, Extent, Depth, DepthContiguous>;
  static constexpr int chunks = (DepthContiguous ? Depth : Extent) / Vector;  // along the contiguous dimension
  static constexpr int step = threads / chunks;                               // lines copied at once
  static constexpr int passes = (DepthContiguous ? Extent : Depth) / step;
  static_assert(threads % chunks == 0 && passes * step == (DepthContiguous ? Extent : Depth));

 public:
  /// `data` is the corner of the whole operand; this block's slices start at x0.
  __device__ SliceCopier(const T* data, index_t ld, index_t x0)
      : next_(data + (DepthContiguous ? (x0 + line()) * ld + offset() : x0 + offset() + line() * ld)) {}

  /// Starts copying the next slice: extent_left > 0 and depth_left > 0 remain of the operand in each direction, and
  /// what does not exist becomes zero.
  __device__ void operator()(T* shared, index_t ld, index_t extent_left, index_t depth_left) {
    const int extent = static_cast<int>(extent_left < Extent ? extent_left : Extent);
    const int depth = static_cast<int>(depth_left < Depth ? depth_left : Depth);
    const int left = (DepthContiguous ? depth : extent) - offset();
    const int valid = left < 0 ? 0 : left > Vector ? Vector : left;
    const int lines = (DepthContiguous ? extent : depth) - line();
    const T* source = next_;
    T* target = shared + (DepthContiguous ? Layout::at(line(), offset()) : Layout::at(offset(), line()));
    if (valid == 0 || valid == Vector) {
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
        copy_async<Vector* int{sizeof(T)}>(target, source, pass * step < lines && valid > 0);
        source += step * ld;
        target += DepthContiguous ? Layout::at(step, 0) : Layout::at(0, step);
      }
    } else {  // across the operand's edge: by elements
#pragma unroll 1
      for (int pass = 0; pass < passes; ++pass) {
        for (int e = 0; e < Vector; ++e) {
          copy_async<int{sizeof(T)}>(target + e, source + e, pass * step < lines && e < valid);
        }
        source += step * ld;
        target += DepthContiguous ? Layout::at(step, 0) : Layout::at(0, step);
      }
    }
    next_ = DepthContiguous ? next_ + Depth : source;
  }

 private:
  __device__ static int offset() { return static_cast<int>(threadIdx.x) % chunks * Vector; }
  __device__ static int line() { return static_cast<int>(threadIdx.x) / chunks; }

  const T* next_;
};

/// A fragment of 16 rows for one step of Panels * 8 k: a[q][h + 2 i] is panel q, row half h, k slot half i. `a` is the
/// slice from the fragment's first row on.
template <class Layout, bool OpA, class T, std::size_t Panels>
__device__ void read_rows(T (&f)[Panels][4], const T* a, int l0) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int q = 0; q < static_cast<int>(Panels); ++q) {
    const int l = l0 + q * panel + 2 * t;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = OpA ? Layout::at(8 * half + g, l) : Layout::at(2 * g, l + half);
      const auto v = *reinterpret_cast<const Pair<T>*>(a + at);
      f[q][OpA ? half : 2 * half] = v.first;
      f[q][OpA ? half + 2 : 2 * half + 1] = v.second;
    }
  }
}

/// All column fragments of the warp for one step: b[ni][q][i] is panel q, k slot half i. `b` is the slice from the
/// warp's first column on.
template <class Layout, bool OpB, class T, std::size_t Panels>
__device__ void read_columns(T (&f)[frags_n][Panels][2], const T* b, int l0) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int ni = 0; ni < frags_n; ++ni) {
#pragma unroll
    for (int q = 0; q < static_cast<int>(Panels); ++q) {
      const int l = l0 + q * panel + 2 * t;
      if constexpr (OpB) {  // columns contiguous: a pair spans two column blocks, so ni and ni + 1 share two reads
        const int half = ni % 2, even = ni - half;
        const auto v = *reinterpret_cast<const Pair<T>*>(b + Layout::at(8 * even + 2 * g, l + half));
        f[even][q][half] = v.first;
        f[even + 1][q][half] = v.second;
      } else {
        const auto v = *reinterpret_cast<const Pair<T>*>(b + Layout::at(8 * ni + g, l));
        f[ni][q][0] = v.first;
        f[ni][q][1] = v.second;
      }
    }
  }
}

/// Which tile of C this block owns. Consecutive blocks, which run at the same time, cover `band` tile rows at once: a
/// near-square patch of C reads the fewest distinct slices of A and B, and those meet in L2.
struct TilePosition {
  index_t i, j;
};

__device__ inline TilePosition tile_position(index_t tiles_m, index_t tiles_n) {
#ifndef BAND
#define BAND 8
#endif
  constexpr index_t band = BAND;
  const index_t id = blockIdx.x;
  const index_t first = id / (band * tiles_n) * band;
  const index_t width = tiles_m - first < band ? tiles_m - first : band;
  const index_t within = id % (band * tiles_n);
  return {first + within % width, within / width};
}

/// C := alpha op(A) op(B) + beta C. `Math` supplies the depth of
/// a slice, their number, and multiply(accumulators of 16 rows, row fragment, prepared column fragments). OpA, OpB:
/// transposed. Vector: elements per copy, 16 bytes' worth, or 1 where a pointer or a leading dimension is not aligned.
template <class Math, bool OpA, bool OpB, int Vector>
__global__ void __launch_bounds__(threads, 1) gemm_kernel(GemmProblem<typename Math::Value> p) {
#if __CUDA_ARCH__ >= 800
  using T = typename Math::Value;
  constexpr int depth = Math::depth, stages = Math::stages, panels = Math::panels, steps = depth / (panels * panel);
  using SliceA = Slice<T, block_m, depth, OpA>;
  using SliceB = Slice<T, block_n, depth, !OpB>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T* const a_ring = reinterpret_cast<T*>(shared_bytes);
  T* const b_ring = a_ring + stages * SliceA::size;

  const TilePosition tile = tile_position((p.m + block_m - 1) / block_m, (p.n + block_n - 1) / block_n);
  const index_t i0 = tile.i * block_m, j0 = tile.j * block_n;
  SliceCopier<T, block_m, depth, OpA, Vector> copy_a(p.a, p.lda, i0);
  SliceCopier<T, block_n, depth, !OpB, Vector> copy_b(p.b, p.ldb, j0);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row0 = warp % (block_m / warp_m) * warp_m, col0 = warp / (block_m / warp_m) * warp_n;

  const int slices = static_cast<int>((p.k + depth - 1) / depth);
  int copied = 0;
  const auto copy_slice = [&](int stage) {
    if (copied < slices) {
      const index_t depth_left = p.k - static_cast<index_t>(copied) * depth;
      copy_a(a_ring + stage * SliceA::size, p.lda, p.m - i0, depth_left);
      copy_b(b_ring + stage * SliceB::size, p.ldb, p.n - j0, depth_left);
      ++copied;
    }
    commit_copies();  // an empty group too: the waits below count groups
  };
  for (int stage = 0; stage < stages - 1; ++stage) copy_slice(stage);

  // Row fragments are read one product ahead of their use, so that the reads run under the arithmetic.
  T rows[2][panels][4], columns[frags_n][panels][2];
  int stage = 0, free_stage = stages - 1;
  const auto read_a = [&](int step, int mi) {
    read_rows<SliceA, OpA>(rows[mi % 2], a_ring + stage * SliceA::size + SliceA::at(row0 + 16 * mi, 0),
                           step * panels * panel);
  };
  const auto read_b = [&](int step) {
    read_columns<SliceB, OpB>(columns, b_ring + stage * SliceB::size + SliceB::at(col0, 0), step * panels * panel);
  };
  const auto next = [](int s) { return s + 1 == stages ? 0 : s + 1; };
  static_assert(frags_m % 2 == 0 && frags_n % 2 == 0);

  T acc[frags_m][frags_n][4] = {};
  wait_copies<stages - 2>();
  __syncthreads();
  read_b(0);
  read_a(0, 0);
  for (int slice = 0; slice < slices; ++slice) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const typename Math::Columns prepared(columns);
#pragma unroll
      for (int mi = 0; mi < frags_m; ++mi) {
        if (mi + 1 < frags_m) {
          read_a(step, mi + 1);
        } else {
          if (step + 1 == steps) {
            // The next slice has landed, for every thread; and every warp has read all of this one.
            wait_copies<stages - 2>();
            __syncthreads();
            stage = next(stage);
          }
          read_a((step + 1) % steps, 0);
        }
        if (step == 0 && mi == 0) {  // into the buffer that every warp left behind at the last barrier
          copy_slice(free_stage);
          free_stage = next(free_stage);
        }
        Math::multiply(acc[mi], rows[mi % 2], prepared);
      }
      read_b((step + 1) % steps);
    }
  }
  wait_copies<0>();

  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int ni = 0; ni < frags_n; ++ni) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const index_t j = j0 + col0 + (OpB ? 16 * (ni / 2) + 2 * (2 * t + e) + ni % 2 : 8 * ni + 2 * t + e);
      if (j >= p.n) continue;
#pragma unroll
      for (int mi = 0; mi < frags_m; ++mi) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const index_t i = i0 + row0 + 16 * mi + (OpA ? 8 * half + g : 2 * g + half);
          if (i >= p.m) continue;
          T& c = p.c[i + j * p.ldc];
          const T product = p.alpha * acc[mi][ni][2 * half + e];
          c = p.beta == T{0} ? product : product + p.beta * c;
        }
      }
    }
  }
#endif
}

template <class Math, bool OpA, bool OpB, int Vector>
struct Launch {
  using T = typename Math::Value;
  static constexpr auto kernel = gemm_kernel<Math, OpA, OpB, Vector>;
  static constexpr int shared_bytes =
      int{sizeof(T)} * Math::stages *
      (Slice<T, block_m, Math::depth, OpA>::size + Slice<T, block_n, Math::depth, !OpB>::size);

  /// Readies the kernel on the current device, once: 1 it runs here, 0 it does not (the code that would run was
  /// compiled for less than sm_80 and is empty, or the block does not fit in shared memory), negative an error.
  static int prepare() {
    constexpr int max_devices = 64;
    static std::array<std::atomic<signed char>, max_devices> known{};  // 0 not asked, 1 no, 2 yes
    int device = 0, limit = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return -static_cast<int>(status);
    std::atomic<signed char>* const cache = device < max_devices ? &known[static_cast<std::size_t>(device)] : nullptr;
    if (cache != nullptr && cache->load() != 0) return cache->load() - 1;
    cudaFuncAttributes attributes{};
    status = cudaFuncGetAttributes(&attributes, kernel);
    if (status == cudaSuccess) {
      status = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    }
    if (status != cudaSuccess) return -static_cast<int>(status);
    const bool runs = attributes.ptxVersion >= 80 && limit >= shared_bytes;
    if (runs) {
      status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
      if (status != cudaSuccess) return -static_cast<int>(status);
    }
    if (cache != nullptr) cache->store(runs ? 2 : 1);
    return runs ? 1 : 0;
  }

  static int launch(CUstream_st* stream, const GemmProblem<T>& p) {
    const int ready = prepare();
    if (ready < 0) return -ready;
    if (ready == 0) return gemm_coarse<T>(stream, p, 32);
    const index_t tiles = ceil_div(p.m, block_m) * ceil_div(p.n, block_n);
    kernel<<<static_cast<unsigned>(tiles), threads, shared_bytes, stream>>>(p);
    return static_cast<int>(cudaGetLastError());
  }
};

template <class T>
bool aligned16(const T* data, index_t ld) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld * static_cast<index_t>(sizeof(T)) % 16 == 0;
}

template <class Math, int Vector>
int launch_ops(CUstream_st* stream, const GemmProblem<typename Math::Value>& p) {
  if (p.op_a == Op::none) {
    return p.op_b == Op::none ? Launch<Math, false, false, Vector>::launch(stream, p)
                              : Launch<Math, false, true, Vector>::launch(stream, p);
  }
  return p.op_b == Op::none ? Launch<Math, true, false, Vector>::launch(stream, p)
                            : Launch<Math, true, true, Vector>::launch(stream, p);
}

template <class Math>
int gemm(CUstream_st* stream, GemmProblem<typename Math::Value> p) {
  using T = typename Math::Value;
  if (p.m == 0 || p.n == 0) return 0;
  if (p.alpha == T{0}) p.k = 0;
  const bool aligned = p.k == 0 || (aligned16(p.a, p.lda) && aligned16(p.b, p.ldb));
  return aligned ? launch_ops<Math, 16 / int{sizeof(T)}>(stream, p) : launch_ops<Math, 1>(stream, p);
}

}  // namespace tesela::kernels::tuned
