#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// Measured errors of a singular value decomposition.
struct SvdError {
  /// max over all triples of ||A v - s u||_2 and ||A^T u - s v||_2, relative to ||A||_2. With min(m, n) triples it
  /// bounds A - U S V^T, because U or V is square.
  double residual = 0;
  double orthogonality_u = 0, orthogonality_v = 0;  ///< ||I - U^T U||_F, and the same for V
};

/// Limits for a good result: of the residual and of differences between values relative to ||A||_2, and of the
/// orthogonality of each side.
struct SvdBounds {
  double value, orthogonality;
};
template <class T>
SvdBounds svd_bounds(index_t m, index_t n);

/// Measures the errors of A times a power of two, in double precision with BLAS on all cores. U and V may have more
/// columns than there are values.
template <class T>
SvdError svd_error(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& u,
                   const HostMatrix<T>& v);

/// Returns all singular values by LAPACK's gesdd on all cores in double precision, of A times a power of two; empty if
/// it does not converge.
template <class T>
std::vector<double> reference_singular_values(const HostMatrix<T>& a);

/// Returns max |values(i) - reference(i)| / reference(0); NaN if one is not finite or the reference has too few.
double singular_value_error(const std::vector<double>& values, const std::vector<double>& reference);

/// Returns | ||values||_2 - ||A||_F | / ||A||_F for all values of A.
template <class T>
double norm_drift(const HostMatrix<T>& a, const std::vector<double>& values);

}  // namespace tesela
