#pragma once

#include <tesela/codelets/support/inline.hpp>
#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace tesela::kernels::eigen {

/// LAPACK larfg for a vector in one piece: H x = beta e_1 with H = I - tau v v^T and v_0 = 1, written over x. H = I
/// where x is zero behind its first element. Where squares would overflow or be lost, x is scaled by a power of two.
/// NaN or infinity in x gives NaN.
template <class T>
struct Reflector {
  T beta, tau;

  /// `squares` is the sum of all x_i^2 behind x_0, infinite or inexact where it leaves T's range.
  TESELA_INLINE static Reflector make(index_t n, T* x, T squares) {
    using Limits = std::numeric_limits<T>;
    constexpr T least = Limits::min() / (Limits::epsilon() * Limits::epsilon()), most = T(1) / least;
    if (squares >= least && x[0] * x[0] + squares <= most) return normal(n, x, squares);
    int exponent = 0;
    const Outcome outcome = scale(n, x, exponent);
    if (outcome == Outcome::identity) return {std::exchange(x[0], T(1)), T(0)};
    if (outcome == Outcome::not_finite) return {Limits::quiet_NaN(), Limits::quiet_NaN()};
    squares = 0;
    for (index_t i = 1; i < n; ++i) squares += x[i] * x[i];
    const Reflector scaled = normal(n, x, squares);
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

  /// x = x / 2^exponent, so that its largest element is about 1.
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

}  // namespace tesela::kernels::eigen
