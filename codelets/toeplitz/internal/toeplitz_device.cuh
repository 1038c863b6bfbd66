#pragma once

#include <tesela/codelets/support/cufft.hpp>
#include <tesela/codelets/support/internal/each.cuh>

// The GPU as a Machine of toeplitz_body.hpp. Internal to codelets/.

namespace tesela::kernels::toeplitz {

using internal::block_sum;
using internal::each_threads;

/// Runs Device::to_unit with one block per column.
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

constexpr index_t dot_parts = 512;

/// Computes a part of x^T y per block, always in the same order.
template <class T>
__global__ void dot_kernel(index_t n, const T* x, const T* y, double* partial) {
  double sum = 0;
  for (index_t i = threadIdx.x + index_t{each_threads} * blockIdx.x; i < n; i += index_t{each_threads} * gridDim.x)
    sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
template <class T>
__global__ void add_parts_kernel(index_t parts, const T* partial, T* to) {
  T sum = 0;
  for (index_t i = threadIdx.x; i < parts; i += each_threads) sum += partial[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *to = sum;
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
    internal::each(context, rows, columns, f);
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
    internal::norms(context, n, count, data, ld, to);
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
  template <class T>
  void dot(index_t n, const T* x, const T* y, double* to, double* partial) const {
    const auto blocks =
        static_cast<unsigned>(std::clamp<index_t>(ceil_div(n, index_t{4} * each_threads), 1, dot_parts));
    dot_kernel<<<blocks, each_threads, 0, context.stream()>>>(n, x, y, partial);
    add_parts_kernel<double><<<1, each_threads, 0, context.stream()>>>(blocks, partial, to);
  }
  bool knows(const double*) const { return false; }
  /// Returns false, because the answer would need a wait.
  bool known_not_better(index_t, const double*, const double*) const { return false; }
};

}  // namespace tesela::kernels::toeplitz
