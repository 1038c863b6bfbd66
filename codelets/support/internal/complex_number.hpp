#pragma once

#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cstddef>

// Complex numbers in code for cores and GPUs. GPU kernels cannot call the functions of std::complex, which are for the
// host. Internal to codelets/.

namespace tesela {
namespace kernels {

/// A complex number with the layout of std::complex. Without initializers, so that shared memory can hold it.
template <class R, std::size_t alignment>
struct alignas(alignment) ComplexNumber {
  R re, im;
  ComplexNumber() = default;
  TESELA_BOTH constexpr ComplexNumber(R x, R y = R(0)) : re(x), im(y) {}
  TESELA_BOTH constexpr R real() const { return re; }
  TESELA_BOTH constexpr R imag() const { return im; }

  TESELA_BOTH constexpr ComplexNumber operator-() const { return {-re, -im}; }
  TESELA_BOTH constexpr ComplexNumber& operator+=(ComplexNumber b) { return *this = {re + b.re, im + b.im}; }
  TESELA_BOTH constexpr ComplexNumber& operator-=(ComplexNumber b) { return *this = {re - b.re, im - b.im}; }
  TESELA_BOTH constexpr ComplexNumber& operator*=(R b) { return *this = {re * b, im * b}; }
  TESELA_BOTH friend constexpr ComplexNumber operator+(ComplexNumber a, ComplexNumber b) { return a += b; }
  TESELA_BOTH friend constexpr ComplexNumber operator-(ComplexNumber a, ComplexNumber b) { return a -= b; }
  TESELA_BOTH friend constexpr ComplexNumber operator*(ComplexNumber a, R b) { return a *= b; }
  TESELA_BOTH friend constexpr ComplexNumber operator*(R a, ComplexNumber b) { return b *= a; }
  TESELA_BOTH friend constexpr ComplexNumber operator*(ComplexNumber a, ComplexNumber b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  TESELA_BOTH friend constexpr ComplexNumber operator/(ComplexNumber a, R b) { return {a.re / b, a.im / b}; }
  TESELA_BOTH friend constexpr bool operator==(ComplexNumber a, ComplexNumber b) {
    return a.re == b.re && a.im == b.im;
  }
};

}  // namespace kernels

template <class R, std::size_t alignment>
inline constexpr bool is_complex<kernels::ComplexNumber<R, alignment>> = true;
namespace detail {
template <class R, std::size_t alignment>
struct RealOf<kernels::ComplexNumber<R, alignment>> {
  using type = R;
};
}  // namespace detail

}  // namespace tesela
