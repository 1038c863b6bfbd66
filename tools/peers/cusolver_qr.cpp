#include "tools/peers/cusolver_qr.hpp"

#include <tesela/runtime/config.hpp>

#if TESELA_HAVE_CUDA
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/runtime/require.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cusolverDn.h>
#include <limits>

namespace tesela {

using namespace bench;
using namespace cusolver;
using cublas::numbers;
namespace {

int narrow(index_t n) {
  require(n <= std::numeric_limits<int>::max(), "CusolverQr", "size", n, " exceeds cuSOLVER's integers");
  return static_cast<int>(n);
}

// ormqr counts its workspace, about two numbers for each entry of V, in 32 bits.
constexpr index_t entries_at_once = index_t{1} << 28;

}  // namespace

template <class T>
CusolverQr<T>::CusolverQr(index_t m, index_t n, index_t at_once)
    : m_(narrow(m)),
      n_(narrow(n)),
      k_(std::min(m_, n_)),
      at_once_(at_once > 0 ? at_once : std::max<index_t>(1, entries_at_once / std::max<index_t>(m, 1))),
      a_(bytes_of<T>(m * n)),
      tau_(bytes_of<T>(k_)),
      info_(sizeof(int)),
      work_(bytes_of<T>(work_size())) {}

template <class T>
int CusolverQr<T>::work_size() {
  if (k_ > 0)
    check_device(by_type<T, cusolverDnSgeqrf_bufferSize, cusolverDnDgeqrf_bufferSize, cusolverDnCgeqrf_bufferSize,
                         cusolverDnZgeqrf_bufferSize>(on_.solver, m_, n_, numbers(a()), m_, &lwork_),
                 "cusolverDn geqrf_bufferSize");
  return lwork_;
}

template <class T>
void CusolverQr<T>::upload(const T* a) const {
  copy_memory(this->a(), a, bytes_of<T>(index_t{m_} * n_));
}

template <class T>
void CusolverQr<T>::download(T* a, index_t first, index_t count) const {
  copy_memory(a, this->a() + first * m_, bytes_of<T>(m_ * count));
}

template <class T>
void CusolverQr<T>::factor() const {
  if (k_ == 0) return;
  select_first_device();
  check_device(
      by_type<T, cusolverDnSgeqrf, cusolverDnDgeqrf, cusolverDnCgeqrf, cusolverDnZgeqrf>(
          on_.solver, m_, n_, numbers(a()), m_, numbers(tau_.as<T>()), numbers(work_.as<T>()), lwork_, info_.as<int>()),
      "cusolverDn geqrf");
  require_success(info_, "geqrf");
}

template <class T>
void CusolverQr<T>::form_q() const {
  if (k_ == 0) return;
  select_first_device();
  int size = 0;
  check_device(
      by_type<T, cusolverDnSorgqr_bufferSize, cusolverDnDorgqr_bufferSize, cusolverDnCungqr_bufferSize,
              cusolverDnZungqr_bufferSize>(on_.solver, m_, n_, k_, numbers(a()), m_, numbers(tau_.as<T>()), &size),
      "cusolverDn orgqr_bufferSize");
  if (!q_work_) q_work_ = std::make_unique<DeviceMemory>(bytes_of<T>(size));
  check_device(by_type<T, cusolverDnSorgqr, cusolverDnDorgqr, cusolverDnCungqr, cusolverDnZungqr>(
                   on_.solver, m_, n_, k_, numbers(a()), m_, numbers(tau_.as<T>()), numbers(q_work_->as<T>()), size,
                   info_.as<int>()),
               "cusolverDn orgqr");
  require_success(info_, "orgqr");
}

/// Applies reflectors to C's rows from `first` on.
template <class T>
void CusolverQr<T>::apply_reflectors(Op op, index_t first, index_t reflectors, T* c, index_t cols) const {
  const cublasOperation_t trans = cublas::to_cublas(op_for<T>(op));
  const int rows = static_cast<int>(m_ - first), count = static_cast<int>(cols), steps = static_cast<int>(reflectors);
  const T *const v = a() + first * (index_t{m_} + 1), *const taus = tau_.as<T>() + first;
  int size = 0;
  check_device(by_type<T, cusolverDnSormqr_bufferSize, cusolverDnDormqr_bufferSize, cusolverDnCunmqr_bufferSize,
                       cusolverDnZunmqr_bufferSize>(on_.solver, CUBLAS_SIDE_LEFT, trans, rows, count, steps, numbers(v),
                                                    m_, numbers(taus), numbers(c), m_, &size),
               "cusolverDn ormqr_bufferSize");
  const DeviceMemory memory(bytes_of<T>(size));
  check_device(by_type<T, cusolverDnSormqr, cusolverDnDormqr, cusolverDnCunmqr, cusolverDnZunmqr>(
                   on_.solver, CUBLAS_SIDE_LEFT, trans, rows, count, steps, numbers(v), m_, numbers(taus), numbers(c),
                   m_, numbers(memory.as<T>()), size, info_.as<int>()),
               "cusolverDn ormqr");
  require_success(info_, "ormqr");
}

template <class T>
void CusolverQr<T>::multiply_on_device(Op op, T* c, index_t cols) const {
  if (k_ == 0 || cols == 0) return;
  select_first_device();
  const index_t blocks = ceil_div(k_, at_once_);
  for (index_t b = 0; b < blocks; ++b) {
    const index_t first = (op == Op::none ? blocks - 1 - b : b) * at_once_;
    apply_reflectors(op, first, std::min(at_once_, k_ - first), c + first, cols);
  }
}

template <class T>
void CusolverQr<T>::multiply(Op op, T* c, index_t cols) const {
  if (k_ == 0 || cols == 0) return;
  const std::size_t bytes = bytes_of<T>(m_ * cols);
  const DeviceMemory block(bytes);
  copy_memory(block.as<T>(), c, bytes);
  multiply_on_device(op, block.as<T>(), cols);
  copy_memory(c, block.as<T>(), bytes);
}

template <class T>
void CusolverQr<T>::solve(T* b, index_t cols) const {
  require(m_ >= n_, "CusolverQr::solve", "shape", "there are fewer rows than columns");
  if (k_ == 0 || cols == 0) return;
  const std::size_t bytes = bytes_of<T>(m_ * cols);
  const DeviceMemory block(bytes);
  auto* const x = block.as<T>();
  copy_memory(x, b, bytes);
  multiply_on_device(adjoint<T>, x, cols);
  check_device(cublas::trsm(on_.blas, Op::none, index_t{n_}, cols, a(), index_t{m_}, x, index_t{m_}), "cublas trsm");
  copy_memory(b, x, bytes);  // waits
}

TESELA_CLASSES_FOR_NUMBERS(CusolverQr)

}  // namespace tesela
#endif
