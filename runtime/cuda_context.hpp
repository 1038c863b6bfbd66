#pragma once

// CUDA types that a kernel uses, declared without CUDA's headers, so that a kernel's declaration compiles everywhere.
struct CUstream_st;
struct cublasContext;
struct cusolverDnContext;

namespace tesela {

/// Context of a kernel's CUDA variant: the worker's stream, and its cuBLAS and cuSOLVER handles, bound to that stream.
/// The variant only enqueues work; StarPU waits for the stream. The context lives for one call.
///
/// Outside tasks, a context made on the thread that made the Runtime serves to query cuSOLVER's workspace sizes;
/// cusolver() is null there if the runtime has no GPU.
class CudaContext {
 public:
  explicit CudaContext(const char* kernel) noexcept : kernel_(kernel) {}

  CUstream_st* stream() const noexcept;
  /// Makes stream() return another stream, which the caller joins to the worker's stream; null restores the worker's
  /// stream. The handles stay on their stream.
  void redirect(CUstream_st* stream) noexcept { redirected_ = stream; }
  cublasContext* cublas() const noexcept;
  cusolverDnContext* cusolver() const noexcept;

  /// Reports a failed CUDA, cuBLAS or cuSOLVER call (0 is success in all of them): the graph's wait() then throws an
  /// EnvironmentError that names kernel, call and status. Returns true if the call succeeded.
  bool check(int status, const char* call) const noexcept;

 private:
  const char* kernel_;
  CUstream_st* redirected_ = nullptr;
};

}  // namespace tesela
