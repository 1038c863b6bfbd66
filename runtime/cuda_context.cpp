#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/internal/stop_requests.hpp>

#include <starpu.h>

#include <string>

#if TESELA_HAVE_CUDA
#include <cuda_runtime.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>
#endif

namespace tesela {

#if TESELA_HAVE_CUDA
CUstream_st* CudaContext::stream() const noexcept {
  return redirected_ != nullptr ? redirected_ : starpu_cuda_get_local_stream();
}
cublasContext* CudaContext::cublas() const noexcept { return starpu_cublas_get_local_handle(); }
#else
CUstream_st* CudaContext::stream() const noexcept { return nullptr; }
cublasContext* CudaContext::cublas() const noexcept { return nullptr; }
#endif

#if TESELA_HAVE_CUDA && defined(STARPU_HAVE_LIBCUSOLVER)
cusolverDnContext* CudaContext::cusolver() const noexcept { return starpu_cusolverDn_get_local_handle(); }
#else
cusolverDnContext* CudaContext::cusolver() const noexcept { return nullptr; }
#endif

bool CudaContext::check(int status, const char* call) const noexcept {
  if (status == 0) return true;
  detail::report_failure(std::string("kernel ") + kernel_ + ": " + call + " failed with status " +
                         std::to_string(status) + " on " + [] {
                           char name[64] = "the host";
                           if (starpu_worker_get_id() >= 0)
                             starpu_worker_get_name(starpu_worker_get_id(), name, sizeof name);
                           return std::string(name);
                         }());
  return false;
}

namespace detail {

#if TESELA_HAVE_CUDA
void check_last_launch(const CudaContext& context) noexcept {
  context.check(static_cast<int>(cudaGetLastError()), "a kernel launch");
}
#else
void check_last_launch(const CudaContext&) noexcept {}
#endif

}  // namespace detail

}  // namespace tesela
