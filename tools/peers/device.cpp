#include "tools/peers/device.hpp"

#include "tools/peers/harness.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/support/internal/cublas.hpp>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#endif

namespace tesela::bench {

void require_gpu(const char* benchmark) {
  if (!config::have_cuda)
    throw EnvironmentError(
        fmt::format("bench {}: needs a CUDA device, and this build has no CUDA: build where nvcc is "
                    "(cmake --preset cuda)",
                    benchmark));
  if (count_cuda_devices() == 0)
    throw EnvironmentError(
        fmt::format("bench {}: needs a CUDA device, and none is visible: run where there is an "
                    "NVIDIA driver, and check CUDA_VISIBLE_DEVICES",
                    benchmark));
}

#if TESELA_HAVE_CUDA

void check_device(int status, const char* call) {
  if (status == 0) return;
  const bool cuda = std::string_view(call).starts_with("cuda");  // cuBLAS numbers its errors differently
  throw EnvironmentError(fmt::format("{} failed with status {}{}{}", call, status, cuda ? ": " : "",
                                     cuda ? cudaGetErrorString(static_cast<cudaError_t>(status)) : ""));
}

void select_first_device() { check_device(cudaSetDevice(0), "cudaSetDevice"); }

DeviceMemory::DeviceMemory(std::size_t bytes) {
  select_first_device();
  if (cudaMalloc(&data_, std::max<std::size_t>(bytes, 1)) == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // cleared, so that the next launch does not report it
  throw OutOfDeviceMemory(fmt::format("device 0 has no {} MiB left: choose smaller sizes or fewer peers", bytes >> 20));
}
DeviceMemory::~DeviceMemory() { cudaFree(data_); }

void copy_memory(void* to, const void* from, std::size_t bytes) {
  select_first_device();
  check_device(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

double event_seconds(const std::function<void(CUstream_st*)>& enqueue) {
  select_first_device();
  cudaEvent_t start = nullptr, stop = nullptr;
  check_device(cudaEventCreate(&start), "cudaEventCreate");
  check_device(cudaEventCreate(&stop), "cudaEventCreate");
  check_device(cudaEventRecord(start, nullptr), "cudaEventRecord");
  enqueue(nullptr);
  check_device(cudaEventRecord(stop, nullptr), "cudaEventRecord");
  check_device(cudaEventSynchronize(stop), "cudaEventSynchronize after a kernel");
  float ms = 0;
  check_device(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return static_cast<double>(ms) * 1e-3;
}

void flush_device_cache() {
  constexpr std::size_t bytes = std::size_t{512} << 20;
  const DeviceMemory memory(bytes);
  check_device(cudaMemset(memory.as<char>(), 0, bytes), "cudaMemset");
  check_device(cudaDeviceSynchronize(), "cudaMemset");
}

namespace {

cublasHandle_t handle() {
  static const cublasHandle_t made = [] {
    cublasHandle_t h = nullptr;
    check_device(cublasCreate(&h), "cublasCreate");
    return h;
  }();
  return made;
}

double median_rate(double work, const std::function<void(CUstream_st*)>& enqueue) {
  const auto timings = alternate({{"ceiling", [&] { return event_seconds(enqueue); }}}, 5);
  return work / timings.front().median() * 1e-9;
}

}  // namespace

template <class T>
int cublas_multiply(CUstream_st* stream, index_t m, index_t n, index_t k, const T* a, const T* b, T* c) {
  check_device(cublasSetStream(handle(), stream), "cublasSetStream");
  return cublas::gemm<T>(handle(), Op::none, Op::none, m, n, k, T(1), a, m, b, k, T(0), c, m);
}

template <class T>
bool cublas_emulates() {
#if CUBLAS_VERSION >= 130100
  return std::is_same_v<T, double>;
#else
  return false;
#endif
}

template <class T>
int cublas_emulated_multiply([[maybe_unused]] CUstream_st* stream, [[maybe_unused]] index_t m,
                             [[maybe_unused]] index_t n, [[maybe_unused]] index_t k, [[maybe_unused]] const T* a,
                             [[maybe_unused]] const T* b, [[maybe_unused]] T* c) {
#if CUBLAS_VERSION >= 130100
  if constexpr (std::is_same_v<T, double>) {
    check_device(cublasSetMathMode(handle(), CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH), "cublasSetMathMode");
    check_device(cublasSetEmulationStrategy(handle(), CUBLAS_EMULATION_STRATEGY_EAGER), "cublasSetEmulationStrategy");
    const int status = cublas_multiply(stream, m, n, k, a, b, c);
    check_device(cublasSetMathMode(handle(), CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
    return status;
  }
#endif
  return cudaErrorNotSupported;
}

template <class T>
double gemm_ceiling() {
  constexpr index_t n = 8192;
  const DeviceMemory a(n * n * sizeof(T)), b(n * n * sizeof(T)), c(n * n * sizeof(T));
  generate(a.as<T>(), n, n, Generator<T>{Pattern::uniform, T(0), n, 1});
  generate(b.as<T>(), n, n, Generator<T>{Pattern::uniform, T(0), n, 2});
  return median_rate(2.0 * flops_each<T> * n * n * n, [&](CUstream_st* stream) {
    check_device(cublas_multiply(stream, n, n, n, a.as<T>(), b.as<T>(), c.as<T>()), "cublas gemm");
  });
}

double copy_ceiling() {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  const DeviceMemory from(bytes), to(bytes);
  check_device(cudaMemset(from.as<char>(), 1, bytes), "cudaMemset");
  return median_rate(2.0 * static_cast<double>(bytes), [&](CUstream_st* stream) {
    check_device(cudaMemcpyAsync(to.as<char>(), from.as<char>(), bytes, cudaMemcpyDeviceToDevice, stream),
                 "cudaMemcpy");
  });
}

TESELA_FUNCTIONS_FOR_NUMBERS(cublas_multiply, gemm_ceiling)
TESELA_FUNCTIONS_FOR_REALS(cublas_emulates, cublas_emulated_multiply)

#endif

}  // namespace tesela::bench
