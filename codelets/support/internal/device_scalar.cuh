#pragma once

#include <tesela/codelets/support/internal/complex_number.hpp>

#include <bit>
#include <cmath>

// The operations that let one source of a GPU kernel serve real and complex elements. Internal to codelets/.

namespace tesela::kernels {

/// A complex number with an alignment that lets one instruction load it.
template <class R>
using DeviceComplex = ComplexNumber<R, 2 * sizeof(R)>;

namespace detail {
template <class T>
struct DeviceOf {
  using type = T;
};
template <class R>
struct DeviceOf<std::complex<R>> {
  using type = DeviceComplex<R>;
};
template <class R>
struct DeviceOf<const std::complex<R>> {
  using type = const DeviceComplex<R>;
};
}  // namespace detail

/// The type of T's elements in GPU kernels: T itself if it is real.
template <class T>
using device_t = typename detail::DeviceOf<T>::type;

/// Returns a pointer for GPU kernels.
template <class T>
device_t<T>* device_pointer(T* data) {
  return reinterpret_cast<device_t<T>*>(data);
}

/// Returns the same structure of pointers to numbers for GPU kernels.
template <template <class...> class Structure, class... T>
Structure<device_t<T>...> on_device(const Structure<T...>& x) {
  return std::bit_cast<Structure<device_t<T>...>>(x);
}

/// Returns a pointer to a structure of such numbers.
template <template <class> class Structure, class T>
Structure<device_t<T>>* device_structures(Structure<T>* x) {
  return reinterpret_cast<Structure<device_t<T>>*>(x);
}
template <template <class> class Structure, class T>
const Structure<device_t<T>>* device_structures(const Structure<T>* x) {
  return reinterpret_cast<const Structure<device_t<T>>*>(x);
}

/// Returns a number for GPU kernels.
template <class T>
device_t<T> device_number(T x) {
  if constexpr (is_complex<T>)
    return {x.real(), x.imag()};
  else
    return x;
}

/// Returns x without its imaginary part.
template <class T>
TESELA_BOTH constexpr T without_imaginary(T x) {
  if constexpr (is_complex<T>)
    return {x.re, 0};
  else
    return x;
}

/// Returns x - a b.
template <class T>
__device__ inline T minus_product(T x, T a, T b) {
  if constexpr (is_complex<T>)
    return {fma(a.im, b.im, fma(-a.re, b.re, x.re)), fma(-a.im, b.re, fma(-a.re, b.im, x.im))};
  else
    return x - a * b;
}

/// Returns x + a b.
template <class T>
__device__ inline T plus_product(T x, T a, T b) {
  if constexpr (is_complex<T>)
    return {fma(-a.im, b.im, fma(a.re, b.re, x.re)), fma(a.im, b.re, fma(a.re, b.im, x.im))};
  else
    return x + a * b;
}

/// Returns a b with the same bits everywhere: in the operator's sum of two products, the compiler may contract either.
template <class T>
__device__ inline T device_times(T a, T b) {
  if constexpr (is_complex<T>)
    return {fma(-a.im, b.im, a.re * b.re), fma(a.im, b.re, a.re * b.im)};
  else
    return a * b;
}

/// Returns the real part of conj(a) b.
template <class T>
__device__ inline real_t<T> real_dot(T a, T b) {
  if constexpr (is_complex<T>)
    return fma(a.im, b.im, a.re * b.re);
  else
    return a * b;
}

/// Returns x 2^e.
template <class T>
__device__ inline T times_two_to(T x, int e) {
  if constexpr (is_complex<T>)
    return {scalbn(x.re, e), scalbn(x.im, e)};
  else
    return scalbn(x, e);
}

/// Returns 1 / x.
template <class T>
__device__ inline T reciprocal(T x) {
  if constexpr (is_complex<T>) {  // no square can overflow (Smith 1962)
    if (fabs(x.re) >= fabs(x.im)) {
      const real_t<T> ratio = x.im / x.re, d = x.re + x.im * ratio;
      return {1 / d, -ratio / d};
    }
    const real_t<T> ratio = x.re / x.im, d = x.im + x.re * ratio;
    return {ratio / d, -1 / d};
  } else {
    return 1 / x;
  }
}

/// Returns a / b.
template <class T>
__device__ inline T quotient(T a, T b) {
  if constexpr (is_complex<T>) {
    if (fabs(b.re) >= fabs(b.im)) {
      const real_t<T> ratio = b.im / b.re, d = b.re + b.im * ratio;
      return {(a.re + a.im * ratio) / d, (a.im - a.re * ratio) / d};
    }
    const real_t<T> ratio = b.re / b.im, d = b.im + b.re * ratio;
    return {(a.re * ratio + a.im) / d, (a.im * ratio - a.re) / d};
  } else {
    return a / b;
  }
}

template <class R, std::size_t alignment>
__device__ inline ComplexNumber<R, alignment> operator/(ComplexNumber<R, alignment> a, ComplexNumber<R, alignment> b) {
  return quotient(a, b);
}

/// Returns the number of the lane whose index differs by the bits `far`.
template <class T>
__device__ inline T shuffle_xor(T x, int far) {
  if constexpr (is_complex<T>)
    return {__shfl_xor_sync(0xffffffffu, x.re, far), __shfl_xor_sync(0xffffffffu, x.im, far)};
  else
    return __shfl_xor_sync(0xffffffffu, x, far);
}

/// Returns the number of a lane of the warp.
template <class T>
__device__ inline T from_lane(T x, int lane) {
  if constexpr (is_complex<T>)
    return {__shfl_sync(0xffffffffu, x.re, lane), __shfl_sync(0xffffffffu, x.im, lane)};
  else
    return __shfl_sync(0xffffffffu, x, lane);
}

}  // namespace tesela::kernels
