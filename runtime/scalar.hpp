#pragma once

#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>
#include <complex>
#include <type_traits>

// Real and complex elements in one source: the functions that differ. For real numbers they are the obvious ones.

namespace tesela {

/// Whether T is a std::complex type.
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

namespace detail {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};

}  // namespace detail

/// Type of the parts of T: float for std::complex<float>, and T itself for a real T.
template <class T>
using real_t = typename detail::RealOf<std::remove_const_t<T>>::type;

/// The operator of A^H, as the kernels for T know it: a real matrix has no conjugate.
template <class T>
inline constexpr Op adjoint = is_complex<T> ? Op::conjugate : Op::transpose;

/// Returns `op` as the kernels for T know it: A^T for the A^H of a real matrix.
template <class T>
constexpr Op op_for(Op op) {
  return op == Op::conjugate ? adjoint<T> : op;
}

/// Returns the conjugate of x, which is x for a real number.
template <class T>
TESELA_BOTH constexpr T conj(T x) {
  if constexpr (is_complex<T>)
    return T(x.real(), -x.imag());
  else
    return x;
}

/// Returns op(x) for an element x of a matrix that is read transposed or not: x, or its conjugate.
template <class T>
TESELA_BOTH constexpr T apply_to(Op op, T x) {
  return op == Op::conjugate ? conj(x) : x;
}

/// Returns the real part.
template <class T>
TESELA_BOTH constexpr real_t<T> real_part(T x) {
  if constexpr (is_complex<T>)
    return x.real();
  else
    return x;
}

/// Returns whether no part of x is NaN or infinite.
template <class T>
TESELA_BOTH bool is_finite(T x) {
  if constexpr (is_complex<T>)
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  else
    return std::isfinite(x);
}

/// Returns the larger magnitude of x's parts, which cannot overflow; |x| for a real number. NaN if one is NaN.
template <class T>
TESELA_BOTH real_t<T> largest_part(T x) {
  if constexpr (is_complex<T>) {
    const real_t<T> re = std::abs(x.real()), im = std::abs(x.imag());
    return re >= im || std::isnan(re) ? re : im;
  } else {
    return std::abs(x);
  }
}

/// Returns |re x| + |im x|, by which LAPACK selects pivots; |x| for a real number.
template <class T>
TESELA_BOTH real_t<T> sum_of_parts(T x) {
  if constexpr (is_complex<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

/// Returns a b by the four real products. The operator of std::complex also looks for infinities behind NaN, which no
/// compiler vectorizes.
template <class T>
TESELA_BOTH constexpr T times(T a, T b) {
  if constexpr (is_complex<T>)
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else
    return a * b;
}

/// Operations on real numbers for an operation on numbers of T, as LAPACK counts them for products and factorizations.
template <class T>
inline constexpr double flops_each = is_complex<T> ? 4 : 1;

/// Returns x 2^e.
template <class T>
TESELA_BOTH T times_power_of_two(T x, int e) {
  if constexpr (is_complex<T>)
    return T(std::ldexp(x.real(), e), std::ldexp(x.imag(), e));
  else
    return std::ldexp(x, e);
}

/// Returns x in the type To, without the imaginary part if To is real; To's precision may be another.
template <class To, class T>
constexpr To converted(T x) {
  if constexpr (is_complex<To> && is_complex<T>)
    return To(static_cast<real_t<To>>(x.real()), static_cast<real_t<To>>(x.imag()));
  else
    return To(static_cast<real_t<To>>(real_part(x)));
}

/// The type of T's kind, real or complex, with parts of type Real: double for float, std::complex<double> for
/// std::complex<float>.
template <class T, class Real>
using with_parts = std::conditional_t<is_complex<T>, std::complex<Real>, Real>;

}  // namespace tesela

// Expands a source's macro INSTANTIATE(T), which instantiates its templates, for the real numbers, the complex ones, or
// both.
#define TESELA_FOR_REALS(INSTANTIATE) INSTANTIATE(float) INSTANTIATE(double)
#define TESELA_FOR_COMPLEX(INSTANTIATE) INSTANTIATE(std::complex<float>) INSTANTIATE(std::complex<double>)
#define TESELA_FOR_NUMBERS(INSTANTIATE) TESELA_FOR_REALS(INSTANTIATE) TESELA_FOR_COMPLEX(INSTANTIATE)

// Instantiates up to six structs, classes, function templates that are not overloaded, or CUDA variants of kernels, for
// the real numbers or for all.
#define TESELA_STRUCTS_FOR_REALS(...) TESELA_LIST_FOR_REALS(TESELA_STRUCT, __VA_ARGS__)
#define TESELA_STRUCTS_FOR_NUMBERS(...) TESELA_LIST_FOR_NUMBERS(TESELA_STRUCT, __VA_ARGS__)
#define TESELA_CLASSES_FOR_REALS(...) TESELA_LIST_FOR_REALS(TESELA_CLASS, __VA_ARGS__)
#define TESELA_CLASSES_FOR_NUMBERS(...) TESELA_LIST_FOR_NUMBERS(TESELA_CLASS, __VA_ARGS__)
#define TESELA_FUNCTIONS_FOR_REALS(...) TESELA_LIST_FOR_REALS(TESELA_FUNCTION, __VA_ARGS__)
#define TESELA_FUNCTIONS_FOR_NUMBERS(...) TESELA_LIST_FOR_NUMBERS(TESELA_FUNCTION, __VA_ARGS__)
#define TESELA_CUDA_FOR_REALS(...) TESELA_LIST_FOR_REALS(TESELA_CUDA, __VA_ARGS__)
#define TESELA_CUDA_FOR_NUMBERS(...) TESELA_LIST_FOR_NUMBERS(TESELA_CUDA, __VA_ARGS__)
#define TESELA_STRUCT(T, NAME) template struct NAME<T>;
#define TESELA_CLASS(T, NAME) template class NAME<T>;
#define TESELA_FUNCTION(T, NAME) template decltype(NAME<T>) NAME<T>;
#define TESELA_CUDA(T, NAME) template decltype(NAME<T>::cuda) NAME<T>::cuda;
#define TESELA_LIST_FOR_REALS(DO, ...) TESELA_LIST1(DO, float, __VA_ARGS__) TESELA_LIST1(DO, double, __VA_ARGS__)
#define TESELA_LIST_FOR_NUMBERS(DO, ...) \
  TESELA_LIST_FOR_REALS(DO, __VA_ARGS__) \
  TESELA_LIST1(DO, std::complex<float>, __VA_ARGS__) TESELA_LIST1(DO, std::complex<double>, __VA_ARGS__)
#define TESELA_LIST1(DO, T, NAME, ...) DO(T, NAME) __VA_OPT__(TESELA_LIST2(DO, T, __VA_ARGS__))
#define TESELA_LIST2(DO, T, NAME, ...) DO(T, NAME) __VA_OPT__(TESELA_LIST3(DO, T, __VA_ARGS__))
#define TESELA_LIST3(DO, T, NAME, ...) DO(T, NAME) __VA_OPT__(TESELA_LIST4(DO, T, __VA_ARGS__))
#define TESELA_LIST4(DO, T, NAME, ...) DO(T, NAME) __VA_OPT__(TESELA_LIST5(DO, T, __VA_ARGS__))
#define TESELA_LIST5(DO, T, NAME, ...) DO(T, NAME) __VA_OPT__(TESELA_LIST6(DO, T, __VA_ARGS__))
#define TESELA_LIST6(DO, T, NAME) DO(T, NAME)
