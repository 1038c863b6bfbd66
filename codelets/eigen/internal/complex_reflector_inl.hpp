// Householder reflectors of short complex vectors, by plain loops, which the compiler vectorizes. Guarded by Highway's
// toggle, like vectors_inl.hpp. Internal to codelets/eigen.
#include <tesela/codelets/eigen/internal/columns_inl.hpp>
#include <tesela/codelets/eigen/internal/reflector_inl.hpp>
#include <tesela/runtime/scalar.hpp>

#if defined(TESELA_EIGEN_COMPLEX_REFLECTOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_EIGEN_COMPLEX_REFLECTOR_INL
#undef TESELA_EIGEN_COMPLEX_REFLECTOR_INL
#else
#define TESELA_EIGEN_COMPLEX_REFLECTOR_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::eigen::HWY_NAMESPACE {
namespace {

/// Computes the reflector of x: H^H x = beta e_1 with H = I - tau v v^H, v_0 = 1 and a real beta, and v overwrites x
/// (LAPACK larfg). For real numbers as Reflector<T>. Returns beta.
template <class T>
HWY_INLINE real_t<T> make_reflector(index_t n, T* x, T& tau) {
  if constexpr (!is_complex<T>) {
    const Reflector<T> reflector = Reflector<T>::make(n, x, SquaresOf<T>());
    tau = reflector.tau;
    return reflector.beta;
  } else {
    using Real = real_t<T>;
    tau = 0;
    Real largest = 0;
    for (index_t i = 0; i < n; ++i) largest = largest_part(x[i]) <= largest ? largest : largest_part(x[i]);
    if (largest == 0) return std::exchange(x[0], T(1)).real();
    // The scaled numbers are below 1, so that squares are in range; tiny numbers do not count.
    const int exponent = std::isfinite(largest) ? std::ilogb(largest) + 1 : 0;
    Real squares = 0;
    for (index_t i = 0; i < n; ++i) {
      x[i] = times_power_of_two(x[i], -exponent);
      if (i > 0) squares += x[i].real() * x[i].real() + x[i].imag() * x[i].imag();
    }
    const T alpha = x[0];
    x[0] = T(1);
    if (squares == 0 && alpha.imag() == 0) return std::ldexp(alpha.real(), exponent);
    const Real beta =
        -std::copysign(std::sqrt(alpha.real() * alpha.real() + alpha.imag() * alpha.imag() + squares), alpha.real());
    const T factor = T(1) / (alpha - beta);
    for (index_t i = 1; i < n; ++i) x[i] = times(x[i], factor);
    tau = T((beta - alpha.real()) / beta, -alpha.imag() / beta);
    return std::ldexp(beta, exponent);
  }
}

}  // namespace
}  // namespace tesela::kernels::eigen::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
