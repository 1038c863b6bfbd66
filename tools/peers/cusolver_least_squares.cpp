#include "tools/peers/cusolver_least_squares.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/scalar.hpp>

#if TESELA_HAVE_CUDA
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cuda_runtime.h>

namespace tesela {

using namespace bench;
using namespace cusolver;
namespace {

void wait() { check_device(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

template <class T>
void copy_rows(T* to, index_t ld_to, const T* from, index_t ld_from, index_t rows, index_t columns) {
  check_device(cudaMemcpy2D(to, bytes_of<T>(ld_to), from, bytes_of<T>(ld_from), bytes_of<T>(rows),
                            static_cast<std::size_t>(columns), cudaMemcpyDefault),
               "cudaMemcpy2D");
}

}  // namespace

template <class T>
CusolverGlm<T>::CusolverGlm(index_t m, index_t n, index_t p, index_t r, bool whole)
    : m_(m),
      n_(n),
      p_(p),
      r_(r),
      whole_(whole),
      of_a_(m, n),
      of_b_(p, whole ? m : m - n),
      b_(bytes_of<T>(m * p)),
      y_(bytes_of<T>(m * r)),
      u_(bytes_of<T>(p * r)) {}

template <class T>
void CusolverGlm<T>::upload(int which, const T* from) const {
  copy_memory(data(which), from, bytes_of<T>(m_ * (which == 0 ? n_ : which == 1 ? p_ : r_)));
}

template <class T>
void CusolverGlm<T>::solve(T* x, T* u) const {
  const index_t m = m_, n = n_, p = p_, r = r_, q = m - n;
  cublasContext* const blas = of_a_.blas();
  select_first_device();
  T *const B = at(b_), *const c = at(y_), *const V = at(u_), *const F = of_b_.a();
  of_a_.factor();
  of_a_.multiply_on_device(Op::transpose, B, p);
  of_a_.multiply_on_device(Op::transpose, c, r);
  check_device(cublas::transpose(blas, p, q, B + n, m, F, p), "cublas geam");
  if (whole_) check_device(cublas::transpose(blas, p, n, B, m, F + q * p, p), "cublas geam");
  wait();
  of_b_.factor();
  // R22^T v2 = c2.
  check_device(cublas::trsm(blas, Op::transpose, q, r, F, p, c + n, m), "cublas trsm");
  check_device(cudaMemset(V, 0, bytes_of<T>(p * r)), "cudaMemset");
  copy_rows(V, p, c + n, m, q, r);
  if (whole_)
    check_device(cublas::gemm(blas, Op::transpose, Op::none, n, r, q, T(-1), F + q * p, p, V, p, T(1), c, m),
                 "cublas gemm");
  wait();
  of_b_.multiply_on_device(Op::none, V, r);
  if (!whole_)
    check_device(cublas::gemm(blas, Op::none, Op::none, n, r, p, T(-1), B, m, V, p, T(1), c, m), "cublas gemm");
  check_device(cublas::trsm(blas, Op::none, n, r, of_a_.a(), m, c, m), "cublas trsm");
  wait();
  copy_rows(x, n, c, m, n, r);
  copy_memory(u, V, bytes_of<T>(p * r));
}

template <class T>
CusolverLse<T>::CusolverLse(index_t m, index_t n, index_t p, index_t r)
    : m_(m),
      n_(n),
      p_(p),
      r_(r),
      of_a_(m, n),
      of_c_(n, p),
      of_rest_(n, n - p),
      b_(bytes_of<T>(m * r)),
      c_(bytes_of<T>(p * n)),
      d_(bytes_of<T>(p * r)),
      identity_(bytes_of<T>(n * n)),
      product_(bytes_of<T>(n * n)),
      y_(bytes_of<T>(n * r)),
      left_(bytes_of<T>(n * r)) {
  HostMatrix<T> one = HostMatrix<T>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) one(i, i) = 1;
  copy_memory(at(identity_), one.data(), bytes_of<T>(n * n));
}

template <class T>
void CusolverLse<T>::upload(int which, const T* from) const {
  copy_memory(data(which), from, bytes_of<T>((which < 2 ? m_ : p_) * (which % 2 == 0 ? n_ : r_)));
}

template <class T>
void CusolverLse<T>::solve(T* x) const {
  const index_t m = m_, n = n_, p = p_, r = r_;
  cublasContext* const blas = of_a_.blas();
  T *const M = at(product_), *const Y = at(y_), *const left = at(left_), *const d = at(d_);
  select_first_device();
  of_a_.factor();
  of_a_.multiply_on_device(Op::transpose, at(b_), r);
  check_device(cublas::transpose(blas, n, p, at(c_), p, of_c_.a(), n), "cublas geam");
  wait();
  of_c_.factor();
  copy_memory(M, at(identity_), bytes_of<T>(n * n));
  of_c_.multiply_on_device(Op::none, M, n);
  check_device(cublas::trmm(blas, Side::left, Op::none, n, n, of_a_.a(), m, M, n), "cublas trmm");  // R P
  check_device(cublas::trsm(blas, Op::transpose, p, r, of_c_.a(), n, d, p), "cublas trsm");         // y1
  wait();
  copy_rows(left, n, at(b_), m, n, r);
  check_device(cublas::gemm(blas, Op::none, Op::none, n, r, p, T(-1), M, n, d, p, T(1), left, n), "cublas gemm");
  copy_memory(of_rest_.a(), M + n * p, bytes_of<T>(n * (n - p)));
  of_rest_.factor();
  of_rest_.solve(left, r);
  copy_rows(Y, n, d, p, p, r);
  copy_rows(Y + p, n, left, n, n - p, r);
  of_c_.multiply_on_device(Op::none, Y, r);
  copy_memory(x, Y, bytes_of<T>(n * r));
}

TESELA_CLASSES_FOR_REALS(CusolverGlm, CusolverLse)

}  // namespace tesela

#endif
