#pragma once

// The CUDA types a kernel meets, declared without CUDA's headers, so that a kernel's declaration compiles everywhere.
struct CUstream_st;
struct cublasContext;
struct cusolverDnContext;

namespace tesela {

/// What a kernel's CUDA variant works with: the worker's stream, and its cuBLAS and cuSOLVER handles (bound to that
/// stream). The variant only enqueues work; StarPU waits for the stream. It lives for one call.
///
/// Outside tasks, a context made on the thread that made the Runtime asks cuSOLVER how much scratch a kernel needs:
/// cusolver() is null there when the runtime has no GPU.
class CudaContext {
 public:
  explicit CudaContext(const char* kernel) noexcept : kernel_(kernel) {}

  CUstream_st* stream() const noexcept;
  /// Makes stream() answer another stream from now on, which the caller joins to the worker's own; null for that one
  /// again. The handles stay on the stream they are on.
  void redirect(CUstream_st* stream) noexcept { redirected_ = stream; }
  cublasContext* cublas() const noexcept;
  cusolverDnContext* cusolver() const noexcept;

  /// Reports a failed CUDA, cuBLAS or cuSOLVER call (0 is success in all of them): the graph's wait() then throws an
  /// EnvironmentError that names kernel, call and status. Returns true when the status is a success.
  bool check(int status, const char* call) const noexcept;

 private:
  const char* kernel_;
  CUstream_st* redirected_ = nullptr;
};

}  // namespace tesela
