#include <tesela/codelets/support/internal/high_priority_stream.hpp>
#include <tesela/runtime/config.hpp>

#if TESELA_HAVE_CUDA

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace tesela::kernels {

struct HighPriorityStream::Lane {
  cudaStream_t stream = nullptr;
  cudaEvent_t before = nullptr, after = nullptr;
};

/// Returns the high-priority lane of a worker's stream, created at its first use and kept until the process ends. Null
/// if the stream is a lane itself.
HighPriorityStream::Lane* HighPriorityStream::lane(CudaContext& context, CUstream_st* stream) noexcept {
  static auto& mutex = *new std::mutex;  // never destroyed: tasks may run until the last exit handler
  static auto& lanes = *new std::map<std::pair<int, CUstream_st*>, std::unique_ptr<Lane>>;
  try {
    int device = 0, least = 0, greatest = 0;
    if (!context.check(cudaGetDevice(&device), "cudaGetDevice")) return nullptr;
    const std::scoped_lock lock(mutex);
    for (const auto& [of, known] : lanes)
      if (known && known->stream == stream) return nullptr;
    std::unique_ptr<Lane>& lane = lanes[{device, stream}];
    if (lane) return lane.get();
    auto made = std::make_unique<Lane>();
    if (!context.check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange") ||
        !context.check(cudaStreamCreateWithPriority(&made->stream, cudaStreamNonBlocking, greatest),
                       "cudaStreamCreateWithPriority") ||
        !context.check(cudaEventCreateWithFlags(&made->before, cudaEventDisableTiming), "cudaEventCreate") ||
        !context.check(cudaEventCreateWithFlags(&made->after, cudaEventDisableTiming), "cudaEventCreate"))
      return nullptr;
    lane = std::move(made);
    return lane.get();
  } catch (const std::exception&) {
    return nullptr;
  }
}

HighPriorityStream::HighPriorityStream(CudaContext& context) noexcept
    : context_(context), own_(context.stream()), lane_(lane(context, context.stream())) {
  if (lane_ == nullptr) return;
  context_.check(cudaEventRecord(lane_->before, own_), "cudaEventRecord");
  context_.check(cudaStreamWaitEvent(lane_->stream, lane_->before, 0), "cudaStreamWaitEvent");
  context_.redirect(lane_->stream);
  context_.check(cublasSetStream(context_.cublas(), lane_->stream), "cublasSetStream");
}

HighPriorityStream::~HighPriorityStream() {
  if (lane_ == nullptr) return;
  context_.check(cudaEventRecord(lane_->after, lane_->stream), "cudaEventRecord");
  context_.check(cudaStreamWaitEvent(own_, lane_->after, 0), "cudaStreamWaitEvent");
  context_.redirect(nullptr);
  context_.check(cublasSetStream(context_.cublas(), own_), "cublasSetStream");
}

}  // namespace tesela::kernels

#endif
