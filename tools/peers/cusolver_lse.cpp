#include "tools/peers/cusolver_lse.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/host_matrix.hpp>

#if TESELA_HAVE_CUDA
#include "tools/peers/cusolver_peer.hpp"
#include <tesela/codelets/support/internal/cublas.hpp>

#include <cuda_runtime.h>

namespace tesela {

using namespace cusolver;

template <class T>
struct CusolverLse<T>::Impl {
  Impl(index_t rows, index_t columns, index_t constraints, index_t sides)
      : m(rows),
        n(columns),
        p(constraints),
        r(sides),
        of_a(m, n),
        of_c(n, p),
        of_rest(n, n - p),
        b(bytes_of<T>(m * r)),
        c(bytes_of<T>(p * n)),
        d(bytes_of<T>(p * r)),
        identity(bytes_of<T>(n * n)),
        product(bytes_of<T>(n * n)),
        y(bytes_of<T>(n * r)),
        left(bytes_of<T>(n * r)) {
    check(cublasCreate(blas.out()), "cublasCreate");
    HostMatrix<T> one = HostMatrix<T>::zeros(n, n);
    for (index_t i = 0; i < n; ++i) one(i, i) = 1;
    copy(identity.data, one.data(), bytes_of<T>(n * n));
  }
  T* at(const DeviceArray& array) const { return static_cast<T*>(array.data); }
  static void copy_rows(T* to, index_t ld_to, const T* from, index_t ld_from, index_t rows, index_t columns) {
    check(cudaMemcpy2D(to, bytes_of<T>(ld_to), from, bytes_of<T>(ld_from), bytes_of<T>(rows),
                       static_cast<std::size_t>(columns), cudaMemcpyDefault),
          "cudaMemcpy2D");
  }

  index_t m, n, p, r;
  CusolverQr<T> of_a, of_c, of_rest;
  bench::Handle<cublasHandle_t, cublasDestroy> blas;
  DeviceArray b, c, d, identity, product, y, left;
};

template <class T>
CusolverLse<T>::CusolverLse(index_t m, index_t n, index_t p, index_t r) : impl_(std::make_unique<Impl>(m, n, p, r)) {}

template <class T>
T* CusolverLse<T>::data(int which) const {
  return which == 0 ? impl_->of_a.a() : impl_->at(which == 1 ? impl_->b : which == 2 ? impl_->c : impl_->d);
}

template <class T>
void CusolverLse<T>::upload(int which, const T* from) const {
  const Impl& s = *impl_;
  copy(data(which), from, bytes_of<T>((which < 2 ? s.m : s.p) * (which % 2 == 0 ? s.n : s.r)));
}

template <class T>
void CusolverLse<T>::solve(T* x) const {
  const Impl& s = *impl_;
  const index_t m = s.m, n = s.n, p = s.p, r = s.r;
  T *const M = s.at(s.product), *const Y = s.at(s.y), *const left = s.at(s.left);
  check(cudaSetDevice(0), "cudaSetDevice");
  s.of_a.factor();
  s.of_a.multiply_on_device(Op::transpose, s.at(s.b), r);
  check(cublas::transpose(s.blas, n, p, s.at(s.c), p, s.of_c.a(), n), "cublas geam");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  s.of_c.factor();
  copy(M, s.identity.data, bytes_of<T>(n * n));
  s.of_c.multiply_on_device(Op::none, M, n);
  check(cublas::trmm(s.blas, Side::left, Op::none, n, n, s.of_a.a(), m, M, n), "cublas trmm");   // R P
  check(cublas::trsm(s.blas, Op::transpose, p, r, s.of_c.a(), n, s.at(s.d), p), "cublas trsm");  // y1
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  Impl::copy_rows(left, n, s.at(s.b), m, n, r);
  check(cublas::gemm(s.blas, Op::none, Op::none, n, r, p, T(-1), M, n, s.at(s.d), p, T(1), left, n), "cublas gemm");
  copy(s.of_rest.a(), M + n * p, bytes_of<T>(n * (n - p)));
  s.of_rest.factor();
  s.of_rest.solve(left, r);
  Impl::copy_rows(Y, n, s.at(s.d), p, p, r);
  Impl::copy_rows(Y + p, n, left, n, n - p, r);
  s.of_c.multiply_on_device(Op::none, Y, r);
  copy(x, Y, bytes_of<T>(n * r));
}

template <class T>
CusolverLse<T>::~CusolverLse() = default;

template class CusolverLse<float>;
template class CusolverLse<double>;

}  // namespace tesela

#endif
