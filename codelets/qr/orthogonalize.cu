#include <tesela/codelets/libraries/internal/cublas.hpp>
#include <tesela/codelets/qr/orthogonalize.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <cuda_runtime_api.h>

#include <cusolverDn.h>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

/// A column over its norm, or its number where nothing is left of it.
template <class T>
__global__ void divide(T* column, index_t rows, const T* norm, int* broken, int number) {
  const T size = *norm;
  if (!(size > 0)) {
    if (blockIdx.x == 0 && threadIdx.x == 0 && *broken == 0) *broken = number;
    return;
  }
  for (index_t i = blockIdx.x * index_t{threads} + threadIdx.x; i < rows; i += gridDim.x * index_t{threads})
    column[i] /= size;
}

template <class T>
__global__ void add(T* to, const T* from, index_t n) {
  for (index_t i = threadIdx.x; i < n; i += blockDim.x) to[i] += from[i];
}

template <class T>
__global__ void zero(Block<T> a) {
  for (index_t j = blockIdx.x; j < a.cols; j += gridDim.x)
    for (index_t i = threadIdx.x; i < a.rows; i += blockDim.x) a.data[i + j * a.ld] = T(0);
}

unsigned blocks_for(index_t count) {
  const index_t blocks = ceil_div(count, threads);
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < 1024 ? blocks : 1024);
}

/// One panel on a GPU; what it computes stays there.
template <class T>
class Panel {
 public:
  Panel(CudaContext& context, const InOut<T>& a, const Out<T>& r) : context_(context), a_(a), r_(r) {
    zero<T><<<static_cast<unsigned>(a.cols), threads, 0, context.stream()>>>(r);
  }
  void project(index_t k, T* sums) const {
    if (k == 0) return;
    T* const column = &a_(0, k);
    check(cublas::gemv(context_.cublas(), Op::transpose, a_.rows, k, T(1), a_.data, a_.ld, column, index_t{1}, T(0),
                       sums, index_t{1}));
    check(cublas::gemv(context_.cublas(), Op::none, a_.rows, k, T(-1), a_.data, a_.ld, sums, index_t{1}, T(1), column,
                       index_t{1}));
    add<T><<<1, threads, 0, context_.stream()>>>(&r_(0, k), sums, k);
  }
  void normalize(index_t k, int* broken, index_t first) const {
    check(cublas::nrm2(context_.cublas(), a_.rows, &a_(0, k), &r_(k, k)));
    divide<T><<<blocks_for(a_.rows), threads, 0, context_.stream()>>>(&a_(0, k), a_.rows, &r_(k, k), broken,
                                                                      static_cast<int>(first + k) + 1);
  }
  /// The columns after k lose what they have of it.
  void leave(index_t k) const {
    const index_t rest = a_.cols - k - 1;
    if (rest == 0) return;
    check(cublas::gemv(context_.cublas(), Op::transpose, a_.rows, rest, T(1), &a_(0, k + 1), a_.ld, &a_(0, k),
                       index_t{1}, T(0), &r_(k, k + 1), r_.ld));
    check(cublas::gemm(context_.cublas(), Op::none, Op::none, a_.rows, rest, index_t{1}, T(-1), &a_(0, k), a_.ld,
                       &r_(k, k + 1), r_.ld, T(1), &a_(0, k + 1), a_.ld));
  }

 private:
  void check(int status) const { context_.check(status, "cuBLAS for Gram-Schmidt"); }
  CudaContext& context_;
  const InOut<T>& a_;
  const Out<T>& r_;
};

}  // namespace

template <class T>
void OrthogonalizePanel<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> r, InOut<int> broken,
                                 Scratch<T> work) {
  const Panel<T> panel(context, a, r);
  for (index_t k = 0; k < a.cols; ++k) {
    for (int pass = 0; pass < (args.method == Orthogonalization::mgs    ? 0
                               : args.method == Orthogonalization::cgs2 ? 2
                                                                        : 1);
         ++pass)
      panel.project(k, work.data);
    panel.normalize(k, broken.data, args.first);
    if (args.method == Orthogonalization::mgs) panel.leave(k);
  }
}

template <class T>
index_t GramCholesky<T>::work_size(index_t n) {
  int size = 0;
  CudaContext context(name);
  if (context.cusolver() != nullptr) {
    const auto order = static_cast<int>(n);
    if constexpr (std::is_same_v<T, float>)
      context.check(
          cusolverDnSpotrf_bufferSize(context.cusolver(), CUBLAS_FILL_MODE_UPPER, order, nullptr, order, &size),
          "its workspace");
    else
      context.check(
          cusolverDnDpotrf_bufferSize(context.cusolver(), CUBLAS_FILL_MODE_UPPER, order, nullptr, order, &size),
          "its workspace");
  }
  return size > 1 ? size : 1;
}

template <class T>
void GramCholesky<T>::cuda(CudaContext& context, const Args&, InOut<T> a, Out<int> info, Scratch<T> work) {
  const auto n = static_cast<int>(a.rows), ld = static_cast<int>(a.ld), size = static_cast<int>(work.rows * work.cols);
  if constexpr (std::is_same_v<T, float>)
    context.check(
        cusolverDnSpotrf(context.cusolver(), CUBLAS_FILL_MODE_UPPER, n, a.data, ld, work.data, size, info.data),
        "cusolver potrf");
  else
    context.check(
        cusolverDnDpotrf(context.cusolver(), CUBLAS_FILL_MODE_UPPER, n, a.data, ld, work.data, size, info.data),
        "cusolver potrf");
}

template <class T>
void SolveRight<T>::cuda(CudaContext& context, const Args&, In<T> r, InOut<T> x) {
  context.check(cublas::trsm_right(context.cublas(), x.rows, x.cols, r.data, r.ld, x.data, x.ld), "cublas trsm");
}

template decltype(OrthogonalizePanel<float>::cuda) OrthogonalizePanel<float>::cuda;
template decltype(OrthogonalizePanel<double>::cuda) OrthogonalizePanel<double>::cuda;
template decltype(GramCholesky<float>::cuda) GramCholesky<float>::cuda;
template decltype(GramCholesky<double>::cuda) GramCholesky<double>::cuda;
template decltype(GramCholesky<float>::work_size) GramCholesky<float>::work_size;
template decltype(GramCholesky<double>::work_size) GramCholesky<double>::work_size;
template decltype(SolveRight<float>::cuda) SolveRight<float>::cuda;
template decltype(SolveRight<double>::cuda) SolveRight<double>::cuda;

}  // namespace tesela::kernels
