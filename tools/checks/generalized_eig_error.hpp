#pragma once

#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <optional>
#include <vector>

namespace tesela {

/// Errors of eigenvalues and X as eigenpairs of a symmetric or Hermitian pair; NaN if a number is not finite.
struct GeneralizedEigError {
  /// Kind 1: max ||A x - lambda B x||_2 / ((||A||_2 + |lambda| ||B||_2) ||x||_2); kind 2: ||A B x - lambda x|| /
  /// ((||A|| ||B|| + |lambda|) ||x||); kind 3 with B A x.
  double residual = 0;
  double orthogonality = 0;     ///< ||I - X^H B X||_F; in kind 3 with B^-1
  std::optional<double> value;  ///< max |lambda - LAPACK's (sygvd, hegvd)| / max |lambda|, if requested
  /// ||B||_2 ||B^-1||_2 by power iterations; infinite if B is not positive definite in double precision.
  double condition = 1;
  /// Factors by which a good residual and good values may exceed eig_bounds: the condition in kind 1; its root, and
  /// ||A||_2 ||B||_2 / max |lambda|, in the others. A good orthogonality exceeds it by the condition times the bound of
  /// values.
  double residual_growth = 1, value_growth = 1;
};

/// Measures all errors in double precision with BLAS on all cores, from the lower triangles times powers of two. X is n
/// x values.size(), or n x 0 for values alone; values[0] is number `first` of the spectrum. If `sampled` is less than
/// the number of X's columns, measures the residuals of this number of equally spaced columns, and estimates the
/// orthogonality with as many random sign vectors (Hutchinson's estimator).
template <class T>
GeneralizedEigError generalized_eig_error(GeneralizedKind kind, const HostMatrix<T>& a, const HostMatrix<T>& b,
                                          const std::vector<double>& values, const HostMatrix<T>& x, index_t first,
                                          bool compare, index_t sampled, std::uint64_t seed);

}  // namespace tesela
