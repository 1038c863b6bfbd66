#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels::internal {

/// The widest panel that the two functions below take.
inline constexpr index_t panel_width = 8;

/// LAPACK geqr2 with T: A = Q R for a narrow m x width panel, m >= width; R in the upper triangle, V below, and the
/// upper triangle of t is the T of Q = I - V T V^T. R_jj = -sign(alpha) norm and tau = 0 for a column that is zero
/// below its diagonal, as LAPACK has it; neither the squares of tiny elements nor of huge ones are lost.
template <class T>
void geqrt_panel(index_t m, index_t width, T* a, index_t lda, T* t, index_t ldt);

/// LAPACK tpqrt2: the same for [R; B] with R (width x width) upper triangular and B of `full` full rows above an upper
/// trapezoid of `trapezoid` <= width more. B becomes V.
template <class T>
void tpqrt_panel(index_t full, index_t trapezoid, index_t width, T* r, index_t ldr, T* b, index_t ldb, T* t,
                 index_t ldt);

}  // namespace tesela::kernels::internal
