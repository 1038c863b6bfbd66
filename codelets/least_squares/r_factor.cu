#include <tesela/codelets/least_squares/r_factor.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <cmath>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;
/// Real numbers in a number of T, in the order of memory.
template <class T>
constexpr index_t parts = is_complex<T> ? 2 : 1;

struct Sum {
  template <class T>
  __device__ static T combine(T a, T b) {
    return a + b;
  }
};
struct Max {  // NaN wins: values that are not finite must be visible
  template <class T>
  __device__ static T combine(T a, T b) {
    return b > a || isnan(b) ? b : a;
  }
};

/// Combines one value per thread over the block; all threads get the result.
template <class Op, class T>
__device__ T sum_over_block(T value) {
  __shared__ T partial[threads];
  partial[threadIdx.x] = value;
  __syncthreads();
  for (unsigned h = threads / 2; h >= 1; h /= 2) {
    if (threadIdx.x < h) partial[threadIdx.x] = Op::combine(partial[threadIdx.x], partial[threadIdx.x + h]);
    __syncthreads();
  }
  const T result = partial[0];
  __syncthreads();
  return result;
}

/// Returns ||x||_2 over the block; `largest` is the largest magnitude, by which x is scaled.
template <class T>
__device__ T norm(const T* x, index_t n, T& largest) {
  T most = 0;
  for (index_t i = threadIdx.x; i < n; i += threads) most = Max::combine(most, static_cast<T>(fabs(x[i])));
  largest = sum_over_block<Max>(most);
  T squares = 0;
  if (largest > 0)
    for (index_t i = threadIdx.x; i < n; i += threads) {
      const T scaled = x[i] / largest;
      squares += scaled * scaled;
    }
  squares = sum_over_block<Sum>(squares);
  return largest > 0 ? largest * sqrt(squares) : largest;
}

/// Returns the same for a column of real or complex numbers; `largest` is the largest magnitude of a part.
template <class T>
__device__ real_t<T> norm_of_column(const T* x, index_t n, real_t<T>& largest) {
  return norm(reinterpret_cast<const real_t<T>*>(x), parts<T> * n, largest);
}

/// Returns |x|.
template <class T>
__device__ real_t<T> magnitude(T x) {
  if constexpr (is_complex<T>)
    return hypot(x.re, x.im);
  else
    return fabs(x);
}

/// Computes one column of R per block: S, the identity to its right, and ||S(:, j)||_1.
template <class T>
__global__ void unit_columns(const T* r, index_t ld, index_t n, T* s, T* identity, real_t<T>* sums) {
  using Real = real_t<T>;
  const index_t j = blockIdx.x;
  Real largest = 0;
  const Real length = norm_of_column(r + j * ld, j + 1, largest);
  // Divided twice, because the norm may overflow although the column does not.
  const Real relative = length > 0 && length <= HUGE_VAL ? length / largest : Real(1);
  const auto scaled = [&](Real part) { return largest > 0 ? part / largest / relative : part; };
  Real sum = 0;
  for (index_t i = threadIdx.x; i < n; i += threads) {
    T x(0);
    if (i <= j) {
      x = r[i + j * ld];
      if constexpr (is_complex<T>)
        x = {scaled(x.re), scaled(x.im)};
      else
        x = scaled(x);
    }
    s[i + j * n] = x;
    identity[i + j * n] = i == j ? T(1) : T(0);
    sum += magnitude(x);
  }
  sum = sum_over_block<Sum>(sum);
  if (threadIdx.x == 0) sums[j] = sum;
}

template <class T>
__global__ void column_sums(const T* a, index_t n, real_t<T>* sums) {
  real_t<T> sum = 0;
  for (index_t i = threadIdx.x; i < n; i += threads) sum += magnitude(a[i + blockIdx.x * n]);
  sum = sum_over_block<Sum>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <class T>
__global__ void product_of_maxima(const T* x, const T* y, index_t n, double* result) {
  T a = 0, b = 0;
  for (index_t i = threadIdx.x; i < n; i += threads) a = Max::combine(a, x[i]), b = Max::combine(b, y[i]);
  a = sum_over_block<Max>(a);
  b = sum_over_block<Max>(b);
  if (threadIdx.x == 0) *result = static_cast<double>(a) * static_cast<double>(b);
}

template <class T>
__global__ void column_norms(const T* b, index_t ld, index_t rows, real_t<T>* norms) {
  real_t<T> largest = 0;
  const real_t<T> length = norm_of_column(b + blockIdx.x * ld, rows, largest);
  if (threadIdx.x == 0) norms[blockIdx.x] = length;
}

template <class T>
__global__ void copy_upper_columns(const T* a, index_t lda, index_t first, T* r, index_t ldr, index_t rows) {
  const index_t j = first + blockIdx.x;
  for (index_t i = threadIdx.x; i < rows; i += threads) r[i + j * ldr] = i <= j ? a[i + blockIdx.x * lda] : T(0);
}

unsigned blocks(index_t n) { return static_cast<unsigned>(n); }

}  // namespace

template <class T>
void GatherUpper<T>::cuda(CudaContext& context, const Args&, Out<T> r, std::span<const In<T>> tiles) {
  index_t first = 0;
  for (const In<T>& tile : tiles) {
    copy_upper_columns<<<blocks(tile.cols), threads, 0, context.stream()>>>(device_pointer(tile.data), tile.ld, first,
                                                                            device_pointer(r.data), r.ld, r.rows);
    first += tile.cols;
  }
}

template <class T>
void UnitCondition<T>::cuda(CudaContext& context, const Args&, In<T> r, Out<double> condition, Scratch<T> work) {
  const index_t n = r.rows;
  T *const s = work.data, *const inverse = s + n * n;
  auto* const sums = reinterpret_cast<real_t<T>*>(inverse + n * n);
  unit_columns<<<blocks(n), threads, 0, context.stream()>>>(device_pointer(r.data), r.ld, n, device_pointer(s),
                                                            device_pointer(inverse), sums);
  if (!context.check(cublas::trsm(context.cublas(), Op::none, n, n, s, n, inverse, n), "cublas trsm")) return;
  column_sums<<<blocks(n), threads, 0, context.stream()>>>(device_pointer(inverse), n, sums + n);
  product_of_maxima<<<1, threads, 0, context.stream()>>>(sums, sums + n, n, condition.data);
}

template <class T>
void ColumnNorms<T>::cuda(CudaContext& context, const Args& args, In<T> b, Out<real_t<T>> norms) {
  const index_t rows = b.rows > args.first ? b.rows - args.first : 0;
  column_norms<<<blocks(b.cols), threads, 0, context.stream()>>>(device_pointer(b.data + args.first), b.ld, rows,
                                                                 norms.data);
}

TESELA_CUDA_FOR_NUMBERS(GatherUpper, UnitCondition, ColumnNorms)

}  // namespace tesela::kernels
