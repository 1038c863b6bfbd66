#pragma once

#include <tesela/codelets/libraries/fft.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

// A GPU as toeplitz_steps.hpp wants it. Internal to codelets/.

namespace tesela::kernels::toeplitz {

constexpr int each_threads = 256;

template <class F>
__global__ void each_kernel(index_t rows, index_t columns, F f) {
  for (index_t j = blockIdx.y; j < columns; j += gridDim.y)
    for (index_t i = threadIdx.x + index_t{each_threads} * blockIdx.x; i < rows; i += index_t{each_threads} * gridDim.x)
      f(i, j);
}

/// The sum over a block of 256 threads, always in the same order; all threads get it.
template <class T>
__device__ inline T block_sum(T value) {
  __shared__ T partial[8];
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
  __syncthreads();  // the last use of `partial` is over
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  T sum = 0;
  for (int w = 0; w < 8; ++w) sum += partial[w];
  return sum;
}

/// One block a column; scaled by the largest magnitude, against overflow. NaN and infinities show.
template <class T>
__global__ void norm_kernel(index_t n, const T* data, index_t ld, double* to) {
  __shared__ double partial[8];
  data += blockIdx.x * ld;
  double largest = 0;
  for (index_t i = threadIdx.x; i < n; i += each_threads) {
    const double x = fabs(static_cast<double>(data[i]));
    largest = x > largest || isnan(x) ? x : largest;
  }
  for (int d = 16; d > 0; d /= 2) {
    const double other = __shfl_xor_sync(0xffffffffu, largest, d);
    largest = other > largest || isnan(other) ? other : largest;
  }
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int w = 0; w < 8; ++w) largest = partial[w] > largest || isnan(partial[w]) ? partial[w] : largest;
  double squares = 0;
  if (largest > 0 && largest <= 1.7e308)
    for (index_t i = threadIdx.x; i < n; i += each_threads) {
      const double x = static_cast<double>(data[i]) / largest;
      squares += x * x;
    }
  squares = block_sum(squares);
  if (threadIdx.x == 0) to[blockIdx.x] = largest > 0 && largest <= 1.7e308 ? largest * sqrt(squares) : largest;
}

/// One block a column: Device::to_unit.
template <class T>
__global__ void to_unit_kernel(index_t n, T* data, index_t ld, T* exponents, index_t ld_exponents) {
  __shared__ T partial[8];
  data += blockIdx.x * ld;
  T largest = 0;
  for (index_t i = threadIdx.x; i < n; i += each_threads) {
    const T x = fabs(data[i]);
    largest = x > largest ? x : largest;
  }
  for (int d = 16; d > 0; d /= 2) {
    const T other = __shfl_xor_sync(0xffffffffu, largest, d);
    largest = other > largest ? other : largest;
  }
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int w = 0; w < 8; ++w) largest = partial[w] > largest ? partial[w] : largest;
  int e = 0;
  if (largest > 0 && isfinite(largest)) frexp(largest, &e);
  if (e != 0)
    for (index_t i = threadIdx.x; i < n; i += each_threads) data[i] = scalbn(data[i], -e);
  if (threadIdx.x == 0) exponents[blockIdx.x * ld_exponents] = static_cast<T>(e);
}

template <class T>
struct TimesPowers {
  T* data;
  index_t ld;
  const T* exponents;
  index_t ld_exponents;
  int more;
  __device__ void operator()(index_t i, index_t j) const {
    T& x = data[i + j * ld];
    x = scalbn(x, static_cast<int>(exponents[j * ld_exponents]) + more);
  }
};

template <class T>
struct TimesPower {
  T* data;
  index_t ld;
  int exponent;
  __device__ void operator()(index_t i, index_t j) const { data[i + j * ld] = scalbn(data[i + j * ld], exponent); }
};

struct Device {
  CudaContext& context;

  template <class F>
  void each(index_t rows, index_t columns, const F& f) const {
    if (rows <= 0 || columns <= 0) return;
    const dim3 blocks(static_cast<unsigned>(std::min<index_t>(ceil_div(rows, each_threads), 1024)),
                      static_cast<unsigned>(std::min<index_t>(columns, 65535)));
    each_kernel<<<blocks, each_threads, 0, context.stream()>>>(rows, columns, f);
  }
  template <class T>
  void real_to_complex(index_t n, index_t count, T* data, index_t ld) const {
    fft::real_to_complex(context, n, count, data, ld, reinterpret_cast<std::complex<T>*>(data), ld / 2);
  }
  template <class T>
  void complex_to_real(index_t n, index_t count, T* data, index_t ld) const {
    fft::complex_to_real(context, n, count, reinterpret_cast<std::complex<T>*>(data), ld / 2, data, ld);
  }
  template <class T>
  void transform(fft::Direction direction, index_t n, index_t count, T* data, index_t ld) const {
    fft::transform(context, direction, n, count, reinterpret_cast<std::complex<T>*>(data), ld);
  }
  template <class T>
  void norms(index_t n, index_t count, const T* data, index_t ld, double* to) const {
    if (count > 0) norm_kernel<<<static_cast<unsigned>(count), each_threads, 0, context.stream()>>>(n, data, ld, to);
  }
  template <class T>
  void to_unit(index_t n, index_t count, T* data, index_t ld, T* exponents, index_t ld_exponents) const {
    if (count > 0)
      to_unit_kernel<<<static_cast<unsigned>(count), each_threads, 0, context.stream()>>>(n, data, ld, exponents,
                                                                                          ld_exponents);
  }
  template <class T>
  void times_powers(index_t n, index_t count, T* data, index_t ld, const T* exponents, index_t ld_exponents,
                    int more) const {
    each(n, count, TimesPowers<T>{data, ld, exponents, ld_exponents, more});
  }
  /// That would mean to wait.
  bool none_better(index_t, const double*, const double*) const { return false; }
};

}  // namespace tesela::kernels::toeplitz
