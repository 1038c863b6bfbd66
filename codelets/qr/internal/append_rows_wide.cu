#include <tesela/codelets/qr/internal/append_rows_launch.hpp>

#include <climits>
#include <cuda_runtime.h>

#include <algorithm>
#include <limits>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

template <class T>
__global__ void copy_upper(T* to, index_t ld, index_t n, const T* from, index_t ld_from) {
  for (index_t c = blockIdx.x; c < n; c += gridDim.x)
    for (index_t i = threadIdx.x; i < n; i += threads)
      to[i + c * ld] = from != nullptr && i <= c ? from[i + c * ld_from] : T(0);
}

template <class T>
__global__ void copy_rows(T* to, index_t ld, index_t rows, index_t columns, const T* from, index_t ld_from,
                          const T* weights) {
  for (index_t c = blockIdx.x; c < columns; c += gridDim.x)
    for (index_t i = threadIdx.x; i < rows; i += threads) {
      const T weight = weights != nullptr ? weights[i] : T(1);
      to[i + c * ld] = weight == T(0) ? T(0) : weight * from[i + c * ld_from];
    }
}

/// Divides columns whose squares would leave T's range by a power of two near their largest number.
template <class T>
__global__ void scale(StackedRows<T> a) {
  __shared__ T largest[threads];
  const int t = static_cast<int>(threadIdx.x);
  for (index_t c = blockIdx.x; c < a.n; c += gridDim.x) {
    T* const column = a.data + c * a.ld;
    T most = 0;
    for (index_t i = t; i < a.ld; i += threads) most = max(most, abs(column[i]));  // NaN is ignored
    largest[t] = most;
    __syncthreads();
    for (int step = threads / 2; step > 0; step /= 2) {
      if (t < step) largest[t] = max(largest[t], largest[t + step]);
      __syncthreads();
    }
    most = largest[0];
    constexpr int range = std::numeric_limits<T>::max_exponent / 4;
    int e = most > 0 && !isinf(most) ? ilogb(most) : 0;
    if (e >= -range && e <= range) e = 0;
    if (e != 0)
      for (index_t i = t; i < a.ld; i += threads) column[i] = scalbn(column[i], -e);
    if (t == 0) a.exponents[c] = e;
    __syncthreads();
  }
}

template <class T>
__global__ void take_upper(StackedRows<T> a, T* r, index_t ldr) {
  for (index_t c = blockIdx.x; c < a.n; c += gridDim.x)
    for (index_t i = threadIdx.x; i < a.n; i += threads)
      r[i + c * ldr] = i <= c ? scalbn(a.data[i + c * a.ld], a.exponents[c]) : T(0);
}

unsigned grid(index_t columns) { return static_cast<unsigned>(std::clamp<index_t>(columns, 1, INT_MAX)); }

}  // namespace

template <class T>
int stack_triangle(CUstream_st* stream, const StackedRows<T>& a, const T* r, index_t ldr) {
  copy_upper<<<grid(a.n), threads, 0, stream>>>(a.data, a.ld, a.n, r, ldr);
  return cudaGetLastError();
}

template <class T>
int stack_rows(CUstream_st* stream, const StackedRows<T>& a, index_t column, index_t columns, const T* from, index_t ld,
               const T* weights) {
  copy_rows<<<grid(columns), threads, 0, stream>>>(a.data + a.n + column * a.ld, a.ld, a.rows, columns, from, ld,
                                                   weights);
  return cudaGetLastError();
}

template <class T>
int scale_columns(CUstream_st* stream, const StackedRows<T>& a) {
  scale<<<grid(a.n), threads, 0, stream>>>(a);
  return cudaGetLastError();
}

template <class T>
int unstack_triangle(CUstream_st* stream, const StackedRows<T>& a, T* r, index_t ldr) {
  take_upper<<<grid(a.n), threads, 0, stream>>>(a, r, ldr);
  return cudaGetLastError();
}

template int stack_triangle(CUstream_st*, const StackedRows<float>&, const float*, index_t);
template int stack_triangle(CUstream_st*, const StackedRows<double>&, const double*, index_t);
template int stack_rows(CUstream_st*, const StackedRows<float>&, index_t, index_t, const float*, index_t, const float*);
template int stack_rows(CUstream_st*, const StackedRows<double>&, index_t, index_t, const double*, index_t,
                        const double*);
template int scale_columns(CUstream_st*, const StackedRows<float>&);
template int scale_columns(CUstream_st*, const StackedRows<double>&);
template int unstack_triangle(CUstream_st*, const StackedRows<float>&, float*, index_t);
template int unstack_triangle(CUstream_st*, const StackedRows<double>&, double*, index_t);

}  // namespace tesela::kernels
