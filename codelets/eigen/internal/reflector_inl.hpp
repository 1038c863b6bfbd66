// Householder reflectors of short vectors. Internal to codelets/eigen.
#include <tesela/codelets/support/inline.hpp>
#include <tesela/codelets/support/internal/shared_inl.hpp>
#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#if defined(TESELA_EIGEN_REFLECTOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_EIGEN_REFLECTOR_INL
#undef TESELA_EIGEN_REFLECTOR_INL
#else
#define TESELA_EIGEN_REFLECTOR_INL
#endif

TESELA_BEFORE_UNIT
namespace tesela::kernels::eigen::TESELA_UNIT {

/// Computes the reflector of a contiguous vector (LAPACK larfg): H x = beta e_1 with H = I - tau v v^T and v_0 = 1, and
/// v overwrites x. H = I if x is zero after its first element. If squares would overflow or underflow, x is scaled by a
/// power of two. NaN or infinity in x gives NaN.
template <class T>
struct Reflector {
  T beta, tau;

  /// `squares_of`(n, x) returns the sum of n squares; it may leave T's range.
  template <class F>
  TESELA_INLINE static Reflector make(index_t n, T* x, const F& squares_of) {
    using Limits = std::numeric_limits<T>;
    constexpr T least = Limits::min() / (Limits::epsilon() * Limits::epsilon()), most = T(1) / least;
    const T squares = squares_of(n - 1, x + 1);
    if (squares >= least && x[0] * x[0] + squares <= most) return normal(n, x, squares);
    int exponent = 0;
    const Outcome outcome = scale(n, x, exponent);
    if (outcome == Outcome::identity) return {std::exchange(x[0], T(1)), T(0)};
    if (outcome == Outcome::not_finite) return {Limits::quiet_NaN(), Limits::quiet_NaN()};
    const Reflector scaled = normal(n, x, squares_of(n - 1, x + 1));
    return {std::ldexp(scaled.beta, exponent), scaled.tau};
  }

 private:
  enum class Outcome : std::uint8_t { scaled, identity, not_finite };

  TESELA_INLINE static Reflector normal(index_t n, T* x, T squares) {
    const T alpha = x[0], beta = -std::copysign(std::sqrt(alpha * alpha + squares), alpha),
            factor = T(1) / (alpha - beta);
    x[0] = T(1);
    for (index_t i = 1; i < n; ++i) x[i] *= factor;
    return {beta, (beta - alpha) / beta};
  }

  /// Divides x by 2^exponent, so that its largest element is about 1.
  static Outcome scale(index_t n, T* x, int& exponent) {
    T largest = 0;
    bool finite = std::isfinite(x[0]);
    for (index_t i = 1; i < n; ++i) {
      largest = std::max(largest, std::abs(x[i]));
      finite = finite && std::isfinite(x[i]);
    }
    if (!finite) {
      std::fill(x, x + n, std::numeric_limits<T>::quiet_NaN());
      return Outcome::not_finite;
    }
    if (largest == T(0)) return Outcome::identity;
    std::frexp(std::max(largest, std::abs(x[0])), &exponent);
    for (index_t i = 0; i < n; ++i) x[i] = std::ldexp(x[i], -exponent);
    return Outcome::scaled;
  }
};

}  // namespace tesela::kernels::eigen::TESELA_UNIT
TESELA_AFTER_UNIT

#endif
