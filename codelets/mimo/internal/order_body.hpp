#pragma once

#include <tesela/codelets/mimo/internal/reflectors_body.hpp>
#include <tesela/codelets/mimo/search_alphabet.hpp>

// Orders of columns. A search finds the same vector in every order, so nothing here must be accurate; but it must not
// access other memory, whatever the input is. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Indices of an order, with a step between them.
struct OrderOf {
  int* first;
  index_t step;
  TESELA_INLINE int& operator[](index_t k) const { return first[k * step]; }
};

/// Returns the numbers of work space for order_columns().
TESELA_BOTH inline index_t order_work(index_t m, index_t n) { return (m + n) * (n + 1) + 3 * n; }

/// Sorts 0 … n - 1 by their keys, ascending or descending; the sort is stable.
template <class P>
TESELA_BOTH void sort_by(index_t n, P keys, const OrderOf& order, bool up) {
  for (index_t k = 0; k < n; ++k) {
    const auto key = real(keys[k]);
    index_t to = k;
    for (; to > 0; --to) {
      const auto before = real(keys[order[to - 1]]);
      if (!(up ? before > key : before < key)) break;
      order[to] = order[to - 1];
    }
    order[to] = static_cast<int>(k);
  }
}

/// Computes (A^H A + alpha2 I)^-1 in c, n x n, by Gauss-Jordan elimination in c's precision; a pivot lost to rounding
/// is replaced.
template <class P, class Q>
TESELA_BOTH void inverse_gram(index_t m, index_t n, P a, RealOf<Element<Q>> alpha2, Q c) {
  using F = Element<Q>;
  using T = RealOf<F>;
  T trace = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      F sum = number<F>(i == j ? alpha2 : T(0));
      for (index_t k = 0; k < m; ++k) sum += conj(rounded<F>(a[k + i * m])) * rounded<F>(a[k + j * m]);
      c[i + j * n] = sum;
      if (i == j) trace += real(sum);
    }
  const T floor = (trace > 0 ? trace : T(1)) * (sizeof(T) == 4 ? T(1e-7) : T(1e-15));
  for (index_t k = 0; k < n; ++k) {
    const T found = real(F(c[k + k * n])), pivot = found > floor ? found : floor;
    c[k + k * n] = number<F>(1);
    for (index_t j = 0; j < n; ++j) c[k + j * n] = F(c[k + j * n]) / pivot;
    for (index_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const F factor = c[i + k * n];
      c[i + k * n] = number<F>(0);
      for (index_t j = 0; j < n; ++j) c[i + j * n] -= factor * F(c[k + j * n]);
    }
  }
}

/// Removes one column from the inverse of the Gram matrix, for the first `left` columns of the order.
template <class Q>
TESELA_BOTH void remove_column(index_t n, index_t left, index_t gone, Q c, const OrderOf& order) {
  using F = Element<Q>;
  const auto pivot = real(F(c[gone * (n + 1)]));
  for (index_t p = 0; p < left; ++p)
    for (index_t q = 0; q < left; ++q) {
      const index_t i = order[p], j = order[q];
      c[i + j * n] -= F(c[i + gone * n]) * F(c[gone + j * n]) / pivot;
    }
}

/// Puts the column that noise affects least last, then the best of the remaining columns once it is known (V-BLAST:
/// Wolniansky et al., 1998): the column with the smallest diagonal element of the inverse. Its removal subtracts a
/// rank-one term.
template <class P, class Q>
TESELA_BOTH void vblast_order(index_t m, index_t n, P a, RealOf<Element<P>> alpha2, Q c, const OrderOf& order) {
  using F = Element<P>;
  inverse_gram(m, n, a, alpha2, c);
  for (index_t k = 0; k < n; ++k) order[k] = static_cast<int>(k);
  for (index_t left = n; left > 0; --left) {
    index_t best = 0;
    for (index_t q = 1; q < left; ++q)
      if (real(F(c[order[q] * (n + 1)])) < real(F(c[order[best] * (n + 1)]))) best = q;
    const int taken = order[best];
    for (index_t q = best; q + 1 < left; ++q) order[q] = order[q + 1];
    order[left - 1] = taken;
    remove_column(n, left - 1, taken, c, order);
  }
}

/// Computes all orders that need only the channel a, m x n, which is not changed; alpha2 is N0 in its units.
template <class P>
TESELA_BOTH void order_columns(ColumnOrder kind, bool up, index_t m, index_t n, P a, RealOf<Element<P>> alpha2, P work,
                               const OrderOf& order) {
  using F = Element<P>;
  using T = RealOf<F>;
  for (index_t k = 0; k < n; ++k) order[k] = static_cast<int>(k);
  switch (kind) {
    case ColumnOrder::natural:
    case ColumnOrder::gradient:
    case ColumnOrder::su_wassell:
      break;
    case ColumnOrder::norm: {
      for (index_t j = 0; j < n; ++j) {
        T sum = 0;
        for (index_t i = 0; i < m; ++i) sum += norm(F(a[i + j * m]));
        work[j] = number<F>(sum);
      }
      sort_by(n, work, order, up);
      break;
    }
    case ColumnOrder::vblast:
    case ColumnOrder::mmse_vblast:
      vblast_order(m, n, a, kind == ColumnOrder::vblast ? T(0) : alpha2, work, order);
      break;
    case ColumnOrder::sqrd:
    case ColumnOrder::mmse_sqrd: {
      const index_t rows = kind == ColumnOrder::sqrd ? m : m + n;
      const T alpha = std::sqrt(alpha2);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < rows; ++i)
          work[i + j * rows] = i < m ? F(a[i + j * m]) : number<F>(i - m == j ? alpha : T(0));
      reflect(rows, n, work, work + rows * n, order.first, order.step, true);
      break;
    }
  }
}

}  // namespace tesela::kernels::mimo
