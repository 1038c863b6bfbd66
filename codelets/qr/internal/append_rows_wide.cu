#include <tesela/codelets/qr/internal/append_rows_launch.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>

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

/// Divides columns whose squares would leave T's range by a power of two near their largest number. Complex numbers are
/// pairs of real numbers.
template <class T>
__global__ void scale(StackedRows<T> a) {
  using Real = real_t<T>;
  __shared__ Real largest[threads];
  const int t = static_cast<int>(threadIdx.x);
  const index_t count = is_complex<T> ? 2 * a.ld : a.ld;
  for (index_t c = blockIdx.x; c < a.n; c += gridDim.x) {
    Real* const column = reinterpret_cast<Real*>(a.data + c * a.ld);
    Real most = 0;
    for (index_t i = t; i < count; i += threads) most = max(most, abs(column[i]));  // NaN is ignored
    largest[t] = most;
    __syncthreads();
    for (int step = threads / 2; step > 0; step /= 2) {
      if (t < step) largest[t] = max(largest[t], largest[t + step]);
      __syncthreads();
    }
    most = largest[0];
    constexpr int range = std::numeric_limits<Real>::max_exponent / 4;
    int e = most > 0 && !isinf(most) ? ilogb(most) : 0;
    if (e >= -range && e <= range) e = 0;
    if (e != 0)
      for (index_t i = t; i < count; i += threads) column[i] = scalbn(column[i], -e);
    if (t == 0) a.exponents[c] = e;
    __syncthreads();
  }
}

/// Returns x 2^e.
template <class T>
__device__ T scaled(T x, int e) {
  if constexpr (is_complex<T>)
    return {scalbn(x.re, e), scalbn(x.im, e)};
  else
    return scalbn(x, e);
}

template <class T>
__global__ void take_upper(StackedRows<T> a, T* r, index_t ldr) {
  for (index_t c = blockIdx.x; c < a.n; c += gridDim.x)
    for (index_t i = threadIdx.x; i < a.n; i += threads)
      r[i + c * ldr] = i <= c ? scaled(a.data[i + c * a.ld], a.exponents[c]) : T(0);
}

unsigned grid(index_t columns) { return static_cast<unsigned>(std::clamp<index_t>(columns, 1, INT_MAX)); }

}  // namespace

template <class T>
int stack_triangle(CUstream_st* stream, const StackedRows<T>& a, const T* r, index_t ldr) {
  copy_upper<<<grid(a.n), threads, 0, stream>>>(device_pointer(a.data), a.ld, a.n, device_pointer(r), ldr);
  return cudaGetLastError();
}

template <class T>
int stack_rows(CUstream_st* stream, const StackedRows<T>& a, index_t column, index_t columns, const T* from, index_t ld,
               const T* weights) {
  copy_rows<<<grid(columns), threads, 0, stream>>>(device_pointer(a.data + a.n + column * a.ld), a.ld, a.rows, columns,
                                                   device_pointer(from), ld, device_pointer(weights));
  return cudaGetLastError();
}

template <class T>
int scale_columns(CUstream_st* stream, const StackedRows<T>& a) {
  scale<<<grid(a.n), threads, 0, stream>>>(on_device(a));
  return cudaGetLastError();
}

template <class T>
int unstack_triangle(CUstream_st* stream, const StackedRows<T>& a, T* r, index_t ldr) {
  take_upper<<<grid(a.n), threads, 0, stream>>>(on_device(a), device_pointer(r), ldr);
  return cudaGetLastError();
}

TESELA_FUNCTIONS_FOR_NUMBERS(stack_triangle, stack_rows, scale_columns, unstack_triangle)

}  // namespace tesela::kernels
