#include "tools/peers/cusolver_glm.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>

#if TESELA_HAVE_CUDA
#include "tools/peers/cusolver_peer.hpp"
#include <tesela/codelets/support/internal/cublas.hpp>

#include <cuda_runtime.h>

namespace tesela {

using namespace cusolver;

template <class T>
struct CusolverGlm<T>::Impl {
  Impl(index_t rows, index_t columns, index_t factor, index_t rhs, bool all)
      : m(rows),
        n(columns),
        p(factor),
        r(rhs),
        whole(all),
        of_a(m, n),
        of_b(p, whole ? m : m - n),
        b(bytes_of<T>(m * p)),
        y(bytes_of<T>(m * r)),
        u(bytes_of<T>(p * r)) {
    check(cublasCreate(blas.out()), "cublasCreate");
  }
  T* at(const DeviceArray& array, index_t offset = 0) const { return static_cast<T*>(array.data) + offset; }

  index_t m, n, p, r;
  bool whole;
  CusolverQr<T> of_a, of_b;
  bench::Handle<cublasHandle_t, cublasDestroy> blas;
  DeviceArray b, y, u;
};

template <class T>
CusolverGlm<T>::CusolverGlm(index_t m, index_t n, index_t p, index_t r, bool whole)
    : impl_(std::make_unique<Impl>(m, n, p, r, whole)) {}

template <class T>
T* CusolverGlm<T>::data(int which) const {
  return which == 0 ? impl_->of_a.a() : impl_->at(which == 1 ? impl_->b : impl_->y);
}

template <class T>
void CusolverGlm<T>::upload(int which, const T* from) const {
  const index_t columns = which == 0 ? impl_->n : which == 1 ? impl_->p : impl_->r;
  copy(data(which), from, bytes_of<T>(impl_->m * columns));
}

template <class T>
void CusolverGlm<T>::solve(T* x, T* u) const {
  const auto& [m, n, p, r, whole, of_a, of_b, blas, b, y, v] = *impl_;
  const index_t q = m - n;
  check(cudaSetDevice(0), "cudaSetDevice");
  T *const B = impl_->at(b), *const c = impl_->at(y), *const V = impl_->at(v), *const F = of_b.a();
  of_a.factor();
  of_a.multiply_on_device(Op::transpose, B, p);
  of_a.multiply_on_device(Op::transpose, c, r);
  check(cublas::transpose(blas, p, q, B + n, m, F, p), "cublas geam");
  if (whole) check(cublas::transpose(blas, p, n, B, m, F + q * p, p), "cublas geam");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  of_b.factor();
  // R22^T v2 = c2.
  check(cublas::trsm(blas, Op::transpose, q, r, F, p, c + n, m), "cublas trsm");
  check(cudaMemset(V, 0, bytes_of<T>(p * r)), "cudaMemset");
  check(cudaMemcpy2D(V, bytes_of<T>(p), c + n, bytes_of<T>(m), bytes_of<T>(q), static_cast<std::size_t>(r),
                     cudaMemcpyDeviceToDevice),
        "cudaMemcpy2D");
  if (whole)
    check(cublas::gemm(blas, Op::transpose, Op::none, n, r, q, T(-1), F + q * p, p, V, p, T(1), c, m), "cublas gemm");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  of_b.multiply_on_device(Op::none, V, r);
  if (!whole) check(cublas::gemm(blas, Op::none, Op::none, n, r, p, T(-1), B, m, V, p, T(1), c, m), "cublas gemm");
  check(cublas::trsm(blas, Op::none, n, r, of_a.a(), m, c, m), "cublas trsm");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaMemcpy2D(x, bytes_of<T>(n), c, bytes_of<T>(m), bytes_of<T>(n), static_cast<std::size_t>(r),
                     cudaMemcpyDefault),
        "cudaMemcpy2D");
  copy(u, V, bytes_of<T>(p * r));
}

template <class T>
CusolverGlm<T>::~CusolverGlm() = default;

template class CusolverGlm<float>;
template class CusolverGlm<double>;

}  // namespace tesela

#endif
