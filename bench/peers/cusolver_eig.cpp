#include "bench/peers/cusolver_eig.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>

#include <string>
#include <vector>

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
struct CusolverEig<T>::Impl : cusolver::Solver {
  static constexpr cudaDataType type = cusolver::type_of<T>;

  Impl(index_t order, bool vectors)
      : n(order),
        job(vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR),
        a(static_cast<std::size_t>(n * n) * sizeof(T)),
        w(static_cast<std::size_t>(n) * sizeof(T)),
        info(sizeof(int)) {
    std::size_t host_bytes = 0;
    check(cusolverDnXsyevd_bufferSize(handle, params, job, CUBLAS_FILL_MODE_LOWER, n, type, a.data, n, type, w.data,
                                      type, &device_bytes, &host_bytes),
          "cusolverDnXsyevd_bufferSize");
    work = std::make_unique<DeviceArray>(device_bytes);
    host_work.resize(host_bytes);
  }

  index_t n;
  cusolverEigMode_t job;
  DeviceArray a, w, info;
  std::unique_ptr<DeviceArray> work;
  std::size_t device_bytes = 0;
  std::vector<unsigned char> host_work;
};

template <class T>
CusolverEig<T>::CusolverEig(index_t n, bool vectors) : impl_(std::make_unique<Impl>(n, vectors)) {}

template <class T>
void CusolverEig<T>::fill_toeplitz(const T* t) const {
  cusolver::fill_toeplitz(impl_->n, t, static_cast<T*>(impl_->a.data));
}

template <class T>
void CusolverEig<T>::upload(const T* a) const {
  check(cudaMemcpy(impl_->a.data, a, static_cast<std::size_t>(impl_->n * impl_->n) * sizeof(T), cudaMemcpyHostToDevice),
        "cudaMemcpy");
}

template <class T>
void CusolverEig<T>::solve(T* values) const {
  Impl& i = *impl_;
  check(cusolverDnXsyevd(i.handle, i.params, i.job, CUBLAS_FILL_MODE_LOWER, i.n, Impl::type, i.a.data, i.n, Impl::type,
                         i.w.data, Impl::type, i.work->data, i.device_bytes, i.host_work.data(), i.host_work.size(),
                         static_cast<int*>(i.info.data)),
        "cusolverDnXsyevd");
  int info = 0;
  check(cudaMemcpy(&info, i.info.data, sizeof info, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (info != 0) throw EnvironmentError("cusolverDnXsyevd: info " + std::to_string(info));
  check(cudaMemcpy(values, i.w.data, static_cast<std::size_t>(i.n) * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
}

#else

template <class T>
struct CusolverEig<T>::Impl {};
template <class T>
CusolverEig<T>::CusolverEig(index_t, bool) {
  throw EnvironmentError("this build has no CUDA: cuSOLVER is not available");
}
template <class T>
void CusolverEig<T>::fill_toeplitz(const T*) const {}
template <class T>
void CusolverEig<T>::upload(const T*) const {}
template <class T>
void CusolverEig<T>::solve(T*) const {}

#endif

template <class T>
CusolverEig<T>::~CusolverEig() = default;

template class CusolverEig<float>;
template class CusolverEig<double>;

}  // namespace tesela
