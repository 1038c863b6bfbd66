#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels::internal {

/// The widest panel that the two functions below accept.
inline constexpr index_t panel_width = 8;

/// Factors a narrow m x width panel A = Q R, m >= width, and computes T (LAPACK geqr2). R is in the upper triangle, V
/// below, and Q = I - V T V^H with T in the upper triangle of t.
///
/// As in LAPACK, R_jj = -sign(alpha) norm, and tau = 0 for a column that is zero below its diagonal. Squares of tiny or
/// huge elements are not lost. Complex panels are LAPACK's, and R_jj is real as well.
template <class T>
void geqrt_panel(index_t m, index_t width, T* a, index_t lda, T* t, index_t ldt);

/// Computes the same for [R; B] (LAPACK tpqrt2) with R (width x width) upper triangular and B of `full` full rows above
/// an upper trapezoid of `trapezoid` <= width more. B becomes V.
template <class T>
void tpqrt_panel(index_t full, index_t trapezoid, index_t width, T* r, index_t ldr, T* b, index_t ldb, T* t,
                 index_t ldt);

/// One pass over a panel. It scales column `v` to a Householder vector and applies it to all columns right of it: a_i
/// -= v weight_i. Then it adds sum_i += x . a_i for every column i; x is the next column.
template <class T>
struct PanelPass {
  index_t width, v;
  T scale;
  const T* weights;  // null: no update
  T* sums;           // null: no sums
};

/// Copy of a panel's rows in one piece of memory.
template <class T>
struct PanelRows {
  T* data;
  index_t rows, ld;
};

template <class T>
void sweep(const PanelPass<T>& pass, const PanelRows<T>& panel);

}  // namespace tesela::kernels::internal
