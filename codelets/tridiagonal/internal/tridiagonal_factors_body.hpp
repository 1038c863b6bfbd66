#pragma once

#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_factors.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cmath>

// Elimination and substitution of TridiagonalFactor and TridiagonalFactoredSolve, row by row, for cores and GPUs.
// Internal to codelets/.

namespace tesela::kernels::tridiagonal {

/// Row i of the factors: `l` points to its multiplier; the other factors follow at distances of a leading dimension.
template <class T>
struct FactorRow {
  T l, inverse, du, du2;
  real_t<T> scale;
  bool swapped;
};

template <class T>
struct Factors {
  T* l;
  index_t n, ld;

  TESELA_BOTH FactorRow<std::remove_const_t<T>> operator()(index_t i) const {
    const real_t<T> scale = real_part(l[i + 4 * ld]);
    return {l[i], l[i + ld], l[i + 2 * ld], l[i + 3 * ld], std::fabs(scale), scale < 0};
  }
  TESELA_BOTH void put(index_t i, const FactorRow<T>& row) const {
    l[i] = row.l;
    l[i + ld] = row.inverse;
    l[i + 2 * ld] = row.du;
    l[i + 3 * ld] = row.du2;
    l[i + 4 * ld] = row.swapped ? -row.scale : row.scale;
  }
};

/// Factors; row i is dl[i stride], d[i stride], du[i stride]. Returns the first row, counted from 1, without a pivot,
/// or 0.
template <class T>
TESELA_BOTH inline index_t factor(const T* dl, index_t dl_stride, const T* d, index_t d_stride, const T* du,
                                  index_t du_stride, const Factors<T>& factors) {
  const index_t n = factors.n;
  index_t broken = 0;
  // The current row, p x(i) + q x(i+1) = …, and the next one.
  T p = 0, q = 0;
  real_t<T> scale = 0;
  for (index_t i = -1; i < n; ++i) {
    T below = 0, mid = 0, above = 0;
    real_t<T> next_scale = 1;
    if (i + 1 < n) {
      below = i >= 0 ? dl[(i + 1) * dl_stride] : T(0);
      mid = d[(i + 1) * d_stride];
      above = i + 2 < n ? du[(i + 1) * du_stride] : T(0);
      const real_t<T> size = larger(magnitude(below), larger(magnitude(mid), magnitude(above)));
      next_scale = size == 0 ? real_t<T>(1) : over_power(size);
      below *= next_scale, mid *= next_scale, above *= next_scale;
    }
    if (i < 0) {
      p = mid, q = above, scale = next_scale;
      continue;
    }
    FactorRow<T> row{};
    row.swapped = magnitude(below) > magnitude(p);
    row.scale = scale;
    const T pivot = row.swapped ? below : p;
    row.inverse = inverse(pivot);
    const bool finite = row.inverse * T(0) == T(0) && pivot * T(0) == T(0);
    if ((row.inverse == T(0) || !finite) && broken == 0) broken = i + 1;
    row.l = (row.swapped ? p : below) * row.inverse;
    row.du = row.swapped ? mid : q;
    row.du2 = row.swapped ? above : T(0);
    factors.put(i, row);
    const T rest = row.swapped ? q - row.l * mid : mid - row.l * q;
    q = row.swapped ? -row.l * above : above;
    p = rest;
    scale = next_scale;
  }
  return broken;
}

/// Converts a factor or a scale to N: the number itself for one system.
template <class N, class T>
TESELA_INLINE N in_all(T number) {
  return number;
}
#include <tesela/codelets/tridiagonal/internal/factored_substitution_body.hpp>

}  // namespace tesela::kernels::tridiagonal
