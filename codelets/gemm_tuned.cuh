#pragma once

#include "codelets/gemm_kernels.hpp"

#include <cuda_runtime.h>

#include <array>
#include <atomic>
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

/// Copies `Bytes` to shared memory behind the thread's back; only the first `valid` are read, the rest become zero.
/// With valid == 0, `global` may point anywhere.
template <int Bytes>
__device__ void copy_async(void* shared, const void* global, int valid) {
#if __CUDA_ARCH__ >= 800
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (Bytes == 16) {  // .cg, past L1, exists for 16 bytes alone
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global), "r"(valid) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(global), "n"(Bytes), "r"(valid)
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

/// Copies slices of one operand: `Vector` elements an instruction, each thread the same places of every slice.
template <class T, int Extent, int Depth, bool DepthContiguous, int Vector>
class SliceCopier {
  using Layout = Slice<T, Extent, Depth, DepthContiguous>;
  static constexpr int chunks = (DepthContiguous ? Depth : Extent) / Vector;  // along the contiguous dimension
  static constexpr int step = threads / chunks;                               // lines copied at once
  static constexpr int passes = (DepthContiguous ? Extent : Depth) / step;
  static_assert(threads % chunks == 0 && passes * step == (DepthContiguous ? Extent : Depth));

 public:
  /// `data` is the corner of the whole operand; this block's slices start at x0, which is `extent_left` from the edge.
  __device__ SliceCopier(const T* data, index_t ld, index_t x0, index_t extent_left)
      : next_(data + (DepthContiguous ? (x0 + line()) * ld + offset() : x0 + offset() + line() * ld)),
        pass_stride_(step * ld),
        slice_stride_(DepthContiguous ? Depth : Depth * ld),
        extent_left_(static_cast<int>(extent_left < Extent ? extent_left : Extent)) {}

  /// Starts copying the next slice, of which depth_left > 0 rows (columns) exist; what does not exist becomes zero.
  __device__ void operator()(T* shared, index_t depth_left) {
    const int depth = static_cast<int>(depth_left < Depth ? depth_left : Depth);
    const int valid = valid_bytes((DepthContiguous ? depth : extent_left_) - offset());
    const int lines = DepthContiguous ? extent_left_ : depth;
    const T* source = next_;  // a running pointer: multiples of the stride would be kept in registers we do not have
#pragma unroll
    for (int pass = 0; pass < passes; ++pass, source += pass_stride_) {
      const int row = line() + pass * step;
      const int bytes = row < lines ? valid : 0;
      T* target = shared + (DepthContiguous ? Layout::at(row, offset()) : Layout::at(offset(), row));
      copy_async<Vector* int{sizeof(T)}>(target, source, bytes);
    }
    next_ += slice_stride_;
  }

 private:
  __device__ static int offset() { return static_cast<int>(threadIdx.x) % chunks * Vector; }
  __device__ static int line() { return static_cast<int>(threadIdx.x) / chunks; }
  __device__ static int valid_bytes(int elements) {
    return (elements < 0 ? 0 : elements > Vector ? Vector : elements) * int{sizeof(T)};
  }

  const T* next_;
  index_t pass_stride_;
  index_t slice_stride_;
  int extent_left_;
};

/// The fragments of one warp for one step of 8 k: a[f][h + 2 i] is row half h, k slot half i of row block f.
template <class T>
struct Fragments {
  T a[frags_m][4];
  T b[frags_n][2];
};

template <class T, class SliceA, class SliceB, bool OpA, bool OpB>
__device__ void load_fragments(Fragments<T>& f, const T* a, const T* b, int row0, int col0, int l0) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int mi = 0; mi < frags_m; ++mi) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = OpA ? SliceA::at(row0 + 16 * mi + 8 * half + g, l0 + 2 * t)
                         : SliceA::at(row0 + 16 * mi + 2 * g, l0 + 2 * t + half);
      const auto v = *reinterpret_cast<const Pair<T>*>(a + at);
      f.a[mi][OpA ? half : 2 * half] = v.first;
      f.a[mi][OpA ? half + 2 : 2 * half + 1] = v.second;
    }
  }
  if constexpr (OpB) {  // columns contiguous: a pair spans two column blocks
#pragma unroll
    for (int ni = 0; ni < frags_n; ni += 2) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const auto v = *reinterpret_cast<const Pair<T>*>(b + SliceB::at(col0 + 8 * ni + 2 * g, l0 + 2 * t + half));
        f.b[ni][half] = v.first;
        f.b[ni + 1][half] = v.second;
      }
    }
  } else {
#pragma unroll
    for (int ni = 0; ni < frags_n; ++ni) {
      const auto v = *reinterpret_cast<const Pair<T>*>(b + SliceB::at(col0 + 8 * ni + g, l0 + 2 * t));
      f.b[ni][0] = v.first;
      f.b[ni][1] = v.second;
    }
  }
}

/// Which tile of C this block owns. Consecutive blocks, which run at the same time, cover `band` tile rows at once: a
/// near-square patch of C reads the fewest distinct slices of A and B, and those meet in L2.
struct TilePosition {
  index_t i, j;
};

__device__ inline TilePosition tile_position(index_t tiles_m, index_t tiles_n) {
  constexpr index_t band = 8;
  const index_t id = blockIdx.x;
  const index_t first = id / (band * tiles_n) * band;
  const index_t width = tiles_m - first < band ? tiles_m - first : band;
  const index_t within = id % (band * tiles_n);
  return {first + within % width, within / width};
}

/// C := alpha op(A) op(B) + beta C. `Math` supplies depth, stages and multiply(accumulators, fragments). OpA, OpB:
/// transposed. Vector: elements per copy, 16 bytes' worth, or 1 where a pointer or a leading dimension is not aligned.
template <class Math, bool OpA, bool OpB, int Vector>
__global__ void __launch_bounds__(threads, 1) gemm_kernel(GemmProblem<typename Math::Value> p) {
#if __CUDA_ARCH__ >= 800
  using T = typename Math::Value;
  constexpr int depth = Math::depth, stages = Math::stages, steps = depth / panel;
  using SliceA = Slice<T, block_m, depth, OpA>;
  using SliceB = Slice<T, block_n, depth, !OpB>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T* const a_ring = reinterpret_cast<T*>(shared_bytes);
  T* const b_ring = a_ring + stages * SliceA::size;

  const TilePosition tile = tile_position((p.m + block_m - 1) / block_m, (p.n + block_n - 1) / block_n);
  const index_t i0 = tile.i * block_m, j0 = tile.j * block_n;
  SliceCopier<T, block_m, depth, OpA, Vector> copy_a(p.a, p.lda, i0, p.m - i0);
  SliceCopier<T, block_n, depth, !OpB, Vector> copy_b(p.b, p.ldb, j0, p.n - j0);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row0 = warp % (block_m / warp_m) * warp_m, col0 = warp / (block_m / warp_m) * warp_n;

  typename Math::Accumulators acc{};
  const index_t slices = (p.k + depth - 1) / depth;
  index_t depth_left = p.k;  // not yet asked for
  const auto copy_slice = [&](int stage) {
    if (depth_left > 0) {
      copy_a(a_ring + stage * SliceA::size, depth_left);
      copy_b(b_ring + stage * SliceB::size, depth_left);
      depth_left -= depth;
    }
    commit_copies();  // an empty group too: the waits below count groups
  };
  for (int stage = 0; stage < stages - 1; ++stage) copy_slice(stage);

  Fragments<T> fragments[Math::fragment_sets];
  int stage = 0, free_stage = stages - 1;
  const auto read_step = [&](int step, Fragments<T>& f) {
    load_fragments<T, SliceA, SliceB, OpA, OpB>(f, a_ring + stage * SliceA::size, b_ring + stage * SliceB::size, row0,
                                                col0, step * panel);
  };
  const auto next = [](int s) { return s + 1 == stages ? 0 : s + 1; };
  if constexpr (Math::fragment_sets == 2) {
  wait_copies<stages - 2>();
  __syncthreads();
  read_step(0, fragments[0]);
  for (index_t slice = 0; slice < slices; ++slice) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      if (step == steps - 1) {
        // The next slice has landed, for every thread; and every warp has read the last of the slice before this one's
        // successor in the ring, so its buffer may be refilled.
        wait_copies<stages - 2>();
        __syncthreads();
        stage = next(stage);
      }
      read_step((step + 1) % steps, fragments[(step + 1) % 2]);
      if (step == 0) {
        copy_slice(free_stage);
        free_stage = next(free_stage);
      }
      Math::multiply(acc, fragments[step % 2]);
    }
  }
  } else {
  for (index_t slice = 0; slice < slices; ++slice) {
    // This slice has landed, for every thread, and every warp is done with the one before it, whose buffer is refilled.
    wait_copies<stages - 2>();
    __syncthreads();
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      read_step(step, fragments[0]);
      if (step == 0) copy_slice(free_stage);
      Math::multiply(acc, fragments[0]);
    }
    free_stage = stage;
    stage = next(stage);
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
          const T product = p.alpha * acc.value[mi][ni][2 * half + e];
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
