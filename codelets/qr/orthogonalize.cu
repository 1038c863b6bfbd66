#include <tesela/codelets/qr/internal/gram_schmidt_strip.cuh>
#include <tesela/codelets/qr/orthogonalize.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/resident_blocks.cuh>
#include <tesela/codelets/support/lacpy.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cusolverDn.h>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

/// Divides a column by its norm, or reports its number if it vanishes.
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

/// Computes R^T R = A in place, n x n, in one block: A is symmetric, and its strict lower triangle becomes zero. If
/// `broken` is 0, it becomes number + the column of the first pivot that is not positive.
template <class T>
__global__ void small_cholesky(int n, T* a, int* broken, int number) {
  extern __shared__ double memory[];
  T* const r = reinterpret_cast<T*>(memory);
  const int ld = n | 1, step = static_cast<int>(blockDim.x);
  for (int e = static_cast<int>(threadIdx.x); e < n * n; e += step) r[e % n + e / n * ld] = a[e];
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    const T pivot = r[k + k * ld];
    if (!(pivot > 0) && threadIdx.x == 0 && *broken == 0) *broken = number + k;
    const T over = rsqrt(pivot);
    __syncthreads();
    for (int j = k + static_cast<int>(threadIdx.x); j < n; j += step) r[k + j * ld] *= over;
    __syncthreads();
    const int rest = n - k - 1;
    for (int e = static_cast<int>(threadIdx.x); e < rest * rest; e += step) {
      const int i = k + 1 + e % rest, j = k + 1 + e / rest;
      if (i <= j) r[i + j * ld] -= r[k + i * ld] * r[k + j * ld];
    }
  }
  __syncthreads();
  for (int e = static_cast<int>(threadIdx.x); e < n * n; e += step)
    a[e] = e % n <= e / n ? r[e % n + e / n * ld] : T(0);
}

/// Finds NaN pivots, which cuSOLVER misses: the first pivot that is not a positive number becomes info, if that is 0.
/// Runs in one block.
template <class T>
__global__ void find_bad_pivot(int n, const T* r, int ld, int* info) {
  __shared__ int bad;
  if (threadIdx.x == 0) bad = n;
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < n; k += threads) {
    const T pivot = r[k + index_t{k} * ld];
    if (!(pivot > 0) || isinf(pivot)) atomicMin(&bad, k);
  }
  __syncthreads();
  if (threadIdx.x == 0 && *info == 0 && bad < n) *info = bad + 1;
}

constexpr int most_blocks = 256;      // blocks that wait for each other
constexpr index_t strips_wide = 128;  // columns that are subtracted from later columns by one product

/// Orthogonalizes a tile's columns by classical Gram-Schmidt, twice: by strips in registers, and by products between
/// strips and between groups of eight strips. Columns that are nearly orthogonal after the first pass become orthogonal
/// by the Cholesky factor of their Gram matrix, which is close to the identity (Barlow and Smoktunowicz, Numer. Math.
/// 123, 2013).
template <class T>
class Strips {
 public:
  Strips(CudaContext& context, const InOut<T>& a, const Out<T>& r, int* broken, int number, T* work)
      : context_(context), a_(a), r_(r), broken_(broken), number_(number) {
    sums_ = work;
    again_ = sums_ + 2 * index_t{internal::strip_width} * most_blocks;
    gram_ = again_ + a.cols * strips_wide;
    copy_ = gram_ + strips_wide * strips_wide;
    blocks_ = std::min(most_blocks, resident_blocks(internal::gram_schmidt_strip<T>, internal::strip_threads, 0, true));
  }
  bool have_room() const { return a_.rows <= blocks_ * index_t{internal::strip_threads} * internal::strip_rows<T>; }
  void run() {
    const int bytes = static_cast<int>(sizeof(T) * strips_wide * (strips_wide | 1));
    check(cudaFuncSetAttribute(small_cholesky<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    columns(0, a_.cols, strips_wide);
  }

 private:
  void columns(index_t from, index_t to, index_t wide) {
    if (to - from <= internal::strip_width) return strip(from, to);
    for (index_t at = from, end; at < to; at = end) {
      end = std::min(to, at + wide);
      if (at > from) project(from, at, end, &r_(from, at), r_.ld);
      columns(at, end, internal::strip_width);
      if (at > from) second_pass(from, at, end);
    }
  }
  void strip(index_t from, index_t to) {
    const index_t each = index_t{internal::strip_threads};
    internal::StripLaunch<T> s{&a_(0, from), a_.ld, a_.rows, static_cast<int>(to - from),     &r_(from, from),
                               r_.ld,        sums_, broken_, number_ + static_cast<int>(from)};
    void* arguments[] = {&s};
    const auto grid = static_cast<unsigned>(std::clamp<index_t>(ceil_div(a_.rows, each), 1, blocks_));
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&internal::gram_schmidt_strip<T>), grid,
                                      internal::strip_threads, arguments, 0, context_.stream()));
  }
  /// Subtracts from columns at … end their components S along columns from … at.
  void project(index_t from, index_t at, index_t end, T* s, index_t lds) {
    gemm(Op::transpose, at - from, end - at, a_.rows, 1, &a_(0, from), a_.ld, &a_(0, at), 0, s, lds);
    gemm(Op::none, a_.rows, end - at, at - from, -1, &a_(0, from), a_.ld, s, 1, &a_(0, at), a_.ld, lds);
  }
  void second_pass(index_t from, index_t at, index_t end) {
    const index_t before = at - from, n = end - at;
    project(from, at, end, again_, before);
    gemm(Op::transpose, n, n, a_.rows, 1, &a_(0, at), a_.ld, &a_(0, at), 0, gram_, n);
    small_cholesky<T><<<1, 512, sizeof(T) * static_cast<std::size_t>(n * (n | 1)), context_.stream()>>>(
        static_cast<int>(n), gram_, broken_, number_ + static_cast<int>(at));
    check(cublas::trsm_right(context_.cublas(), a_.rows, n, gram_, n, &a_(0, at), a_.ld));
    // Q of the first pass was S + Q' R', so R's columns gain S R, and the diagonal block of R becomes R' R.
    T* const r = &r_(at, at);
    check(lacpy<T>(context_.stream(), Part::all, 0, {r, n, n, r_.ld}, {copy_, n, n, n}));
    gemm(Op::none, before, n, n, 1, again_, before, copy_, 1, &r_(from, at), r_.ld, n);
    gemm(Op::none, n, n, n, 1, gram_, n, copy_, 0, r, r_.ld, n);
  }
  /// Computes C = alpha op(A) B + beta C; B's columns belong to A's matrix unless ldb is given.
  void gemm(Op op, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b, T beta, T* c,
            index_t ldc, index_t ldb = 0) {
    check(cublas::gemm<T>(context_.cublas(), op, Op::none, m, n, k, alpha, a, lda, b, ldb > 0 ? ldb : a_.ld, beta, c,
                          ldc));
  }
  void check(int status) const { context_.check(status, "Gram-Schmidt by strips"); }

  CudaContext& context_;
  const InOut<T>& a_;
  const Out<T>& r_;
  int* broken_;
  int number_, blocks_;
  T *sums_, *again_, *gram_, *copy_;
};

/// Factors one panel on a GPU; all results stay there.
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
  /// Removes the components along column k from the later columns.
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
  if (args.method == Orthogonalization::cgs2) {
    Strips<T> strips(context, a, r, broken.data, static_cast<int>(args.first) + 1, work.data);
    if (strips.have_room()) return strips.run();
  }
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
index_t OrthogonalizePanel<T>::work_size(index_t n) {
  return 2 * index_t{internal::strip_width} * most_blocks + (n + 2 * strips_wide) * strips_wide;
}

template <class T>
index_t GramCholesky<T>::work_size(index_t n) {
  int size = 0;
  CudaContext context(name);
  if (context.cusolver() != nullptr) {
    const auto order = static_cast<int>(n);
    const auto buffer_size = by_type<T, cusolverDnSpotrf_bufferSize, cusolverDnDpotrf_bufferSize>;
    context.check(buffer_size(context.cusolver(), CUBLAS_FILL_MODE_UPPER, order, nullptr, order, &size),
                  "its workspace");
  }
  return size > 1 ? size : 1;
}

template <class T>
void GramCholesky<T>::cuda(CudaContext& context, const Args&, InOut<T> a, Out<int> info, Scratch<T> work) {
  const auto n = static_cast<int>(a.rows), ld = static_cast<int>(a.ld), size = static_cast<int>(work.rows * work.cols);
  const auto potrf = by_type<T, cusolverDnSpotrf, cusolverDnDpotrf>;
  context.check(potrf(context.cusolver(), CUBLAS_FILL_MODE_UPPER, n, a.data, ld, work.data, size, info.data),
                "cusolver potrf");
  find_bad_pivot<<<1, threads, 0, context.stream()>>>(n, a.data, ld, info.data);
  context.check(static_cast<int>(cudaGetLastError()), "the search for bad pivots");
}

template <class T>
void SolveRight<T>::cuda(CudaContext& context, const Args&, In<T> r, InOut<T> x) {
  context.check(cublas::trsm_right(context.cublas(), x.rows, x.cols, r.data, r.ld, x.data, x.ld), "cublas trsm");
}

TESELA_CUDA_FOR_REALS(OrthogonalizePanel)
template decltype(OrthogonalizePanel<float>::work_size) OrthogonalizePanel<float>::work_size;
template decltype(OrthogonalizePanel<double>::work_size) OrthogonalizePanel<double>::work_size;
TESELA_CUDA_FOR_REALS(GramCholesky)
template decltype(GramCholesky<float>::work_size) GramCholesky<float>::work_size;
template decltype(GramCholesky<double>::work_size) GramCholesky<double>::work_size;
TESELA_CUDA_FOR_REALS(SolveRight)

}  // namespace tesela::kernels
