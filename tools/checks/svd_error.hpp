#pragma once

#include <tesela/algorithms/svd/pca.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/row_source.hpp>

#include <limits>
#include <vector>

namespace tesela {

/// Measured errors of a singular value decomposition.
struct SvdError {
  /// max over all triples of ||A v - s u||_2 and ||A^H u - s v||_2, relative to ||A||_2. With min(m, n) triples it
  /// bounds A - U S V^H, because U or V is square.
  double residual = 0;
  double orthogonality_u = 0, orthogonality_v = 0;  ///< ||I - U^H U||_F, and the same for V
};

/// Limits for a good result: of the residual and of differences between values relative to ||A||_2, and of the
/// orthogonality of each side.
struct SvdBounds {
  double value, orthogonality;
};
template <class T>
SvdBounds svd_bounds(index_t m, index_t n);

/// Returns the error of subnormal values, relative to ||A||_2 = norm.
inline double value_rounding(double norm) { return norm > 0 ? std::numeric_limits<double>::denorm_min() / norm : 0; }

/// Measures the errors of A times a power of two, in double precision with BLAS on all cores. U and V may have more
/// columns than there are values. `sampled` is the largest number of measured triples, which are evenly spaced; if U or
/// V has more columns, its orthogonality is estimated by as many random vectors. `norm` is ||A||_2; 0: values[0].
template <class T>
SvdError svd_error(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& u,
                   const HostMatrix<T>& v, index_t sampled = std::numeric_limits<index_t>::max(), double norm = 0);

/// Returns all singular values by LAPACK's gesdd on all cores in double precision, of A times a power of two; empty if
/// it does not converge.
template <class T>
std::vector<double> reference_singular_values(const HostMatrix<T>& a);

/// Returns max |values(i) - reference(i)| / reference(0); NaN if one is not finite or the reference has too few.
double singular_value_error(const std::vector<double>& values, const std::vector<double>& reference);

/// Returns | ||values||_2 - ||A||_F | / ||A||_F for all values of A.
template <class T>
double norm_drift(const HostMatrix<T>& a, const std::vector<double>& values);

/// Returns ||A - U S V^H||_2 / ||A||_2 for U and V with a column for each value: by LAPACK's gesdd up to min(m, n) =
/// 512, beyond it by 60 steps of power iteration, which may be a few percent too small. `norm` is ||A||_2.
template <class T>
double low_rank_error(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& u,
                      const HostMatrix<T>& v, double norm);

/// Largest errors over a batch of matrices, as in SvdError.
struct SvdBatchError {
  double value = 0;  ///< difference from LAPACK's gesdd, relative to ||A||_2
  SvdError vectors;
  double rounding = 0;   ///< smallest number of T divided by the least norm: error of values near zero
  index_t matrices = 0;  ///< number of measured matrices
};

/// Measures at most `most` evenly spaced matrices of a batch: `a` is m x (n K), values min(m, n) x K, u and v hold the
/// vectors of all matrices side by side, or are null.
template <class T>
SvdBatchError svd_batch_error(const HostMatrix<T>& a, const HostMatrix<real_t<T>>& values, const HostMatrix<T>* u,
                              const HostMatrix<T>* v, index_t most);

/// Measured errors of principal components, X the centred and scaled table.
struct PcaError {
  double means = 0;          ///< of the means, relative to the root mean square of the column
  double residual = 0;       ///< max ||X^T X v - s^2 v||_2 over the loadings v, relative to ||X||_2^2
  double orthogonality = 0;  ///< ||I - V^T V||_F
  double scores = 0;         ///< ||X V - scores||_F / ||X||_F; 0 without scores
  double shares = 0;         ///< max |share - ||X v||^2 / ||X||_F^2|
};

/// Limits for a good result: of the orthogonality, and of all other errors.
struct PcaBounds {
  double value, orthogonality;
};
template <class T>
PcaBounds pca_bounds(index_t m, index_t n);

/// Measures the errors in double precision, in two passes over the table.
template <class T>
PcaError pca_error(const RowSource<T>& a, const Pca<T>& found);

}  // namespace tesela
