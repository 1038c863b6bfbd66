#include "bench/peers/cusolver_generalized_eig.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>

#include <limits>
#include <string>

#if TESELA_HAVE_CUDA
#include "bench/peers/cusolver_peer.hpp"

#include <cuda_runtime.h>

#include <cusolverDn.h>
#endif

namespace tesela {

#if TESELA_HAVE_CUDA

using cusolver::check;
using cusolver::DeviceArray;

template <class T>
struct CusolverGeneralizedEig<T>::Impl : cusolver::Solver {
  Impl(index_t order, bool vectors)
      : n(static_cast<int>(order)),
        job(vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR),
        bytes(static_cast<std::size_t>(order * order) * sizeof(T)),
        a(bytes),
        b(bytes),
        w(static_cast<std::size_t>(n) * sizeof(T)),
        info(sizeof(int)) {
    if (n == 0) return;
    if constexpr (std::is_same_v<T, float>)
      check(cusolverDnSsygvd_bufferSize(handle, CUSOLVER_EIG_TYPE_1, job, CUBLAS_FILL_MODE_LOWER, n, of(a), n, of(b), n,
                                        of(w), &size),
            "cusolverDnSsygvd_bufferSize");
    else
      check(cusolverDnDsygvd_bufferSize(handle, CUSOLVER_EIG_TYPE_1, job, CUBLAS_FILL_MODE_LOWER, n, of(a), n, of(b), n,
                                        of(w), &size),
            "cusolverDnDsygvd_bufferSize");
    if (size < 0) throw EnvironmentError("cuSOLVER sygvd: its workspace exceeds 32 bits");
    work = std::make_unique<DeviceArray>(static_cast<std::size_t>(size) * sizeof(T));
  }

  static T* of(const DeviceArray& memory) { return static_cast<T*>(memory.data); }
  void solve() {
    auto* const outcome = static_cast<int*>(info.data);
    if constexpr (std::is_same_v<T, float>)
      check(cusolverDnSsygvd(handle, CUSOLVER_EIG_TYPE_1, job, CUBLAS_FILL_MODE_LOWER, n, of(a), n, of(b), n, of(w),
                             of(*work), size, outcome),
            "cusolverDnSsygvd");
    else
      check(cusolverDnDsygvd(handle, CUSOLVER_EIG_TYPE_1, job, CUBLAS_FILL_MODE_LOWER, n, of(a), n, of(b), n, of(w),
                             of(*work), size, outcome),
            "cusolverDnDsygvd");
  }

  int n, size = 0;
  cusolverEigMode_t job;
  std::size_t bytes;
  DeviceArray a, b, w, info;
  std::unique_ptr<DeviceArray> work;
};

template <class T>
CusolverGeneralizedEig<T>::CusolverGeneralizedEig(index_t n, bool vectors) {
  if (n > std::numeric_limits<int>::max())
    throw ArgumentError("CusolverGeneralizedEig", "n", std::to_string(n) + " exceeds cuSOLVER's integers");
  impl_ = std::make_unique<Impl>(n, vectors);
}

template <class T>
void CusolverGeneralizedEig<T>::upload(const T* a, const T* b) const {
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaMemcpy(impl_->a.data, a, impl_->bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemcpy(impl_->b.data, b, impl_->bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

template <class T>
void CusolverGeneralizedEig<T>::solve(T* values) const {
  Impl& i = *impl_;
  if (i.n == 0) return;
  check(cudaSetDevice(0), "cudaSetDevice");
  i.solve();
  int info = 0;
  check(cudaMemcpy(&info, i.info.data, sizeof info, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (info != 0) throw EnvironmentError("cuSOLVER sygvd: info " + std::to_string(info));
  check(cudaMemcpy(values, i.w.data, static_cast<std::size_t>(i.n) * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
}

template <class T>
void CusolverGeneralizedEig<T>::download(T* vectors) const {
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaMemcpy(vectors, impl_->a.data, impl_->bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

#else

template <class T>
struct CusolverGeneralizedEig<T>::Impl {};
template <class T>
CusolverGeneralizedEig<T>::CusolverGeneralizedEig(index_t, bool) {
  throw EnvironmentError("this build has no CUDA: cuSOLVER is not available");
}
template <class T>
void CusolverGeneralizedEig<T>::upload(const T*, const T*) const {}
template <class T>
void CusolverGeneralizedEig<T>::solve(T*) const {}
template <class T>
void CusolverGeneralizedEig<T>::download(T*) const {}

#endif

template <class T>
CusolverGeneralizedEig<T>::~CusolverGeneralizedEig() = default;

template class CusolverGeneralizedEig<float>;
template class CusolverGeneralizedEig<double>;

}  // namespace tesela
