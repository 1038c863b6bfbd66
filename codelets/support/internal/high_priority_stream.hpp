#pragma once

// Only for CUDA variants.

#include <tesela/runtime/cuda_context.hpp>

namespace tesela::kernels {

/// During its lifetime, everything that a CUDA variant enqueues (also cuBLAS calls) runs on a stream of highest
/// priority, in order with the earlier and later work on the worker's stream. A GPU with waiting work of other streams
/// serves this stream first. For tasks on the critical path that consist of many small kernels. An object within the
/// lifetime of another one changes nothing.
class HighPriorityStream {
 public:
  explicit HighPriorityStream(CudaContext& context) noexcept;
  ~HighPriorityStream();
  HighPriorityStream(const HighPriorityStream&) = delete;
  HighPriorityStream& operator=(const HighPriorityStream&) = delete;

 private:
  struct Lane;
  static Lane* lane(CudaContext& context, CUstream_st* stream) noexcept;
  CudaContext& context_;
  CUstream_st* own_;  // the worker's stream
  Lane* lane_;        // null if the stream stays
};

}  // namespace tesela::kernels
