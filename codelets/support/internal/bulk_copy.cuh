#pragma once

#include <cuda.h>
#include <cuda_pipeline.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

// Asynchronous copies between a device's memory and a block's shared memory. From sm_90 on hardware copies, and one
// thread requests everything. On older devices, and for copies that are not aligned to 16 bytes, every thread copies
// some elements. Internal to codelets/.

namespace tesela::kernels {

/// An array and the size of its boxes, for a kernel. Parts of a box outside the array are read as 0 and not written.
struct BoxMap {
  CUtensorMap map;
  int bytes;  ///< of a box; a multiple of 128, the alignment of boxes in shared memory
};

/// Returns the driver's cuTensorMapEncodeTiled, or null if the driver has none.
inline auto tensor_map_encoder() {
  static const auto encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
    const int status =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
    const int status = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    return status == cudaSuccess ? reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function) : nullptr;
  }();
  return encode;
}

/// Describes the columns x rows array at `data`, whose rows are `ld` apart. Returns false if the driver does not
/// support boxes or these boxes: addresses and the box's rows must be multiples of 16 bytes. `order`: of these in a
/// box.
template <class T>
bool describe_boxes(BoxMap& boxes, T* data, std::int64_t columns, std::int64_t rows, std::int64_t ld, int box_columns,
                    int box_rows, CUtensorMapSwizzle order = CU_TENSOR_MAP_SWIZZLE_NONE) {
  const auto encode = tensor_map_encoder();
  if (encode == nullptr || std::max(columns, rows) > INT32_MAX) return false;
  const cuuint64_t size[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t step[] = {static_cast<cuuint64_t>(ld) * sizeof(T)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)}, each[] = {1, 1};
  boxes.bytes = box_columns * box_rows * static_cast<int>(sizeof(T));
  // L2 works in units of 32 bytes; for smaller boxes it should also fetch the data that the neighbours will request.
  const auto fetch =
      box_columns * sizeof(T) < 32 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_NONE;
  return encode(&boxes.map, sizeof(T) == 8 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
                const_cast<std::remove_const_t<T>*>(data), size, step, box, each, CU_TENSOR_MAP_INTERLEAVE_NONE, order,
                fetch, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

class BulkCopy {
 public:
  /// `barrier` is in shared memory. All threads of the block call this, and every function, together.
  __device__ explicit BulkCopy(std::uint64_t* barrier)
      : barrier_(static_cast<unsigned>(__cvta_generic_to_shared(barrier))) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier_) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
#endif
  }

  /// Returns the unit of a copy: both addresses of a packed copy are aligned to it, and its count is a multiple of it.
  template <class T>
  __device__ static constexpr int pack() {
    return 16 / static_cast<int>(sizeof(T));
  }

  /// Starts to copy `count` elements into shared memory.
  template <class T>
  __device__ void load(T* to, const T* from, int count) {
    const int packed = packed_part(to, from, count), t = static_cast<int>(threadIdx.x);
    if (packed > 0) load_packed(to, from, packed);
    for (int i = packed + t; i < count; i += static_cast<int>(blockDim.x))
      __pipeline_memcpy_async(to + i, from + i, sizeof(T));
  }
  template <class T>
  __device__ void load_packed(T* to, const T* from, int count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      const auto bytes = static_cast<unsigned>(count * static_cast<int>(sizeof(T)));
      const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier_), "r"(bytes) : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
          "l"(from), "r"(bytes), "r"(barrier_)
          : "memory");
    }
#else
    for (int i = static_cast<int>(threadIdx.x) * pack<T>(); i < count; i += static_cast<int>(blockDim.x) * pack<T>())
      __pipeline_memcpy_async(to + i, from + i, 16);
#endif
  }

  /// Returns whether the device copies boxes; otherwise the functions below do nothing.
  __device__ static constexpr bool copies_boxes() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return true;
#else
    return false;
#endif
  }
  /// Starts to copy the box whose first element is in column x of row y. The kernel's parameters hold `boxes`.
  __device__ void load([[maybe_unused]] void* to, [[maybe_unused]] const BoxMap& boxes, [[maybe_unused]] int x,
                       [[maybe_unused]] int y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier_), "r"(boxes.bytes)
                   : "memory");
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
          "[%4];" ::"r"(shared),
          "l"(&boxes.map), "r"(x), "r"(y), "r"(barrier_)
          : "memory");
    }
#endif
  }

  /// Waits for all loads since the last call.
  __device__ void wait_loads() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier_) : "memory");
    unsigned done = 0;
    while (done == 0)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(barrier_), "r"(phase_)
                   : "memory");
    phase_ ^= 1;
#endif
    __syncthreads();
  }

  /// Makes writes to shared memory visible to store(); must be called between them.
  __device__ static void before_stores() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    __syncthreads();
  }

  /// Starts to copy `count` elements from shared memory, which must not change.
  template <class T>
  __device__ static void store(T* to, const T* from, int count) {
    const int packed = packed_part(from, to, count);
    if (packed > 0) store_packed(to, from, packed);
    for (int i = packed + static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) to[i] = from[i];
  }
  template <class T>
  __device__ static void store_packed(T* to, const T* from, int count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      const auto bytes = static_cast<unsigned>(count * static_cast<int>(sizeof(T)));
      const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(from));
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared), "r"(bytes)
                   : "memory");
    }
#else
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) to[i] = from[i];
#endif
  }

  __device__ static void store([[maybe_unused]] const BoxMap& boxes, [[maybe_unused]] int x, [[maybe_unused]] int y,
                               [[maybe_unused]] const void* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0)
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&boxes.map),
                   "r"(x), "r"(y), "r"(static_cast<unsigned>(__cvta_generic_to_shared(from)))
                   : "memory");
#endif
  }

  /// Waits until all stores have been read from shared memory.
  __device__ static void wait_stores() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
  }

 private:
  template <class T>
  __device__ static int packed_part(const T* a, const T* b, int count) {
    const auto fits = [](const T* p) { return (reinterpret_cast<std::uintptr_t>(p) & 15) == 0; };
    return fits(a) && fits(b) ? count / pack<T>() * pack<T>() : 0;
  }

  unsigned barrier_, phase_ = 0;
};

}  // namespace tesela::kernels
