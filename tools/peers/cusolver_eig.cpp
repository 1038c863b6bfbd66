#include "tools/peers/cusolver_eig.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>

#include <string>
#include <vector>

#if TESELA_HAVE_CUDA
#include "tools/peers/cusolver_peer.hpp"

#include <cuda_runtime.h>

#include <cusolverDn.h>

namespace tesela {

using namespace cusolver;

template <class T>
struct CusolverEig<T>::Impl : cusolver::Solver {
  static constexpr cudaDataType type = type_of<T>;

  Impl(index_t order, bool vectors, index_t smallest)
      : n(order),
        count(smallest > 0 ? smallest : order),
        job(vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR),
        a(bytes_of<T>(n * n)),
        w(bytes_of<T>(n)),
        info(sizeof(int)) {
    if (n == 0) return;
    std::size_t host_bytes = 0;
    if (count == n)
      check(cusolverDnXsyevd_bufferSize(handle, params, job, CUBLAS_FILL_MODE_LOWER, n, type, a.data, n, type, w.data,
                                        type, &device_bytes, &host_bytes),
            "cusolverDnXsyevd_bufferSize");
    else
      check(cusolverDnXsyevdx_bufferSize(handle, params, job, CUSOLVER_EIG_RANGE_I, CUBLAS_FILL_MODE_LOWER, n, type,
                                         a.data, n, &no_limit, &no_limit, 1, count, &found, type, w.data, type,
                                         &device_bytes, &host_bytes),
            "cusolverDnXsyevdx_bufferSize");
    work = std::make_unique<DeviceArray>(device_bytes);
    host_work.resize(host_bytes);
  }

  void solve() {
    auto* const outcome = static_cast<int*>(info.data);
    if (count == n)
      check(cusolverDnXsyevd(handle, params, job, CUBLAS_FILL_MODE_LOWER, n, type, a.data, n, type, w.data, type,
                             work->data, device_bytes, host_work.data(), host_work.size(), outcome),
            "cusolverDnXsyevd");
    else
      check(cusolverDnXsyevdx(handle, params, job, CUSOLVER_EIG_RANGE_I, CUBLAS_FILL_MODE_LOWER, n, type, a.data, n,
                              &no_limit, &no_limit, 1, count, &found, type, w.data, type, work->data, device_bytes,
                              host_work.data(), host_work.size(), outcome),
            "cusolverDnXsyevdx");
  }

  index_t n, count;
  cusolverEigMode_t job;
  DeviceArray a, w, info;
  std::unique_ptr<DeviceArray> work;
  std::size_t device_bytes = 0;
  std::vector<unsigned char> host_work;
  std::int64_t found = 0;
  T no_limit = 0;
};

template <class T>
CusolverEig<T>::CusolverEig(index_t n, bool vectors, index_t smallest)
    : impl_(std::make_unique<Impl>(n, vectors, smallest)) {}

template <class T>
T* CusolverEig<T>::a() const {
  return static_cast<T*>(impl_->a.data);
}

template <class T>
void CusolverEig<T>::fill_toeplitz(const T* t) const {
  cusolver::fill_toeplitz(impl_->n, t, static_cast<T*>(impl_->a.data));
}

template <class T>
void CusolverEig<T>::upload(const T* a) const {
  copy(impl_->a.data, a, bytes_of<T>(impl_->n * impl_->n));
}

template <class T>
void CusolverEig<T>::solve(T* values) const {
  Impl& i = *impl_;
  if (i.n == 0) return;
  check(cudaSetDevice(0), "cudaSetDevice");
  i.solve();
  int info = 0;
  copy(&info, i.info.data, sizeof info);
  if (info != 0) throw EnvironmentError("cuSOLVER syevd: info " + std::to_string(info));
  copy(values, i.w.data, bytes_of<T>(i.count));
}

template <class T>
void CusolverEig<T>::download(T* vectors, index_t count) const {
  copy(vectors, impl_->a.data, bytes_of<T>(impl_->n * count));
}

template <class T>
CusolverEig<T>::~CusolverEig() = default;

template class CusolverEig<float>;
template class CusolverEig<double>;

}  // namespace tesela

#endif
