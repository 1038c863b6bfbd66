#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

// Both compute in double precision with BLAS on all cores, on matrices scaled by powers of two, so that nothing
// overflows.

/// The errors of x and u as a solution of min ||u|| with b = A x + B u: the worst of all columns, after A's columns are
/// divided by their norms, and equations by the sizes of B's rows if these differ by more than 2^13 (T = float: 2^6).
struct GlmError {
  /// ||b - A x - B u|| / (||A|| ||x|| + ||B|| ||u|| + ||b||); if A's rows differ by such factors, the
  /// largest ratio of a row.
  double constraint = 0;
  /// max(||A^T l|| / (||A|| ||l||), ||u - B^T l|| / ||u||), l the multipliers.
  double optimality = 0;
  double gradient = 0;  ///< ||A^T l|| / (||A|| ||l||) alone; if A's rows differ, with rows of one size and their l
  /// max(1, ||B|| ||l|| / ||u||): so much larger than rounding may the optimality be.
  double optimality_scale = 1;
};

/// Multipliers l = 2^exponents[j] times column j, or none: then there is no optimality.
template <class T>
GlmError glm_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& rhs, const HostMatrix<T>& x,
                   const HostMatrix<T>& u, const HostMatrix<T>& multipliers, const std::vector<int>& exponents);

/// How far Q, R, S and V are from Q^T A = [R; 0], Q^T B V = S.
struct GqrError {
  double backward_a = 0, backward_b = 0;            ///< ||A - Q [R; 0]||_F / ||A||_F, ||B - Q S V^T||_F / ||B||_F
  double orthogonality_q = 0, orthogonality_v = 0;  ///< ||I - Q^T Q||_F, ||I - V^T V||_F
};

/// Q is m x m, R min(m, n) x n, S m x k and V, of which these are the last columns, p x k, k = min(m, p).
template <class T>
GqrError gqr_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& q, const HostMatrix<T>& r,
                   const HostMatrix<T>& s, const HostMatrix<T>& v);

}  // namespace tesela
