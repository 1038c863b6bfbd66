#include <tesela/codelets/eigen/steqr.hpp>
#include <tesela/runtime/config.hpp>

#if TESELA_HAVE_CUDA

#include <algorithm>
#include <cusolverDn.h>
#include <mutex>

namespace tesela::kernels {
namespace {

cusolverEigMode_t mode(bool vectors) { return vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR; }
constexpr cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;

int size_of(cusolverDnContext* handle, bool vectors, int n, const double* a, int* lwork) {
  return cusolverDnDsyevd_bufferSize(handle, mode(vectors), lower, n, a, n, nullptr, lwork);
}
int size_of(cusolverDnContext* handle, bool vectors, int n, const float* a, int* lwork) {
  return cusolverDnSsyevd_bufferSize(handle, mode(vectors), lower, n, a, n, nullptr, lwork);
}
int syevd(cusolverDnContext* handle, bool vectors, int n, double* a, int ld, double* w, double* work, int lwork,
          int* info) {
  return cusolverDnDsyevd(handle, mode(vectors), lower, n, a, ld, w, work, lwork, info);
}
int syevd(cusolverDnContext* handle, bool vectors, int n, float* a, int ld, float* w, float* work, int lwork,
          int* info) {
  return cusolverDnSsyevd(handle, mode(vectors), lower, n, a, ld, w, work, lwork, info);
}

}  // namespace

template <class T>
index_t syevd_work(bool with_gpu, index_t n, bool vectors) {
  static std::mutex asking;  // threads that are not workers share a handle
  const std::lock_guard lock(asking);
  const CudaContext context("syevd");
  int lwork = 0;
  if (with_gpu && context.cusolver() != nullptr && n > 0)
    context.check(size_of(context.cusolver(), vectors, static_cast<int>(n), static_cast<T*>(nullptr), &lwork),
                  "cusolver syevd_bufferSize");
  return std::max(lwork, 1);
}

template <class T>
void Syevd<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> values, Scratch<T> work,
                    InOut<int> info) {
  if (a.cols == 0) return;
  context.check(syevd(context.cusolver(), args.vectors, static_cast<int>(a.cols), a.data, static_cast<int>(a.ld),
                      values.data, work.data, static_cast<int>(work.rows * work.cols), info.data),
                "cusolver syevd");
}

template index_t syevd_work<float>(bool, index_t, bool);
template index_t syevd_work<double>(bool, index_t, bool);
template decltype(Syevd<float>::cuda) Syevd<float>::cuda;
template decltype(Syevd<double>::cuda) Syevd<double>::cuda;

}  // namespace tesela::kernels

#endif
