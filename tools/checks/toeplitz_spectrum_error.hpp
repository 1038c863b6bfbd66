#pragma once

#include <tesela/runtime/types.hpp>

#include <span>
#include <vector>

namespace tesela {

/// Errors of eigenpairs of a symmetric Toeplitz matrix; NaN if a number is not finite.
struct ToeplitzSpectrumError {
  double residual = 0;       ///< max ||T x - lambda x||_2 / norm
  double orthogonality = 0;  ///< max |X' X - I|
  double symmetry = 0;       ///< max ||J x -+ x||_2
};

/// Measures the errors on all cores, for T times a power of two; t has n numbers, x is n x values.size() without gaps,
/// symmetry is +1 or -1 for each.
template <class T>
ToeplitzSpectrumError toeplitz_spectrum_error(index_t n, const T* t, std::span<const double> values,
                                              std::span<const signed char> symmetry, const T* x, double norm);

/// Returns all eigenvalues by LAPACK's syevd on all cores in double precision; empty if it does not converge.
template <class T>
std::vector<double> toeplitz_dense_values(index_t n, const T* t);

/// Errors of the eigenvalues in [low, high), relative to LAPACK's of the whole matrix.
struct ToeplitzValuesError {
  double error = 0;        ///< max |values(i) - lambda(first + i)| / ||T||_2; NaN if one is not finite
  index_t miscounted = 0;  ///< number of missing or surplus values, if eigenvalues at most `near` below an end count as
                           ///< equal to it
};

/// `first`: number of eigenvalues below values(0). If some are `missing`, each is compared with the nearest eigenvalue,
/// and the values are not counted.
template <class T>
ToeplitzValuesError toeplitz_values_error(index_t n, const T* t, std::span<const double> values, index_t first,
                                          bool missing, double low, double high, double near);

/// Returns an estimate of ||T||_2: the largest eigenvalue found, or the root mean square of all if that is larger; 1
/// for T = 0.
template <class T>
double toeplitz_norm_estimate(index_t n, const T* t, std::span<const double> found);

}  // namespace tesela
