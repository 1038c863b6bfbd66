#pragma once

#include <tesela/codelets/eigen/internal/columns.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::kernels::eigen {

/// LAPACK larfg for a vector in one piece: H x = beta e_1 with H = I - tau v v^T and v_0 = 1, written over x. H = I
/// where x is zero behind its first element. Where squares would overflow or be lost, x is scaled by a power of two.
/// What is not finite gives NaN.
template <class T>
struct Reflector {
  T beta, tau;

  TESELA_INLINE static Reflector make(index_t n, T* x) {
    constexpr T least =
        std::numeric_limits<T>::min() / (std::numeric_limits<T>::epsilon() * std::numeric_limits<T>::epsilon());
    constexpr T most = T(1) / least;
    const T alpha = x[0], squares = dot(n - 1, x + 1, x + 1);
    if (!(squares >= least && alpha * alpha + squares <= most)) return make_scaled(n, x);
    const T beta = -std::copysign(std::sqrt(alpha * alpha + squares), alpha), scale = T(1) / (alpha - beta);
    x[0] = T(1);
    for (index_t i = 1; i < n; ++i) x[i] *= scale;
    return {beta, (beta - alpha) / beta};
  }

 private:
  static Reflector make_scaled(index_t n, T* x) {
    T largest = 0, sum = 0;
    for (index_t i = 1; i < n; ++i) {
      largest = std::max(largest, std::abs(x[i]));
      sum += std::abs(x[i]);
    }
    const T alpha = x[0];
    x[0] = T(1);
    if (sum == T(0)) return {alpha, T(0)};
    if (!std::isfinite(alpha) || !(largest <= std::numeric_limits<T>::max()) || std::isnan(sum)) {
      const T nan = std::numeric_limits<T>::quiet_NaN();
      std::fill(x + 1, x + n, nan);
      return {nan, nan};
    }
    int exponent = 0;
    std::frexp(std::max(largest, std::abs(alpha)), &exponent);
    T squares = 0;
    for (index_t i = 1; i < n; ++i) {
      x[i] = std::ldexp(x[i], -exponent);
      squares += x[i] * x[i];
    }
    const T a = std::ldexp(alpha, -exponent), beta = -std::copysign(std::sqrt(a * a + squares), a);
    for (index_t i = 1; i < n; ++i) x[i] /= a - beta;
    return {std::ldexp(beta, exponent), (beta - a) / beta};
  }
};

}  // namespace tesela::kernels::eigen
