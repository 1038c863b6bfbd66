#include "tools/peers/cusolver_qr.hpp"

#include <tesela/runtime/config.hpp>

#if TESELA_HAVE_CUDA
#include "tools/peers/cusolver_peer.hpp"
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cusolverDn.h>
#include <limits>
#include <string>

namespace tesela {

using namespace cusolver;

template <class T>
struct CusolverQr<T>::Impl {
  Impl(index_t rows, index_t cols, index_t reflectors_at_once)
      : m(static_cast<int>(rows)),
        n(static_cast<int>(cols)),
        k(std::min(m, n)),
        at_once(reflectors_at_once),
        a(bytes_of<T>(rows * cols)),
        tau(bytes_of<T>(k)),
        info(sizeof(int)),
        work(bytes_of<T>(work_size())) {
    check(cublasCreate(blas.out()), "cublasCreate");
  }

  T* matrix() const { return static_cast<T*>(a.data); }
  int work_size() {
    if (k == 0) return 0;
    if constexpr (std::is_same_v<T, float>)
      check(cusolverDnSgeqrf_bufferSize(solver.handle, m, n, matrix(), m, &lwork), "cusolverDnSgeqrf_bufferSize");
    else
      check(cusolverDnDgeqrf_bufferSize(solver.handle, m, n, matrix(), m, &lwork), "cusolverDnDgeqrf_bufferSize");
    return lwork;
  }
  void wait(const char* call) const {
    int outcome = 0;
    copy(&outcome, info.data, sizeof outcome);  // waits
    if (outcome != 0) throw EnvironmentError(std::string(call) + ": info " + std::to_string(outcome));
  }

  /// C = op(Q) C in device memory.
  void multiply(Op op, T* c, index_t cols) const {
    const index_t blocks = ceil_div(k, at_once);
    for (index_t b = 0; b < blocks; ++b) {
      const index_t first = (op == Op::none ? blocks - 1 - b : b) * at_once;
      apply_reflectors(op, first, std::min(at_once, k - first), c + first, cols);
    }
  }
  /// Applies reflectors to C's rows from `first` on.
  void apply_reflectors(Op op, index_t first, index_t reflectors, T* c, index_t cols) const {
    const cublasOperation_t trans = op == Op::none ? CUBLAS_OP_N : CUBLAS_OP_T;
    const int rows = static_cast<int>(m - first), count = static_cast<int>(cols), steps = static_cast<int>(reflectors);
    const T* const v = matrix() + first * (index_t{m} + 1);
    const T* const taus = static_cast<const T*>(tau.data) + first;
    auto* const outcome = static_cast<int*>(info.data);
    int size = 0;
    if constexpr (std::is_same_v<T, float>) {
      check(cusolverDnSormqr_bufferSize(solver.handle, CUBLAS_SIDE_LEFT, trans, rows, count, steps, v, m, taus, c, m,
                                        &size),
            "cusolverDnSormqr_bufferSize");
      const DeviceArray memory(bytes_of<T>(size));
      check(cusolverDnSormqr(solver.handle, CUBLAS_SIDE_LEFT, trans, rows, count, steps, v, m, taus, c, m,
                             static_cast<T*>(memory.data), size, outcome),
            "cusolverDnSormqr");
      wait("cuSOLVER ormqr");
    } else {
      check(cusolverDnDormqr_bufferSize(solver.handle, CUBLAS_SIDE_LEFT, trans, rows, count, steps, v, m, taus, c, m,
                                        &size),
            "cusolverDnDormqr_bufferSize");
      const DeviceArray memory(bytes_of<T>(size));
      check(cusolverDnDormqr(solver.handle, CUBLAS_SIDE_LEFT, trans, rows, count, steps, v, m, taus, c, m,
                             static_cast<T*>(memory.data), size, outcome),
            "cusolverDnDormqr");
      wait("cuSOLVER ormqr");
    }
  }

  cusolver::Solver solver;  // first: it reports a missing device
  bench::Handle<cublasHandle_t, cublasDestroy> blas;
  int m, n, k, lwork = 0;
  index_t at_once;
  DeviceArray a, tau, info, work;
  std::unique_ptr<DeviceArray> q_work;  // allocated by the first form_q, so that a second one is timed without it
};

template <class T>
CusolverQr<T>::CusolverQr(index_t m, index_t n, index_t at_once) {
  require(std::max(m, n) <= std::numeric_limits<int>::max(), "CusolverQr", "size", std::max(m, n),
          " exceeds cuSOLVER's integers");
  // ormqr counts its workspace, about two numbers for each entry of V, in 32 bits.
  constexpr index_t entries_at_once = index_t{1} << 28;
  if (at_once < 1) at_once = std::max<index_t>(1, entries_at_once / std::max<index_t>(m, 1));
  impl_ = std::make_unique<Impl>(m, n, at_once);
}

template <class T>
T* CusolverQr<T>::a() const {
  return impl_->matrix();
}

template <class T>
void CusolverQr<T>::upload(const T* a) const {
  copy(impl_->matrix(), a, bytes_of<T>(index_t{impl_->m} * impl_->n));
}

template <class T>
void CusolverQr<T>::download(T* a) const {
  download(a, 0, impl_->n);
}

template <class T>
void CusolverQr<T>::download(T* a, index_t first, index_t count) const {
  copy(a, impl_->matrix() + first * impl_->m, bytes_of<T>(impl_->m * count));
}

template <class T>
void CusolverQr<T>::factor() const {
  Impl& i = *impl_;
  if (i.k == 0) return;
  check(cudaSetDevice(0), "cudaSetDevice");
  auto* const tau = static_cast<T*>(i.tau.data);
  auto* const work = static_cast<T*>(i.work.data);
  auto* const info = static_cast<int*>(i.info.data);
  if constexpr (std::is_same_v<T, float>)
    check(cusolverDnSgeqrf(i.solver.handle, i.m, i.n, i.matrix(), i.m, tau, work, i.lwork, info), "cusolverDnSgeqrf");
  else
    check(cusolverDnDgeqrf(i.solver.handle, i.m, i.n, i.matrix(), i.m, tau, work, i.lwork, info), "cusolverDnDgeqrf");
  i.wait("cuSOLVER geqrf");
}

template <class T>
void CusolverQr<T>::form_q() const {
  Impl& i = *impl_;
  if (i.k == 0) return;
  check(cudaSetDevice(0), "cudaSetDevice");
  auto* const tau = static_cast<T*>(i.tau.data);
  auto* const info = static_cast<int*>(i.info.data);
  int size = 0;
  if constexpr (std::is_same_v<T, float>) {
    check(cusolverDnSorgqr_bufferSize(i.solver.handle, i.m, i.n, i.k, i.matrix(), i.m, tau, &size),
          "cusolverDnSorgqr_bufferSize");
    if (!i.q_work) i.q_work = std::make_unique<DeviceArray>(bytes_of<T>(size));
    check(cusolverDnSorgqr(i.solver.handle, i.m, i.n, i.k, i.matrix(), i.m, tau, static_cast<T*>(i.q_work->data), size,
                           info),
          "cusolverDnSorgqr");
    i.wait("cuSOLVER orgqr");
  } else {
    check(cusolverDnDorgqr_bufferSize(i.solver.handle, i.m, i.n, i.k, i.matrix(), i.m, tau, &size),
          "cusolverDnDorgqr_bufferSize");
    if (!i.q_work) i.q_work = std::make_unique<DeviceArray>(bytes_of<T>(size));
    check(cusolverDnDorgqr(i.solver.handle, i.m, i.n, i.k, i.matrix(), i.m, tau, static_cast<T*>(i.q_work->data), size,
                           info),
          "cusolverDnDorgqr");
    i.wait("cuSOLVER orgqr");
  }
}

template <class T>
void CusolverQr<T>::multiply(Op op, T* c, index_t cols) const {
  const std::size_t bytes = bytes_of<T>(impl_->m * cols);
  if (impl_->k == 0 || cols == 0) return;
  check(cudaSetDevice(0), "cudaSetDevice");
  const DeviceArray block(bytes);
  copy(block.data, c, bytes);
  impl_->multiply(op, static_cast<T*>(block.data), cols);
  copy(c, block.data, bytes);
}

template <class T>
void CusolverQr<T>::multiply_on_device(Op op, T* c, index_t cols) const {
  if (impl_->k == 0 || cols == 0) return;
  check(cudaSetDevice(0), "cudaSetDevice");
  impl_->multiply(op, c, cols);
}

template <class T>
void CusolverQr<T>::solve(T* b, index_t cols) const {
  const Impl& i = *impl_;
  require(i.m >= i.n, "CusolverQr::solve", "shape", "there are fewer rows than columns");
  if (i.k == 0 || cols == 0) return;
  check(cudaSetDevice(0), "cudaSetDevice");
  const std::size_t bytes = bytes_of<T>(i.m * cols);
  const DeviceArray block(bytes);
  auto* const x = static_cast<T*>(block.data);
  copy(x, b, bytes);
  i.multiply(Op::transpose, x, cols);
  check(cublas::trsm(i.blas, Op::none, index_t{i.n}, cols, i.matrix(), index_t{i.m}, x, index_t{i.m}), "cublas trsm");
  copy(b, x, bytes);  // waits
}

template <class T>
CusolverQr<T>::~CusolverQr() = default;

template class CusolverQr<float>;
template class CusolverQr<double>;

}  // namespace tesela
#endif
