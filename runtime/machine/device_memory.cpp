#include <tesela/runtime/internal/starpu.hpp>
#include <tesela/runtime/machine/device_memory.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/out_of_memory.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if TESELA_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tesela {

int gpu_of_device(const Runtime& runtime, int device) {
  const auto& nodes = runtime.state()->gpu_nodes;
  for (std::size_t gpu = 0; gpu < nodes.size(); ++gpu)
    if (starpu_memory_node_get_devid(nodes[gpu]) == device) return static_cast<int>(gpu);
  throw EnvironmentError(
      "an array is on CUDA device " + std::to_string(device) + ", which the workers do not use: " +
      (config::have_cuda ? "see STARPU_NCUDA and STARPU_WORKERS_CUDAID" : "this build has no CUDA variants"));
}

#if TESELA_HAVE_CUDA
namespace {

/// Makes the device this thread's current one while the object lives.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    if (cudaGetDevice(&before_) != cudaSuccess) before_ = -1;
    if (before_ != device) check(cudaSetDevice(device), "cudaSetDevice");
    if (before_ == device) before_ = -1;
  }
  ~OnDevice() {
    if (before_ >= 0) cudaSetDevice(before_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  static void check(cudaError_t status, const char* call) {
    if (status == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());
    throw EnvironmentError(std::string(call) + ": " + cudaGetErrorString(status));
  }

 private:
  int before_ = -1;
};

}  // namespace

DeviceBuffer::DeviceBuffer(int device, std::size_t bytes) : device_(device) {
  const OnDevice on(device);
  const cudaError_t status = cudaMalloc(&data_, std::max<std::size_t>(bytes, 1));
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw OutOfMemory("no memory on CUDA device " + std::to_string(device) + " for " + std::to_string(bytes) +
                      " bytes: free some (such as another library's cache), or let tiles use less "
                      "(STARPU_LIMIT_CUDA_MEM)");
  }
  OnDevice::check(status, "cudaMalloc");
}

DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) cudaFree(data_);  // frees memory of any device; fails after CUDA has shut down and freed it
}

void copy_columns(int device, ColumnsAt to, ColumnsAt from, Shape shape, std::size_t element_size) {
  if (shape.rows == 0 || shape.cols == 0) return;
  const OnDevice on(device);
  const auto bytes = [&](index_t elements) { return static_cast<std::size_t>(elements) * element_size; };
  const auto least = std::max<index_t>(shape.rows, 1);
  if (shape.cols == 1) to.ld = from.ld = least;
  const bool whole = to.ld == least && from.ld == least;
  OnDevice::check(
      whole ? cudaMemcpyAsync(to.data, from.data, bytes(shape.rows * shape.cols), cudaMemcpyDefault, cudaStreamLegacy)
            : cudaMemcpy2DAsync(to.data, bytes(to.ld), from.data, bytes(from.ld), bytes(shape.rows),
                                static_cast<std::size_t>(shape.cols), cudaMemcpyDefault, cudaStreamLegacy),
      "cudaMemcpy");
  OnDevice::check(cudaStreamSynchronize(cudaStreamLegacy), "cudaMemcpy");
}

void zero_columns(int device, ColumnsAt to, Shape shape, std::size_t element_size) {
  if (shape.rows == 0 || shape.cols == 0) return;
  const OnDevice on(device);
  OnDevice::check(cudaMemset2DAsync(to.data, static_cast<std::size_t>(std::max(to.ld, shape.rows)) * element_size, 0,
                                    static_cast<std::size_t>(shape.rows) * element_size,
                                    static_cast<std::size_t>(shape.cols), cudaStreamLegacy),
                  "cudaMemset2D");
  OnDevice::check(cudaStreamSynchronize(cudaStreamLegacy), "cudaMemset2D");
}

double measured_column_seconds(int device, bool to_device) {
  constexpr Shape block{1024, 1024};
  constexpr index_t blocks = 12, ld = blocks * block.rows;
  // Page-locked like a user's matrix. Each copy reads another part of it, because the device keeps the addresses of the
  // last pages.
  std::vector<double> matrix(static_cast<std::size_t>(ld * block.cols));
  const std::size_t bytes = sizeof(double) * matrix.size();
  OnDevice::check(cudaHostRegister(matrix.data(), bytes, cudaHostRegisterDefault), "cudaHostRegister");
  const std::unique_ptr<double, cudaError_t (*)(void*)> registration(matrix.data(), &cudaHostUnregister);
  const DeviceBuffer there(device, sizeof(double) * static_cast<std::size_t>(block.rows * block.cols));
  double sums[2] = {0, 0};
  for (const bool strided : {false, true})
    for (index_t i = 0; i < blocks; ++i) {
      double* const part = matrix.data() + i * block.rows * (strided ? 1 : block.cols);
      const ColumnsAt host{part, strided ? ld : block.rows}, gpu{there.data(), block.rows};
      const auto begin = std::chrono::steady_clock::now();
      copy_columns(device, to_device ? gpu : host, to_device ? host : gpu, block, sizeof(double));
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (i > 0) sums[strided] += took.count();  // the first copy starts CUDA
    }
  return std::max(sums[1] - sums[0], 0.0) / static_cast<double>((blocks - 1) * block.cols);
}

std::size_t free_device_bytes() {
  std::size_t least = 0;
  for (int device = 0, count = count_cuda_devices(); device < count; ++device) {
    std::size_t free = 0, total = 0;
    const OnDevice on(device);
    OnDevice::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    least = device == 0 ? free : std::min(least, free);
  }
  return least;
}

#else

namespace {
[[noreturn]] void refuse() { throw EnvironmentError("memory of a CUDA device: this build has no CUDA variants"); }
}  // namespace

DeviceBuffer::DeviceBuffer(int device, std::size_t) : device_(device) { refuse(); }
DeviceBuffer::~DeviceBuffer() = default;
void copy_columns(int, ColumnsAt, ColumnsAt, Shape, std::size_t) { refuse(); }
void zero_columns(int, ColumnsAt, Shape, std::size_t) { refuse(); }
double measured_column_seconds(int, bool) { refuse(); }
std::size_t free_device_bytes() { return 0; }

#endif

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : device_(other.device_), data_(std::exchange(other.data_, nullptr)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  return *this;
}

}  // namespace tesela
