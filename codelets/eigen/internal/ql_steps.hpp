#pragma once

#include <tesela/codelets/support/inline.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>
#include <limits>

namespace tesela::kernels::ql {

/// Most sweeps for one eigenvalue; three are usual.
inline constexpr int most_sweeps = 60;

/// Off-diagonal entries up to this size count as zero. T's entries are of size 1, and n such entries together do not
/// change an eigenvalue by eps.
template <class T>
inline constexpr T negligible = std::numeric_limits<T>::epsilon() / 64;

template <class T>
inline constexpr T rounding = std::numeric_limits<T>::epsilon();

/// Smaller numbers of a rotation are scaled up before they are squared.
template <class T>
inline constexpr T tiny = sizeof(T) == 4 ? T(0x1p-50) : T(0x1p-500);

/// Computes c and s with c g + s f = r, c f - s g = 0, orthogonal to T's precision, also if squares would underflow.
template <class T>
TESELA_INLINE T rotation(T f, T g, T& c, T& s) {
  const T most = std::abs(f) > std::abs(g) ? std::abs(f) : std::abs(g), scale = most < tiny<T> ? 1 / tiny<T> : T(1);
  f *= scale, g *= scale;
  const T r = std::sqrt(f * f + g * g);
  s = f / r;
  c = g / r;
  return r / scale;
}

/// Returns the end of the block that begins at l: the first row from l on with a negligible off-diagonal.
template <class T>
TESELA_INLINE index_t block_end(index_t n, const T* d, const T* e, index_t l) {
  while (l < n - 1 && std::abs(e[l]) > negligible<T> &&
         std::abs(e[l]) > rounding<T> * (std::abs(d[l]) + std::abs(d[l + 1])))
    ++l;
  return l;
}

/// Performs one implicit QL sweep with Wilkinson's shift over rows l … m of T (J. Wilkinson, C. Reinsch, Handbook for
/// Automatic Computation II/3). It calls rotate(i, c, s) for i = m - 1 … l, where columns i and i + 1 of the vectors
/// become c x_i - s x_(i+1) and s x_i + c x_(i+1).
template <class T, class Rotate>
TESELA_INLINE void sweep(T* d, T* e, index_t l, index_t m, Rotate&& rotate) {
  T g = (d[l + 1] - d[l]) / (2 * e[l]);
  const T r = std::sqrt(g * g + 1);
  g = std::isinf(r) ? d[m] - d[l] : d[m] - d[l] + e[l] / (g + std::copysign(r, g));
  T s = 1, c = 1, p = 0;
  for (index_t i = m - 1; i >= l; --i) {
    const T f = s * e[i], b = c * e[i];
    if (f == T(0) && g == T(0)) {  // T splits here
      e[i + 1] = 0;
      d[i + 1] -= p;
      e[m] = 0;
      return;
    }
    e[i + 1] = rotation(f, g, c, s);  // e[m] has no meaning here and is set below
    g = d[i + 1] - p;
    const T next = (d[i] - g) * s + 2 * c * b;
    p = s * next;
    d[i + 1] = g + p;
    g = c * next - b;
    rotate(i, c, s);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

}  // namespace tesela::kernels::ql
