#pragma once

#include <cmath>

// LAPACK larfg by a warp. Internal to codelets/eigen.

namespace tesela::kernels {

/// H = I - tau v v^T with H x = beta e_1 and v = (1, scaled rest of x); H = I where the rest is zero, and NaN where x
/// is not finite.
template <class T>
struct DeviceReflector {
  T beta, tau, divisor;
  int exponent;  ///< x was divided by two to this power, if anything
  /// v(i), i > 0, of x(i).
  __device__ T operator()(T x) const {
    if (divisor == T(0)) return T(0);
    return (exponent == 0 ? x : scalbn(x, -exponent)) / divisor;
  }
};

template <class T>
__device__ inline T warp_sum(T value) {
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
  return value;
}

/// Of x in shared memory, `rows` of its R elements, the others zero. All lanes of a warp call it together and get the
/// same. Where squares would overflow or be lost, x is scaled by a power of two.
template <class T, int R>
__device__ DeviceReflector<T> make_reflector(int lane, int rows, const T* x) {
  constexpr bool single = sizeof(T) == 4;
  // The least normal number over eps^2, and its inverse.
  constexpr T least = single ? T(0x1p-80) : T(0x1p-918), most = single ? T(0x1p+80) : T(0x1p+918);
  T part[R / 32], squares = 0;
  for (int l = 0; l < R / 32; ++l) {
    const int i = lane + 32 * l;
    part[l] = i > 0 && i < rows ? x[i] : T(0);
    squares += part[l] * part[l];
  }
  squares = warp_sum(squares);
  T alpha = x[0];
  int exponent = 0;
  if (!(squares >= least && alpha * alpha + squares <= most)) {
    T largest = 0, bad = alpha - alpha;
    for (int l = 0; l < R / 32; ++l) {
      largest = fmax(largest, fabs(part[l]));
      bad += part[l] - part[l];
    }
    for (int d = 16; d > 0; d /= 2) largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, d));
    bad = warp_sum(bad);
    if (bad != 0) return {bad, bad, bad, 0};  // NaN
    if (largest == T(0)) return {alpha, T(0), T(0), 0};
    frexp(fmax(largest, fabs(alpha)), &exponent);
    squares = 0;
    for (int l = 0; l < R / 32; ++l) {
      const T scaled = scalbn(part[l], -exponent);
      squares += scaled * scaled;
    }
    squares = warp_sum(squares);
    alpha = scalbn(alpha, -exponent);
  }
  const T beta = -copysign(sqrt(alpha * alpha + squares), alpha);
  return {exponent == 0 ? beta : scalbn(beta, exponent), (beta - alpha) / beta, alpha - beta, exponent};
}

}  // namespace tesela::kernels
