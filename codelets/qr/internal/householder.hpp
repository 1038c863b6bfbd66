#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels::internal {

/// The widest panel that the two functions below accept.
inline constexpr index_t panel_width = 8;

/// Factors a narrow m x width panel A = Q R, m >= width, and computes T (LAPACK geqr2). R is in the upper triangle, V
/// below, and Q = I - V T V^T with T in the upper triangle of t.
///
/// As in LAPACK, R_jj = -sign(alpha) norm, and tau = 0 for a column that is zero below its diagonal. Squares of tiny or
/// huge elements are not lost.
template <class T>
void geqrt_panel(index_t m, index_t width, T* a, index_t lda, T* t, index_t ldt);

/// Computes the same for [R; B] (LAPACK tpqrt2) with R (width x width) upper triangular and B of `full` full rows above
/// an upper trapezoid of `trapezoid` <= width more. B becomes V.
template <class T>
void tpqrt_panel(index_t full, index_t trapezoid, index_t width, T* r, index_t ldr, T* b, index_t ldb, T* t,
                 index_t ldt);

}  // namespace tesela::kernels::internal
