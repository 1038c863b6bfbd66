#pragma once

#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <cmath>

// LAPACK larfg in a thread block. Internal to codelets/eigen.

namespace tesela::kernels {

/// Reflector H = I - tau v v^H with H^H x = beta e and a real beta. v = 1 where e is 1, and the scaled x elsewhere. H =
/// I if x is already beta e, and NaN if x is not finite.
template <class T>
struct DeviceReflector {
  real_t<T> beta;
  T tau, factor;  ///< factor 1 / (alpha - beta)
  int exponent;   ///< x was divided by 2^exponent; 0 if it was not
  /// Returns v(i) for an x(i) other than the leading element.
  __device__ T operator()(T x) const {
    if (largest_part(factor) == 0) return T(0);
    return device_times(exponent == 0 ? x : times_two_to(x, -exponent), factor);
  }
};

/// `squares` is the sum of squares of all elements except alpha.
template <class T>
__device__ inline DeviceReflector<T> reflector_of(T alpha, real_t<T> squares) {
  if constexpr (is_complex<T>) squares = fma(alpha.im, alpha.im, squares);
  const real_t<T> re = real_part(alpha), beta = -copysign(sqrt(re * re + squares), re);
  if constexpr (is_complex<T>)
    return {beta, {(beta - re) / beta, -alpha.im / beta}, reciprocal(alpha - T(beta)), 0};
  else
    return {beta, (beta - alpha) / beta, T(1) / (alpha - beta), 0};
}

/// Returns whether squares neither overflow nor underflow.
template <class T>
__device__ inline bool squares_are_safe(T alpha, real_t<T> squares) {
  using Real = real_t<T>;
  constexpr bool single = sizeof(Real) == 4;
  // The least normal number over eps^2, and its inverse.
  constexpr Real least = single ? Real(0x1p-80) : Real(0x1p-918), most = single ? Real(0x1p+80) : Real(0x1p+918);
  if constexpr (is_complex<T>) squares = fma(alpha.im, alpha.im, squares);
  const Real re = real_part(alpha);
  return squares >= least && re * re + squares <= most;
}

template <class T>
__device__ inline T warp_sum(T value) {
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
  return value;
}

/// Maxima over R numbers in shared memory, of complex ones over the parts, computed by a warp if squares are not safe.
template <class T>
struct Magnitude {
  using Real = real_t<T>;
  Real largest, largest_other;  ///< of all, and of all except the pivot's real part
  Real bad;                     ///< NaN if any is not finite, else 0

  template <int R>
  __device__ static Magnitude of(int lane, int pivot, const T* x) {
    Magnitude m{Real(0), Real(0), Real(0)};
    for (int i = lane; i < R; i += 32) {
      m.largest = fmax(m.largest, largest_part(x[i]));
      if (i != pivot) m.largest_other = fmax(m.largest_other, largest_part(x[i]));
      m.bad += real_part(x[i]) - real_part(x[i]);
      if constexpr (is_complex<T>) {
        if (i == pivot) m.largest_other = fmax(m.largest_other, fabs(x[i].im));
        m.bad += x[i].im - x[i].im;
      }
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
