#pragma once

// For CUDA variants only.

#include <tesela/runtime/cuda_context.hpp>

namespace tesela::kernels {

/// While it lives, what a CUDA variant enqueues (its cuBLAS calls too) runs on a stream of highest priority between
/// what came before on the worker's stream and what follows there: a GPU that has other streams' work waiting serves
/// this first. For tasks on the critical path that are made of many small kernels.
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
  Lane* lane_;        // null when there could be none: the worker's stream serves
};

}  // namespace tesela::kernels
