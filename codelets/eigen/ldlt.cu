#include <tesela/codelets/eigen/ldlt.hpp>
#include <tesela/codelets/support/internal/each.cuh>
#include <tesela/codelets/support/internal/factor_tile.cuh>

namespace tesela::kernels {
namespace {

using internal::each;

template <class T>
struct Shift {
  const T* a;
  index_t lda;
  T* b;
  index_t ldb;
  T sigma;
  __device__ void operator()(index_t i, index_t j) const {
    b[i + j * ldb] = i == j ? a[i + j * lda] - sigma : a[i + j * lda];
  }
};

template <class T>
struct ShiftPair {
  const T* a;
  index_t lda;
  const T* b;
  index_t ldb;
  T* s;
  index_t lds;
  T sigma;
  __device__ void operator()(index_t i, index_t j) const {
    s[i + j * lds] = fma(-sigma, b[i + j * ldb], a[i + j * lda]);
  }
};

template <class T>
__global__ void count_kernel(index_t n, const T* d, index_t step, double* negative) {
  double below = 0;
  for (index_t i = threadIdx.x; i < n; i += internal::each_threads) below += d[i * step] < 0 ? 1 : 0;
  below = internal::block_sum(below);
  if (threadIdx.x == 0) *negative = below;
}

constexpr int rows = 32, lanes = 32;

/// Computes W = A, A = A D^-1, and adds to the rows' mass: 32 rows per block, and 32 columns at a time.
template <class T>
__global__ void __launch_bounds__(rows* lanes)
    divide_kernel(index_t m, index_t n, const T* d, index_t step, T* a, index_t lda, T* w, index_t ldw, double* mass) {
  __shared__ double sums[lanes][rows];
  const int x = threadIdx.x % rows, lane = threadIdx.x / rows;
  const index_t row = blockIdx.x * index_t{rows} + x;
  double sum = 0;
  if (row < m)
    for (index_t j = lane; j < n; j += lanes) {
      const T above = a[row + j * lda], element = above / d[j * step];
      w[row + j * ldw] = above;
      a[row + j * lda] = element;
      sum += fabs(static_cast<double>(above) * static_cast<double>(element));
    }
  sums[lane][x] = sum;
  __syncthreads();
  if (lane > 0 || row >= m) return;
  for (int other = 1; other < lanes; ++other) sum += sums[other][x];
  mass[row] += sum;
}

}  // namespace

template <class T>
void ShiftedCopy<T>::cuda(CudaContext& context, const Args& args, In<T> a, Out<T> b) {
  each(context, b.rows, b.cols, Shift<T>{a.data, a.ld, b.data, b.ld, args.sigma});
  context.check(cudaGetLastError(), "shifted_copy");
}

template <class T>
void ShiftedPair<T>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, Out<T> s) {
  each(context, s.rows, s.cols, ShiftPair<T>{a.data, a.ld, b.data, b.ld, s.data, s.ld, args.sigma});
  context.check(cudaGetLastError(), "shifted_pair");
}

template <class T>
void Ldlt<T>::cuda(CudaContext& context, const Args&, InOut<T> a, InOut<double> mass, Out<double> negative) {
  factor::tile<T, false>(context, a.rows, a.data, a.ld, 0, mass.data);
  count_kernel<<<1, internal::each_threads, 0, context.stream()>>>(a.rows, a.data, a.ld + 1, negative.data);
  context.check(cudaGetLastError(), "ldlt");
}

template <class T>
void LdltPanel<T>::cuda(CudaContext& context, const Args&, In<T> diagonal, InOut<T> a, Out<T> w, InOut<double> mass) {
  if (a.rows == 0) return;
  context.check(
      cublas::solve_unit_lower_right(context.cublas(), a.rows, a.cols, diagonal.data, diagonal.ld, a.data, a.ld),
      "cublas trsm");
  divide_kernel<<<static_cast<unsigned>(ceil_div(a.rows, rows)), rows * lanes, 0, context.stream()>>>(
      a.rows, a.cols, diagonal.data, diagonal.ld + 1, a.data, a.ld, w.data, w.ld, mass.data);
  context.check(cudaGetLastError(), "ldlt_panel");
}

TESELA_CUDA_FOR_REALS(ShiftedCopy, ShiftedPair, Ldlt, LdltPanel)

}  // namespace tesela::kernels
