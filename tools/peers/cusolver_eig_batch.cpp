#include "tools/peers/cusolver_eig_batch.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <string>
#include <vector>

#if TESELA_HAVE_CUDA
#include "tools/peers/cusolver_peer.hpp"

#include <cuda_runtime.h>

#include <cusolverDn.h>

namespace tesela {

using namespace cusolver;

template <class T>
struct CusolverEigBatch<T>::Impl : cusolver::Solver {
  static constexpr cudaDataType type = type_of<T>;
  static constexpr index_t fails = 65536, most = fails / 2;

  Impl(index_t order, index_t matrices, bool vectors)
      : n(order),
        count(matrices),
        at_once(count < fails ? count : most),
        job(vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR),
        a(bytes_of<T>(n * n * count)),
        w(bytes_of<T>(n * count)),
        info(bytes_of<int>(count)),
        infos(static_cast<std::size_t>(count)) {
    std::size_t host_bytes = 0;
    check(cusolverDnXsyevBatched_bufferSize(handle, params, job, CUBLAS_FILL_MODE_LOWER, n, type, a.data, n, type,
                                            w.data, type, &device_bytes, &host_bytes, at_once),
          "cusolverDnXsyevBatched_bufferSize");
    work = std::make_unique<DeviceArray>(device_bytes);
    host_work.resize(host_bytes);
  }

  index_t n, count, at_once;
  cusolverEigMode_t job;
  DeviceArray a, w, info;
  std::unique_ptr<DeviceArray> work;
  std::size_t device_bytes = 0;
  std::vector<unsigned char> host_work;
  std::vector<int> infos;
};

template <class T>
CusolverEigBatch<T>::CusolverEigBatch(index_t n, index_t count, bool vectors)
    : impl_(std::make_unique<Impl>(n, count, vectors)) {}

template <class T>
void CusolverEigBatch<T>::upload(const T* a) const {
  copy(impl_->a.data, a, bytes_of<T>(impl_->n * impl_->n * impl_->count));
}

template <class T>
void CusolverEigBatch<T>::solve() const {
  Impl& i = *impl_;
  check(cudaSetDevice(0), "cudaSetDevice");
  for (index_t k = 0; k < i.count; k += i.at_once)
    check(cusolverDnXsyevBatched(i.handle, i.params, i.job, CUBLAS_FILL_MODE_LOWER, i.n, Impl::type,
                                 static_cast<T*>(i.a.data) + k * i.n * i.n, i.n, Impl::type,
                                 static_cast<T*>(i.w.data) + k * i.n, Impl::type, i.work->data, i.device_bytes,
                                 i.host_work.data(), i.host_work.size(), static_cast<int*>(i.info.data) + k,
                                 std::min(i.at_once, i.count - k)),
          "cusolverDnXsyevBatched");
  copy(i.infos.data(), i.info.data, bytes_of<int>(i.count));  // waits
  const auto bad = std::find_if(i.infos.begin(), i.infos.end(), [](int one) { return one != 0; });
  if (bad != i.infos.end())
    throw EnvironmentError("cusolverDnXsyevBatched: info " + std::to_string(*bad) + " of matrix " +
                           std::to_string(bad - i.infos.begin() + 1));
}

template <class T>
void CusolverEigBatch<T>::values(T* w) const {
  copy(w, impl_->w.data, bytes_of<T>(impl_->n * impl_->count));
}

template <class T>
void CusolverEigBatch<T>::vectors(T* x) const {
  copy(x, impl_->a.data, bytes_of<T>(impl_->n * impl_->n * impl_->count));
}

template <class T>
CusolverEigBatch<T>::~CusolverEigBatch() = default;

template class CusolverEigBatch<float>;
template class CusolverEigBatch<double>;

}  // namespace tesela

#endif
