#include <tesela/codelets/eigen/internal/small_eig_sweeps.cuh>
#include <tesela/codelets/eigen/tridiagonal/steqr.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/host/by_type.hpp>

#include <algorithm>
#include <cusolverDn.h>
#include <mutex>

namespace tesela::kernels {
namespace {

template <class T>
struct Leaf {
  int n;
  const T *d, *e;
  T *values, *vectors;
  index_t ld;
  index_t* sweeps;
  int* info;
};

/// Solves in one warp, with the vectors in shared memory.
template <class T>
__global__ void __launch_bounds__(32) solve_leaf(Leaf<T> leaf) {
  extern __shared__ double memory[];
  using Warp = small_eig::Team<T, 32, most_gpu_steqr / 32, 1>;
  Warp warp(leaf.n, reinterpret_cast<T*>(memory));
  const int n = leaf.n;
  for (int i = warp.rank; i < n; i += 32) {
    warp.d[i] = leaf.d[i];
    warp.e[i] = i + 1 < n ? leaf.e[i] : T(0);
    for (int j = 0; j < n; ++j) warp.x[i + j * warp.ld] = T(i == j ? 1 : 0);
  }
  warp.sync();
  small_eig::Sweeps<Warp, true> sweeps(warp);
  const int broken = sweeps.run();
  warp.sync();
  for (int i = warp.rank; i < n; i += 32) {
    leaf.values[i] = warp.d[i];
    for (int j = 0; j < n; ++j) leaf.vectors[i + j * leaf.ld] = warp.x[i + j * warp.ld];
  }
  if (warp.rank > 0) return;
  *leaf.sweeps = sweeps.count();
  if (broken > 0 && *leaf.info == 0) *leaf.info = broken;
}

cusolverEigMode_t mode(bool vectors) { return vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR; }
constexpr cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;

}  // namespace

template <class T>
void Steqr<T>::cuda(CudaContext& context, const Args&, In<T> t, Out<T> values, Out<T> vectors, Out<index_t> sweeps,
                    InOut<int> info) {
  if (t.rows == 0) return;
  if (t.rows > most_gpu_steqr)
    return static_cast<void>(context.check(cudaErrorInvalidValue, "steqr: the matrix is too large"));
  const auto n = static_cast<int>(t.rows);
  const std::size_t bytes =
      sizeof(T) * static_cast<std::size_t>(small_eig::Team<T, 32, most_gpu_steqr / 32, 1>::numbers(n));
  solve_leaf<T><<<1, 32, bytes, context.stream()>>>(
      {n, &t(0, 0), &t(0, 1), values.data, vectors.data, vectors.ld, sweeps.data, info.data});
  context.check(cudaGetLastError(), "steqr");
}

template <class T>
index_t syevd_work(bool with_gpu, index_t n, bool vectors) {
  static std::mutex asking;  // threads that are not workers share a handle
  const std::lock_guard lock(asking);
  const CudaContext context("syevd");
  int lwork = 0;
  if (with_gpu && context.cusolver() != nullptr && n > 0)
    context.check(by_type<T, cusolverDnSsyevd_bufferSize, cusolverDnDsyevd_bufferSize, cusolverDnCheevd_bufferSize,
                          cusolverDnZheevd_bufferSize>(context.cusolver(), mode(vectors), lower, static_cast<int>(n),
                                                       cublas::numbers(static_cast<const T*>(nullptr)),
                                                       static_cast<int>(n), nullptr, &lwork),
                  "cusolver syevd_bufferSize");
  return std::max(lwork, 1);
}

template <class T>
void Syevd<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, Out<real_t<T>> values, Scratch<T> work,
                    InOut<int> info) {
  if (a.cols == 0) return;
  context.check(by_type<T, cusolverDnSsyevd, cusolverDnDsyevd, cusolverDnCheevd, cusolverDnZheevd>(
                    context.cusolver(), mode(args.vectors), lower, static_cast<int>(a.cols), cublas::numbers(a.data),
                    static_cast<int>(a.ld), values.data, cublas::numbers(work.data),
                    static_cast<int>(work.rows * work.cols), info.data),
                "cusolver syevd");
}

TESELA_CUDA_FOR_REALS(Steqr)
TESELA_FUNCTIONS_FOR_NUMBERS(syevd_work)
TESELA_CUDA_FOR_NUMBERS(Syevd)

}  // namespace tesela::kernels
