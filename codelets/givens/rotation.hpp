#pragma once

#include <tesela/codelets/givens/complex_rotation.hpp>
#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cmath>
#include <limits>

namespace tesela::kernels {

/// A plane rotation: upper' = c upper + s lower, lower' = c lower - conj(s) upper, with a real c.
template <class T>
struct Rotation {
  real_t<T> c = 1;
  alignas(is_complex<T> && alignof(T) < 8 ? 8 : alignof(T)) T s = 0;  // a register holds a complex float
  friend bool operator==(const Rotation&, const Rotation&) = default;
};

/// A rotation that makes `lower` zero and `upper` r, and the scalar rho that represents it (unpack).
template <class T>
struct Annihilation {
  Rotation<T> rotation;
  T r = 0;
  T rho = 0;
};

namespace internal {

/// Returns sqrt(1 - x^2) for |x| <= sqrt(1/2), to slightly more than half a unit in the last place.
///
/// The operations cannot be fused. The plain square root would be rounded down more often than up for small x, and a
/// chain of a thousand rotations would shrink its vectors.
template <class T>
TESELA_BOTH inline T complement(T x) {
  const T root = std::sqrt((T(1) - x) * (T(1) + x));
  return T(1) - x * x / (T(1) + root);
}

/// The two forms of rho meet at |c| = |s|, where rounding could convert a stored rotation to the other form when it is
/// unpacked. So the smaller of |c| and |s| is at most `half_angle`, the largest x <= sqrt(1/2) that is less than sqrt(1
/// - x^2), and |rho| of the second form is at least `least`, the first rho whose c is at most half_angle.
template <class T>
struct PackingBounds;
template <>
struct PackingBounds<double> {
  static constexpr double half_angle = 0x1.6a09e667f3bccp-1, least = 0x1.6a09e667f3bcdp+1;
  static constexpr double most = std::numeric_limits<double>::max() / 2;  // beyond it c is subnormal
};
template <>
struct PackingBounds<float> {
  static constexpr float half_angle = 0x1.6a09e6p-1f, least = 0x1.6a09e6p+1f;
  static constexpr float most = std::numeric_limits<float>::max() / 2;
};

}  // namespace internal

/// Returns the rotation that a stored scalar represents (Stewart, "The economical storage of plane rotations", 1976):
/// rho = 1: (0, 1); |rho| < 1: s = 2 rho, c = sqrt(1 - s^2); else c = 2 / rho, s = sqrt(1 - c^2).
///
/// Complex: c >= 0. |rho| = 1: (0, rho); |rho| < 1: s = 2 rho, c = sqrt(1 - |s|^2); else c = 2 / |rho|, s = sqrt(1 -
/// c^2) rho / |rho|. No stored |rho| lies between sqrt(1/8) and 1, or 1 and sqrt(8), so that rounding never changes the
/// form.
template <class T>
TESELA_BOTH inline Rotation<T> unpack(T rho) {
  if constexpr (is_complex<T>) {
    using R = real_t<T>;
    const R square = internal::squared(rho);
    if (square < R(0.5)) {
      const T s = internal::scaled(rho, R(2));
      return {internal::complement_of_square(internal::squared(s)), s};
    }
    if (square < R(2)) return {R(0), rho};
    const R factor = internal::factor_into_range(rho);
    const T x = internal::scaled(rho, factor);
    const R size = std::sqrt(internal::squared(x)), c = R(2) * factor / size;
    return {c, internal::scaled(x, internal::complement_of_square(internal::combine(c, c, R(0), R(0))) / size)};
  } else {
    if (rho == T(1)) return {T(0), T(1)};
    if (internal::magnitude(rho) < T(1)) {
      const T s = T(2) * rho;
      return {internal::complement(s), s};
    }
    const T c = T(2) / rho;
    return {c, internal::complement(c)};
  }
}

/// Returns the scalar of a real rotation: 1 if c = 0; sign(c) s / 2 if |s| < |c|; else 2 sign(s) / c.
///
/// The signs make the larger of c and s positive, so that (-c, -s) has the same scalar: unpack(pack(x)) is x or -x. It
/// is x, bit for bit, for the rotations that givens() and unpack() return.
template <class T>
TESELA_BOTH inline T pack(const Rotation<T>& x) {
  if (x.c == T(0)) return T(1);
  if (internal::magnitude(x.s) < internal::magnitude(x.c)) return (x.c < T(0) ? -x.s : x.s) / T(2);
  return (x.s < T(0) ? T(-2) : T(2)) / x.c;
}

namespace internal {

/// givens() for real numbers, b != 0.
template <class T>
TESELA_BOTH inline Annihilation<T> real_givens(T a, T b) {
  using Packing = PackingBounds<T>;
  if (a == T(0)) return {{T(0), T(1)}, b, T(1)};
  Annihilation<T> x;
  if (magnitude(b) >= magnitude(a)) {
    const T u = a / b, w = std::sqrt(combine(T(1), T(1), u, u));
    x.rho = T(2) * w * (b / a);
    if (magnitude(x.rho) < Packing::least) x.rho = x.rho < T(0) ? -Packing::least : Packing::least;
    if (magnitude(x.rho) > Packing::most) return {{T(0), T(1)}, b, T(1)};
    x.rotation.c = T(2) / x.rho;
    x.rotation.s = complement(x.rotation.c);
  } else {
    const T t = b / a, w = std::sqrt(combine(T(1), T(1), t, t));
    x.rho = t / w / T(2);
    if (magnitude(x.rho) > Packing::half_angle / T(2))
      x.rho = x.rho < T(0) ? -Packing::half_angle / T(2) : Packing::half_angle / T(2);
    x.rotation.s = T(2) * x.rho;
    x.rotation.c = complement(x.rotation.s);
  }
  x.r = combine(x.rotation.c, a, x.rotation.s, b);
  return x;
}

}  // namespace internal

/// Returns the rotation with c a + s b = r and c b - conj(s) a = 0, |r| = sqrt(|a|^2 + |b|^2) (LAPACK lartg).
///
/// Only ratios of a and b are formed, so nothing overflows unless r does, and nothing is divided by zero; b = 0 (and so
/// (0, 0)) gives the identity. The larger of c and s is positive if they are real; complex numbers have c >= 0 and an r
/// with a's phase (real and positive if a = 0). The rotation equals unpack(rho) bit for bit, on a GPU and on a core.
/// NaN in a or b gives NaN in r.
template <class T>
TESELA_BOTH inline Annihilation<T> givens(T a, T b) {
  if (internal::is_zero(b)) return {{}, a, T(0)};
  if constexpr (is_complex<T>) {
    const T rho = internal::complex_scalar(a, b);
    const Rotation<T> x = unpack(rho);
    const T of_b = internal::rounded_product(x.s, b);
    return {x,
            T(internal::combine(x.c, a.real(), real_t<T>(1), of_b.real()),
              internal::combine(x.c, a.imag(), real_t<T>(1), of_b.imag())),
            rho};
  } else {
    return internal::real_givens(a, b);
  }
}

/// Returns the rotation for rows of C in Q^H C, or for columns of C in C Q: (c, conj(s)).
template <class T>
TESELA_BOTH inline Rotation<T> for_side(Side side, const Rotation<T>& x) {
  return {x.c, side == Side::left ? x.s : conj(x.s)};
}

/// Rotates the pair (upper, lower) in place.
template <class T>
TESELA_BOTH inline void rotate(const Rotation<T>& x, T& upper, T& lower) {
  const T above = x.c * upper + times(x.s, lower);
  lower = x.c * lower - times(conj(x.s), upper);
  upper = above;
}

/// Applies the inverse of rotate().
template <class T>
TESELA_BOTH inline void rotate_back(const Rotation<T>& x, T& upper, T& lower) {
  const T above = x.c * upper - times(x.s, lower);
  lower = x.c * lower + times(conj(x.s), upper);
  upper = above;
}

}  // namespace tesela::kernels
