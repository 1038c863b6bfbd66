#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal_fill.hpp>
#include <tesela/runtime/types.hpp>
#include <tesela/tiles/generator.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>

struct CUstream_st;

namespace tesela::bench {

/// Throws EnvironmentError, with the reason, if this process has no CUDA device.
void require_gpu(const char* benchmark);

/// Throws EnvironmentError unless the status of CUDA or cuBLAS is 0.
void check_device(int status, const char* call);

/// Selects device 0 for the calling thread: StarPU and cublasXt may leave another device selected.
void select_first_device();

/// A library's handle, initially null, destroyed with this object: Handle<cusparseHandle_t, cusparseDestroy>.
template <class H, auto destroy>
class Handle {
 public:
  Handle() = default;
  ~Handle() {
    if (handle_ != nullptr) destroy(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator H() const { return handle_; }
  H* out() { return &handle_; }  ///< argument of the library's call that creates it

 private:
  static_assert(std::is_pointer_v<H>);
  H handle_ = nullptr;
};

/// Memory of device 0, freed with this object.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

/// Copies between host memory and memory of device 0, or within it, after all work of the default stream. A copy to or
/// from host memory waits.
void copy_memory(void* to, const void* from, std::size_t bytes);

/// Returns the seconds between two CUDA events around the work that `enqueue` puts into the stream (the default one of
/// device 0).
double event_seconds(const std::function<void(CUstream_st*)>& enqueue);

/// Overwrites more memory than any L2 cache holds, so that the next kernel starts cold.
void flush_device_cache();

/// C = A B in device memory, n x n, by cuBLAS: used for the DGEMM ceiling and the cublas peers.
template <class T>
int cublas_multiply(CUstream_st* stream, index_t m, index_t n, index_t k, const T* a, const T* b, T* c);

/// Returns whether cuBLAS emulates this precision on integer units: from 13.1 on double.
template <class T>
bool cublas_emulates();

/// The same by cuBLAS's emulation. Returns cudaErrorNotSupported if there is none.
template <class T>
int cublas_emulated_multiply(CUstream_st* stream, index_t m, index_t n, index_t k, const T* a, const T* b, T* c);

/// Peak rates of device 0, measured now: cuBLAS on square matrices in GFLOP/s, and a copy within the device in GB/s,
/// with read and written bytes counted.
template <class T>
double gemm_ceiling();
double copy_ceiling();

/// Writes a generated matrix, column-major without gaps, to memory of device 0, and waits for it.
template <class T>
void generate(T* a, index_t rows, index_t cols, Generator<T> generator);

/// Writes the diagonals of generated tridiagonal matrices, one per column or per row, and waits. Elements outside the
/// matrices, in dl of the first equation and du of the last, are zero.
template <class T>
void generate(const kernels::TridiagonalRow<T*>& bands, index_t batch, bool in_rows,
              kernels::TridiagonalGenerator<T> generator);

}  // namespace tesela::bench
