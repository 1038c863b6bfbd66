#pragma once

#include <tesela/host/normal_residual.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

// The functions compute in double precision with BLAS on all cores, on matrices scaled by powers of two, so that
// nothing overflows.

/// Errors of x and u as a solution of min ||u|| with b = A x + B u: the worst over all columns, after division of A's
/// columns by their norms unless x has the least norm of many solutions, and of the equations by the sizes of B's rows
/// if these differ by more than 2^13 (T = float: 2^6).
struct GlmError {
  /// ||b - A x - B u|| / (||A|| ||x|| + ||B|| ||u|| + ||b||); if A's rows differ by such factors, the largest ratio of
  /// a row.
  double constraint = 0;
  /// max(||A^H l|| / (||A|| ||l||), ||u - B^H l|| / ||u||) with multipliers l.
  double optimality = 0;
  double gradient = 0;  ///< ||A^H l|| / (||A|| ||l||); if A's rows differ, with rows scaled to one size and their l
  /// max(1, ||B|| ||l|| / ||u||): the factor by which the optimality may exceed rounding.
  double optimality_scale = 1;
};

/// Measures the errors; column j of the multipliers has units of 2^exponents[j]. Without multipliers there is no
/// optimality. `least_norm`: x has the least ||x|| of many solutions.
template <class T>
GlmError glm_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& rhs, const HostMatrix<T>& x,
                   const HostMatrix<T>& u, const HostMatrix<T>& multipliers, const std::vector<int>& exponents,
                   bool least_norm = false);
/// Measures the errors of a result of glm, or of generalized least squares with the errors u.
template <class T, class Answer>
GlmError glm_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& rhs, const Answer& s,
                   const HostMatrix<T>& u) {
  return glm_error(a, b, rhs, s.X, u, s.multipliers, s.multiplier_exponents, s.rank < a.cols() && s.original_units);
}

/// Errors of Q, R, S and V as factors Q^H A = [R; 0] and Q^H B V = S.
struct GqrError {
  double backward_a = 0, backward_b = 0;            ///< ||A - Q [R; 0]||_F / ||A||_F, ||B - Q S V^H||_F / ||B||_F
  double orthogonality_q = 0, orthogonality_v = 0;  ///< ||I - Q^H Q||_F, ||I - V^H V||_F
};

/// Measures a GQR factorization: Q is m x m, R min(m, n) x n, S m x k and V p x k, its last k = min(m, p) columns.
template <class T>
GqrError gqr_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& q, const HostMatrix<T>& r,
                   const HostMatrix<T>& s, const HostMatrix<T>& v);

/// Measures X as a solution of min ||F^-1 (A x - b)|| on F^-1 [A b], which LAPACK computes in double precision on all
/// cores, from F or from the Cholesky factor of sigma = F F^H, both m x m. NaN if there is no such factor.
template <class T>
typename kernels::NormalResidual<with_parts<T, double>>::Result gls_error(const HostMatrix<T>& a,
                                                                          const HostMatrix<T>& b,
                                                                          const HostMatrix<T>& f, bool sigma,
                                                                          const HostMatrix<T>& x);

}  // namespace tesela
