#pragma once

#include <cmath>

// LAPACK larfg in a thread block. Internal to codelets/eigen.

namespace tesela::kernels {

/// Reflector H = I - tau v v^T with H x = beta e. v = 1 where e is 1, and the scaled x elsewhere. H = I if x is already
/// beta e, and NaN if x is not finite.
template <class T>
struct DeviceReflector {
  T beta, tau, factor;  ///< factor 1 / (alpha - beta)
  int exponent;         ///< x was divided by 2^exponent; 0 if it was not
  /// Returns v(i) for an x(i) other than the leading element.
  __device__ T operator()(T x) const {
    if (factor == T(0)) return T(0);
    return (exponent == 0 ? x : scalbn(x, -exponent)) * factor;
  }
};

/// `squares` is the sum of squares of all elements except alpha.
template <class T>
__device__ inline DeviceReflector<T> reflector_of(T alpha, T squares) {
  const T beta = -copysign(sqrt(alpha * alpha + squares), alpha);
  return {beta, (beta - alpha) / beta, T(1) / (alpha - beta), 0};
}

/// Returns whether squares neither overflow nor underflow.
template <class T>
__device__ inline bool squares_are_safe(T alpha, T squares) {
  constexpr bool single = sizeof(T) == 4;
  // The least normal number over eps^2, and its inverse.
  constexpr T least = single ? T(0x1p-80) : T(0x1p-918), most = single ? T(0x1p+80) : T(0x1p+918);
  return squares >= least && alpha * alpha + squares <= most;
}

template <class T>
__device__ inline T warp_sum(T value) {
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
  return value;
}

/// Maxima over R numbers in shared memory, computed by a warp if squares are not safe.
template <class T>
struct Magnitude {
  T largest, largest_other;  ///< of all, and of all except the pivot
  T bad;                     ///< NaN if any is not finite, else 0

  template <int R>
  __device__ static Magnitude of(int lane, int pivot, const T* x) {
    Magnitude m{T(0), T(0), T(0)};
    for (int i = lane; i < R; i += 32) {
      m.largest = fmax(m.largest, fabs(x[i]));
      if (i != pivot) m.largest_other = fmax(m.largest_other, fabs(x[i]));
      m.bad += x[i] - x[i];
    }
    for (int d = 16; d > 0; d /= 2) {
      m.largest = fmax(m.largest, __shfl_xor_sync(0xffffffffu, m.largest, d));
      m.largest_other = fmax(m.largest_other, __shfl_xor_sync(0xffffffffu, m.largest_other, d));
    }
    m.bad = warp_sum(m.bad);
    return m;
  }
};

}  // namespace tesela::kernels
