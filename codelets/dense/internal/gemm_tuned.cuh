#pragma once

#include <tesela/codelets/dense/gemm_launch.hpp>

#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// The common skeleton of the tuned float and double kernels.
//
// A block of 4 warps keeps a tile of C in registers, 128 x 64 if the problem is large. Two blocks share a
// multiprocessor, so that one computes while the other waits at its barrier. Slices of op(A) and op(B) stream through a
// ring of `stages` buffers in shared memory by cp.async. The copies of the next slice are spread, without a branch,
// over the products of this one: the tensor cores are busy only if no warp stops to compute addresses.
//
// Warps multiply with the m16n8k8 shape, whose fragments have the same layout for double and for float (tf32): lane 4 g
// + t holds rows g, g + 8 and k slots t, t + 4 of A; k slots t, t + 4 and column g of B; rows g, g + 8 and columns 2t,
// 2t + 1 of C. The assignment of rows to g and of k to t is free if A, B and C agree. So fragments are permuted such
// that every read from shared memory is a two-element vector: the k slots t, t + 4 are the neighbours 2t, 2t + 1. If an
// operand is staged with contiguous rows (columns), the rows g, g + 8 are the neighbours 2g, 2g + 1. The store of C
// undoes the permutation.

namespace tesela::kernels::tuned {

constexpr int panel = 8;  // k of one tensor-core step

/// Division of a block's tile of C into warps, and of a warp's part into fragments.
template <int BlockM, int BlockN, int WarpM, int WarpN>
struct BlockTiles {
  static constexpr int block_m = BlockM, block_n = BlockN, warp_m = WarpM, warp_n = WarpN;
  static constexpr int frags_m = warp_m / 16, frags_n = warp_n / 8;
  static constexpr int threads = 32 * (block_m / warp_m) * (block_n / warp_n);
  static constexpr int blocks_per_processor = 256 / threads;  // each thread may then use 255 registers
  static_assert(frags_m % 2 == 0 && frags_n % 2 == 0);
};

/// LargeTiles read shared memory the least per product; SmallTiles give a small C more blocks.
using LargeTiles = BlockTiles<128, 64, 64, 32>;
using SmallTiles = BlockTiles<64, 64, 32, 32>;

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

/// Copies `Bytes` to shared memory asynchronously; if not `exists`, writes zeros and reads nothing.
template <int Bytes>
__device__ void copy_async(void* shared, const void* global, bool exists) {
#if __CUDA_ARCH__ >= 800
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int read = exists ? Bytes : 0;
  if constexpr (Bytes == 16) {  // .cg, which bypasses L1, exists only for 16 bytes
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global), "r"(read) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(global), "n"(Bytes), "r"(read)
                 : "memory");
  }
#endif
}

__device__ inline void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `Pending` of this thread's newest groups are in flight.
template <int Pending>
__device__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

/// Layout of one operand's slice in shared memory: element (x, l), x along the rows of op(A) or the columns of op(B), l
/// along k. It keeps the contiguous dimension of global memory contiguous, so one copy instruction moves 16 bytes.
///
/// x contiguous: rows of `extent`, padded by 16 bytes; fragment reads then step 2t rows and g pairs and touch each bank
/// once. k contiguous: panels of 8 k, dense within a panel (a fragment read covers whole lines). Gaps between panels
/// spread them over the banks for the copies, whose 8-lane phases touch every panel.
template <class T, int Extent, int Depth, bool DepthContiguous>
struct Slice {
  static constexpr int pitch = Extent + 16 / int{sizeof(T)};
  static constexpr int panel_pitch = panel * Extent + 128 / int{sizeof(T)} / (Depth / panel);
  static constexpr int size = DepthContiguous ? panel_pitch * (Depth / panel) : pitch * Depth;
  __device__ static constexpr int at(int x, int l) {
    return DepthContiguous ? (l / panel) * panel_pitch + x * panel + l % panel : l * pitch + x;
  }
};

/// Copies slices of one operand, `Vector` elements per instruction; each thread copies the same positions of every
/// slice. Each slice needs begin(), `passes` calls of pass(), then end(). The passes are spread over the arithmetic and
/// do not branch, so that the compiler can place them between tensor-core instructions.
template <class T, int Extent, int Depth, bool DepthContiguous, int Vector, int Threads>
class SliceCopier {
  using Layout = Slice<T, Extent, Depth, DepthContiguous>;
  static constexpr int element = sizeof(T);
  static constexpr int chunks = (DepthContiguous ? Depth : Extent) / Vector;  // along the contiguous dimension
  static constexpr int step = Threads / chunks;                               // lines copied at once

 public:
  static constexpr int passes = (DepthContiguous ? Extent : Depth) / step;
  static_assert(Threads % chunks == 0 && passes * step == (DepthContiguous ? Extent : Depth));

  /// Starts at row or column x0 of the operand.
  __device__ SliceCopier(const T* data, index_t ld, index_t x0)
      : source_(data + (DepthContiguous ? (x0 + line()) * ld + offset() : x0 + offset() + line() * ld)) {}

  /// Starts a slice. extent_left and depth_left are the remaining sizes of the operand (depth_left is negative past the
  /// last slice); elements beyond them become zero. Along the contiguous dimension the operand ends on a whole Vector.
  __device__ void begin(T* shared, index_t extent_left, index_t depth_left) {
    const bool inside = (DepthContiguous ? depth_left : extent_left) > offset();
    const index_t lines = DepthContiguous ? extent_left : depth_left;
    constexpr int enough = DepthContiguous ? Extent : Depth;
    lines_ = inside ? static_cast<int>(lines < enough ? lines : enough) - line() : 0;
    target_ = shared + (DepthContiguous ? Layout::at(line(), offset()) : Layout::at(offset(), line()));
  }

  __device__ void pass(const T* data, index_t ld) {
    // A copy that reads nothing still needs a valid address: the operand's first.
    copy_async<Vector * element>(target_, lines_ > 0 ? source_ : data, lines_ > 0);
    lines_ -= step;
    source_ += step * ld;
    target_ += DepthContiguous ? Layout::at(step, 0) : Layout::at(0, step);
  }

  __device__ void end(index_t ld) {
    if (DepthContiguous) source_ += Depth - Extent * ld;
  }

 private:
  __device__ static int offset() { return static_cast<int>(threadIdx.x) % chunks * Vector; }
  __device__ static int line() { return static_cast<int>(threadIdx.x) / chunks; }

  const T* source_;
  T* target_ = nullptr;
  int lines_ = 0;
};

/// Reads a fragment of 16 rows: f[h + 2 i] is row half h, k slot half i. `a` is the slice from the fragment's first row
/// on.
template <class Layout, bool OpA, class T>
__device__ void read_rows(T (&f)[4], const T* a, int l0) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int at = OpA ? Layout::at(8 * half + g, l0 + 2 * t) : Layout::at(2 * g, l0 + 2 * t + half);
    const auto v = *reinterpret_cast<const Pair<T>*>(a + at);
    f[OpA ? half : 2 * half] = v.first;
    f[OpA ? half + 2 : 2 * half + 1] = v.second;
  }
}

/// Reads all column fragments of the warp: f[ni][i] is k slot half i. `b` is the slice from the warp's first column on.
template <class Layout, bool OpB, class T, std::size_t Frags>
__device__ void read_columns(T (&f)[Frags][2], const T* b, int l0) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int ni = 0; ni < static_cast<int>(Frags); ++ni) {
    if constexpr (OpB) {  // columns contiguous: a pair spans two column fragments, so two reads fill ni and ni + 1
      const int half = ni % 2, even = ni - half;
      const auto v = *reinterpret_cast<const Pair<T>*>(b + Layout::at(8 * even + 2 * g, l0 + 2 * t + half));
      f[even][half] = v.first;
      f[even + 1][half] = v.second;
    } else {
      const auto v = *reinterpret_cast<const Pair<T>*>(b + Layout::at(8 * ni + g, l0 + 2 * t));
      f[ni][0] = v.first;
      f[ni][1] = v.second;
    }
  }
}

/// Position of the tile of C that this block owns. Consecutive blocks, which run at the same time, cover `band` tile
/// rows at once: a near-square patch of C reads the fewest distinct slices of A and B, which L2 then holds.
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

/// Multiplies a row and a column with plain fused multiply-adds. Not inlined because it is rarely called.
template <class T>
__device__ __noinline__ T dot(const T* row, index_t row_step, const T* column, index_t column_step, index_t k) {
  T sum{0};
  for (index_t l = 0; l < k; ++l) sum = fma(row[l * row_step], column[l * column_step], sum);
  return sum;
}

/// Computes C := alpha op(A) op(B) + beta C.
///
/// OpA, OpB: transposed. Vector: elements per copy, 16 bytes, or 1 if the operands do not divide into vectors. Math
/// defines the tiles of a block, the depth and number of the staged slices, Columns (the prepared column fragments of a
/// step) and multiply(16 rows of accumulators, row fragment, Columns).
template <class Math, bool OpA, bool OpB, int Vector>
__global__ void __launch_bounds__(Math::Tiles::threads, Math::Tiles::blocks_per_processor)
    gemm_kernel(GemmProblem<typename Math::Value> p) {
#if __CUDA_ARCH__ >= 800
  using T = typename Math::Value;
  constexpr int depth = Math::depth, stages = Math::stages, steps = depth / panel;
  constexpr int block_m = Math::Tiles::block_m, block_n = Math::Tiles::block_n;
  constexpr int warp_m = Math::Tiles::warp_m, warp_n = Math::Tiles::warp_n, threads = Math::Tiles::threads;
  constexpr int frags_m = Math::Tiles::frags_m, frags_n = Math::Tiles::frags_n;
  using SliceA = Slice<T, block_m, depth, OpA>;
  using SliceB = Slice<T, block_n, depth, !OpB>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T* const a_ring = reinterpret_cast<T*>(shared_bytes);
  T* const b_ring = a_ring + stages * SliceA::size;

  const TilePosition tile = tile_position((p.m + block_m - 1) / block_m, (p.n + block_n - 1) / block_n);
  const index_t i0 = tile.i * block_m, j0 = tile.j * block_n;
  SliceCopier<T, block_m, depth, OpA, Vector, threads> copy_a(p.a, p.lda, i0);
  SliceCopier<T, block_n, depth, !OpB, Vector, threads> copy_b(p.b, p.ldb, j0);
  constexpr int passes = copy_a.passes + copy_b.passes;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row0 = warp % (block_m / warp_m) * warp_m, col0 = warp / (block_m / warp_m) * warp_n;
  const int slices = static_cast<int>((p.k + depth - 1) / depth);

  index_t depth_left = p.k;  // rows of k that are not requested yet
  const auto begin_slice = [&](int stage) {
    copy_a.begin(a_ring + stage * SliceA::size, p.m - i0, depth_left);
    copy_b.begin(b_ring + stage * SliceB::size, p.n - j0, depth_left);
    depth_left -= depth;
  };
  const auto copy_passes = [&](int first, int last) {
#pragma unroll
    for (int pass = first; pass < last; ++pass) {
      if (pass < copy_a.passes) {
        copy_a.pass(p.a, p.lda);
      } else {
        copy_b.pass(p.b, p.ldb);
      }
    }
  };
  const auto end_slice = [&] {
    copy_a.end(p.lda);
    copy_b.end(p.ldb);
    commit_copies();
  };
  for (int stage = 0; stage < stages - 1; ++stage) {
    begin_slice(stage);
    copy_passes(0, passes);
    end_slice();
  }

  // Row fragments are read one product before their use, so that the reads overlap the arithmetic.
  T rows[2][4], columns[frags_n][2];
  int stage = 0, free_stage = stages - 1;
  const auto read_a = [&](int step, int mi) {
    read_rows<SliceA, OpA>(rows[mi % 2], a_ring + stage * SliceA::size + SliceA::at(row0 + 16 * mi, 0), step * panel);
  };
  const auto read_b = [&](int step) {
    read_columns<SliceB, OpB>(columns, b_ring + stage * SliceB::size + SliceB::at(col0, 0), step * panel);
  };
  const auto next = [](int s) { return s + 1 == stages ? 0 : s + 1; };

  T acc[frags_m][frags_n][4] = {};
  wait_copies<stages - 2>();
  __syncthreads();
  read_b(0);
  read_a(0, 0);
  for (int slice = 0; slice < slices; ++slice) {
    begin_slice(free_stage);  // into the buffer that every warp has finished reading since the last barrier
    free_stage = next(free_stage);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const typename Math::Columns prepared(columns);
#pragma unroll
      for (int mi = 0; mi < frags_m; ++mi) {
        constexpr int products = steps * frags_m;
        const int product = step * frags_m + mi;
        copy_passes(passes * product / products, passes * (product + 1) / products);
        if (mi + 1 < frags_m) {
          read_a(step, mi + 1);
        } else {
          if (step + 1 == steps) {
            // The next slice has arrived for every thread, and every warp has read all of this one.
            end_slice();
            wait_copies<stages - 2>();
            __syncthreads();
            stage = next(stage);
          }
          read_b((step + 1) % steps);
          read_a((step + 1) % steps, 0);
        }
        Math::multiply(acc[mi], rows[mi % 2], prepared);
      }
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
          T sum = acc[mi][ni][2 * half + e];
          if constexpr (Math::retry_nonfinite) {
            if (!isfinite(sum)) {
              sum =
                  dot(p.a + (OpA ? i * p.lda : i), OpA ? 1 : p.lda, p.b + (OpB ? j : j * p.ldb), OpB ? p.ldb : 1, p.k);
            }
          }
          c = p.beta == T{0} ? p.alpha * sum : p.alpha * sum + p.beta * c;
        }
      }
    }
  }
#endif
}

template <class Math, bool OpA, bool OpB, int Vector>
struct Launch {
  using T = typename Math::Value;
  static constexpr int block_m = Math::Tiles::block_m, block_n = Math::Tiles::block_n;
  static constexpr auto kernel = gemm_kernel<Math, OpA, OpB, Vector>;
  static constexpr int shared_bytes =
      int{sizeof(T)} * Math::stages *
      (Slice<T, block_m, Math::depth, OpA>::size + Slice<T, block_n, Math::depth, !OpB>::size);

  /// Prepares the kernel on the current device, once. Returns 1 if it runs here, 0 if it does not (its code was
  /// compiled for less than sm_80 and is empty, or the block does not fit in shared memory), and a negative value on an
  /// error.
  static int prepare() {
    constexpr int max_devices = 64;
    static std::array<std::atomic<signed char>, max_devices> known{};  // 0 unknown, 1 no, 2 yes
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
    kernel<<<static_cast<unsigned>(tiles), Math::Tiles::threads, shared_bytes, stream>>>(p);
    return static_cast<int>(cudaGetLastError());
  }
};

/// Returns whether an operand can be copied 16 bytes at a time. It must also end on whole vectors: the hardware could
/// shorten the last copy, but memory checkers report it as an error.
template <class T>
bool copies_by_vectors(const T* data, index_t ld, index_t contiguous) {
  constexpr index_t vector = 16 / sizeof(T);
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % vector == 0 && contiguous % vector == 0;
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
int launch_vectors(CUstream_st* stream, const GemmProblem<typename Math::Value>& p) {
  const bool vectors = copies_by_vectors(p.a, p.lda, p.op_a == Op::none ? p.m : p.k) &&
                       copies_by_vectors(p.b, p.ldb, p.op_b == Op::none ? p.k : p.n);
  constexpr int vector = 16 / int{sizeof(typename Math::Value)};
  return vectors ? launch_ops<Math, vector>(stream, p) : launch_ops<Math, 1>(stream, p);
}

/// Multiplies with the arithmetic Math, on large tiles unless they would leave multiprocessors idle.
template <template <class> class Math, class T>
int gemm(CUstream_st* stream, GemmProblem<T> p) {
  if (p.m == 0 || p.n == 0) return 0;
  if (p.alpha == T{0}) p.k = 0;
  int device = 0, processors = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return static_cast<int>(status);
  const index_t large = ceil_div(p.m, LargeTiles::block_m) * ceil_div(p.n, LargeTiles::block_n);
  return large >= LargeTiles::blocks_per_processor * processors ? launch_vectors<Math<LargeTiles>>(stream, p)
                                                                : launch_vectors<Math<SmallTiles>>(stream, p);
}

}  // namespace tesela::kernels::tuned
