#pragma once

#include "runtime/types.hpp"

#include <span>
#include <vector>

namespace tesela {

/// What is wrong with eigenpairs of a symmetric Toeplitz matrix; NaN where a number is not finite.
struct ToeplitzSpectrumError {
  double residual = 0;       ///< max ||T x - lambda x||_2 / norm
  double orthogonality = 0;  ///< max |X' X - I|
  double symmetry = 0;       ///< max ||J x -+ x||_2
};

/// Measured on all cores; t has n numbers, x is n x values.size() without gaps, symmetry +1 or -1 for each.
template <class T>
ToeplitzSpectrumError toeplitz_spectrum_error(index_t n, const T* t, std::span<const double> values,
                                              std::span<const signed char> symmetry, const T* x, double norm);

/// All eigenvalues by LAPACK (syevd) on all cores, in double precision; empty where it does not converge.
template <class T>
std::vector<double> toeplitz_dense_values(index_t n, const T* t);

/// ||T||_2 as far as is known: the largest eigenvalue found, or the root mean square of all, if that is more; 1 for T =
/// 0.
template <class T>
double toeplitz_norm_estimate(index_t n, const T* t, std::span<const double> found);

}  // namespace tesela
