#pragma once

#include <tesela/runtime/types.hpp>

#include <span>
#include <vector>

namespace tesela {

/// What is wrong with eigenpairs of a symmetric Toeplitz matrix; NaN where a number is not finite.
struct ToeplitzSpectrumError {
  double residual = 0;       ///< max ||T x - lambda x||_2 / norm
  double orthogonality = 0;  ///< max |X' X - I|
  double symmetry = 0;       ///< max ||J x -+ x||_2
};

/// Measured on all cores, of T times a power of two; t has n numbers, x is n x values.size() without gaps, symmetry +1
/// or -1 for each.
template <class T>
ToeplitzSpectrumError toeplitz_spectrum_error(index_t n, const T* t, std::span<const double> values,
                                              std::span<const signed char> symmetry, const T* x, double norm);

/// All eigenvalues by LAPACK (syevd) on all cores, in double precision; empty where it does not converge.
template <class T>
std::vector<double> toeplitz_dense_values(index_t n, const T* t);

/// Eigenvalues that should be those in [low, high), beside LAPACK's of the whole matrix.
struct ToeplitzValuesError {
  double error = 0;        ///< max |values(i) - lambda(first + i)| / ||T||_2; NaN where one is not finite
  index_t miscounted = 0;  ///< how many too few or too many there are: what is `near` an end counts as equal to it,
                           ///< what is less than 1030 times that below an end may be on either side
};

/// `first`: how many eigenvalues are below values(0). Where some are `missing`, each is compared with the nearest one,
/// and they are not counted.
template <class T>
ToeplitzValuesError toeplitz_values_error(index_t n, const T* t, std::span<const double> values, index_t first,
                                          bool missing, double low, double high, double near);

/// ||T||_2 as far as is known: the largest eigenvalue found, or the root mean square of all, if that is more; 1 for T =
/// 0.
template <class T>
double toeplitz_norm_estimate(index_t n, const T* t, std::span<const double> found);

}  // namespace tesela
