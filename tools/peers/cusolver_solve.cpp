#include "tools/peers/cusolver_solve.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>

#include <array>
#include <string>
#include <vector>

#if TESELA_HAVE_CUDA
#include "tools/peers/cusolver_peer.hpp"

#include <cuda_runtime.h>

#include <cusolverDn.h>

namespace tesela {

using namespace cusolver;

template <class T>
struct CusolverSolve<T>::Impl : cusolver::Solver {
  static constexpr cudaDataType type = type_of<T>;

  Impl(index_t order, index_t columns)
      : n(order),
        r(columns),
        a(static_cast<std::size_t>(n * n) * sizeof(T)),
        b(static_cast<std::size_t>(n * r) * sizeof(T)),
        pivots(static_cast<std::size_t>(n) * sizeof(std::int64_t)),
        infos(2 * sizeof(int)) {}

  void reserve(By by) {
    std::size_t on_device = 0, on_host = 0;
    if (by == By::cholesky)
      check(cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_LOWER, n, type, a.data, n, type, &on_device,
                                        &on_host),
            "cusolverDnXpotrf_bufferSize");
    else
      check(cusolverDnXgetrf_bufferSize(handle, params, n, n, type, a.data, n, type, &on_device, &on_host),
            "cusolverDnXgetrf_bufferSize");
    if (host_work.size() < on_host) host_work.resize(on_host);
    if (work && work_bytes >= on_device) return;
    work.reset();
    work = std::make_unique<DeviceArray>(on_device);
    work_bytes = on_device;
  }

  void cholesky(int* info) {
    check(cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, n, type, a.data, n, type, work->data, work_bytes,
                           host_work.data(), host_work.size(), info),
          "cusolverDnXpotrf");
    check(cusolverDnXpotrs(handle, params, CUBLAS_FILL_MODE_LOWER, n, r, type, a.data, n, type, b.data, n, info + 1),
          "cusolverDnXpotrs");
  }
  void lu(int* info) {
    auto* const rows = static_cast<std::int64_t*>(pivots.data);
    check(cusolverDnXgetrf(handle, params, n, n, type, a.data, n, rows, type, work->data, work_bytes, host_work.data(),
                           host_work.size(), info),
          "cusolverDnXgetrf");
    check(cusolverDnXgetrs(handle, params, CUBLAS_OP_N, n, r, type, a.data, n, rows, type, b.data, n, info + 1),
          "cusolverDnXgetrs");
  }

  index_t n, r;
  DeviceArray a, b, pivots, infos;  // infos of the factorization and of the solve
  std::unique_ptr<DeviceArray> work;
  std::size_t work_bytes = 0;
  std::vector<unsigned char> host_work;
};

template <class T>
CusolverSolve<T>::CusolverSolve(index_t n, index_t r) : impl_(std::make_unique<Impl>(n, r)) {}

template <class T>
void CusolverSolve<T>::prepare(const T* t, By by) const {
  check(cudaSetDevice(0), "cudaSetDevice");
  impl_->reserve(by);
  cusolver::fill_toeplitz(impl_->n, t, static_cast<T*>(impl_->a.data));
}

template <class T>
int CusolverSolve<T>::solve(T* b, By by) const {
  Impl& i = *impl_;
  const std::size_t bytes = static_cast<std::size_t>(i.n * i.r) * sizeof(T);
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaMemcpy(i.b.data, b, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  auto* const info = static_cast<int*>(i.infos.data);
  by == By::cholesky ? i.cholesky(info) : i.lu(info);
  std::array<int, 2> infos{};
  check(cudaMemcpy(infos.data(), info, sizeof infos, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (infos[0] < 0 || infos[1] != 0)
    throw EnvironmentError("cuSOLVER: infos " + std::to_string(infos[0]) + " and " + std::to_string(infos[1]));
  check(cudaMemcpy(b, i.b.data, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return infos[0];
}

template <class T>
CusolverSolve<T>::~CusolverSolve() = default;

template class CusolverSolve<float>;
template class CusolverSolve<double>;

}  // namespace tesela

#endif
