#include "tools/peers/cusolver_factor.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>

#include <string>

#if TESELA_HAVE_CUDA
#include "tools/peers/cusolver_peer.hpp"

#include <cuda_runtime.h>

#include <cusolverDn.h>

namespace tesela {

using namespace cusolver;

template <class T>
struct CusolverFactor<T>::Impl : cusolver::Solver {
  static constexpr cudaDataType type = type_of<T>;

  Impl(index_t order, By how, bool keeps)
      : n(order),
        by(how),
        a(bytes_of<T>(n * n)),
        original(keeps ? bytes_of<T>(n * n) : 0),
        pivots(bytes_of<std::int64_t>(n)),
        info(sizeof(int)) {
    std::size_t on_host = 0;
    if (by == By::cholesky)
      check(cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_UPPER, n, type, a.data, n, type, &work_bytes,
                                        &on_host),
            "cusolverDnXpotrf_bufferSize");
    else
      check(cusolverDnXgetrf_bufferSize(handle, params, n, n, type, a.data, n, type, &work_bytes, &on_host),
            "cusolverDnXgetrf_bufferSize");
    host_work.resize(on_host);
    work = std::make_unique<DeviceArray>(work_bytes);
  }

  void factor() {
    auto* const outcome = static_cast<int*>(info.data);
    if (by == By::cholesky)
      check(cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_UPPER, n, type, a.data, n, type, work->data, work_bytes,
                             host_work.data(), host_work.size(), outcome),
            "cusolverDnXpotrf");
    else
      check(cusolverDnXgetrf(handle, params, n, n, type, a.data, n,
                             by == By::lu ? static_cast<std::int64_t*>(pivots.data) : nullptr, type, work->data,
                             work_bytes, host_work.data(), host_work.size(), outcome),
            "cusolverDnXgetrf");
  }

  index_t n;
  By by;
  DeviceArray a, original, pivots, info;
  std::unique_ptr<DeviceArray> work;
  std::size_t work_bytes = 0;
  std::vector<unsigned char> host_work;
};

template <class T>
CusolverFactor<T>::CusolverFactor(index_t n, By by, bool kept) : impl_(std::make_unique<Impl>(n, by, kept)) {}

template <class T>
void CusolverFactor<T>::keep(const T* a) const {
  copy(impl_->original.data, a, bytes_of<T>(impl_->n * impl_->n));
}

template <class T>
void CusolverFactor<T>::put_back() const {
  copy(impl_->a.data, impl_->original.data, bytes_of<T>(impl_->n * impl_->n));
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

template <class T>
void CusolverFactor<T>::upload(const T* a) const {
  copy(impl_->a.data, a, bytes_of<T>(impl_->n * impl_->n));
}

template <class T>
void CusolverFactor<T>::download(T* a) const {
  copy(a, impl_->a.data, bytes_of<T>(impl_->n * impl_->n));
}

template <class T>
int CusolverFactor<T>::factor() const {
  check(cudaSetDevice(0), "cudaSetDevice");
  impl_->factor();
  int outcome = 0;
  copy(&outcome, impl_->info.data, sizeof outcome);  // waits
  if (outcome < 0) throw EnvironmentError("cuSOLVER: info " + std::to_string(outcome));
  return outcome;
}

template <class T>
std::vector<int> CusolverFactor<T>::swaps() const {
  if (impl_->by != By::lu) return {};
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(impl_->n));
  copy(pivots.data(), impl_->pivots.data, pivots.size() * sizeof(std::int64_t));
  return {pivots.begin(), pivots.end()};
}

template <class T>
CusolverFactor<T>::~CusolverFactor() = default;

template class CusolverFactor<float>;
template class CusolverFactor<double>;

}  // namespace tesela

#endif
