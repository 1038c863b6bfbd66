#include "tools/peers/cusolver_generalized_eig.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>

#include <limits>
#include <string>

#if TESELA_HAVE_CUDA
#include "tools/peers/cusolver_peer.hpp"

#include <cuda_runtime.h>

#include <cusolverDn.h>

namespace tesela {

using namespace cusolver;

template <class T>
struct CusolverGeneralizedEig<T>::Impl : cusolver::Solver {
  Impl(index_t order, bool vectors)
      : n(static_cast<int>(order)),
        job(vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR),
        bytes(bytes_of<T>(order * order)),
        a(bytes),
        b(bytes),
        w(bytes_of<T>(n)),
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
    work = std::make_unique<DeviceArray>(bytes_of<T>(size));
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
  require(n <= std::numeric_limits<int>::max(), "CusolverGeneralizedEig", "n", n, " exceeds cuSOLVER's integers");
  impl_ = std::make_unique<Impl>(n, vectors);
}

template <class T>
void CusolverGeneralizedEig<T>::upload(const T* a, const T* b) const {
  copy(impl_->a.data, a, impl_->bytes);
  copy(impl_->b.data, b, impl_->bytes);
}

template <class T>
void CusolverGeneralizedEig<T>::solve(T* values) const {
  Impl& i = *impl_;
  if (i.n == 0) return;
  check(cudaSetDevice(0), "cudaSetDevice");
  i.solve();
  int info = 0;
  copy(&info, i.info.data, sizeof info);
  if (info != 0) throw EnvironmentError("cuSOLVER sygvd: info " + std::to_string(info));
  copy(values, i.w.data, bytes_of<T>(i.n));
}

template <class T>
void CusolverGeneralizedEig<T>::download(T* vectors) const {
  copy(vectors, impl_->a.data, impl_->bytes);
}

template <class T>
CusolverGeneralizedEig<T>::~CusolverGeneralizedEig() = default;

template class CusolverGeneralizedEig<float>;
template class CusolverGeneralizedEig<double>;

}  // namespace tesela

#endif
