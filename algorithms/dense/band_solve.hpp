#pragma once

#include <tesela/algorithms/dense/direct_solve.hpp>
#include <tesela/tiles/host_matrix.hpp>

namespace tesela {

/// Solves A X = B for a band matrix of real or complex numbers, on the calling thread (LAPACK gbtrf, gbtrs, gbcon).
///
/// kl, ku   number of diagonals below and above the main one.
/// ab       2 kl + ku + 1 x n: element (i, j) of A in row kl + ku + i - j of column j; the first kl rows are not read.
/// B        n x r; overwritten by X.
/// Returns  status and an estimate of the 1-norm condition after rows and columns are divided by powers of two:
///          `doubtful` above 0.01 / eps, or if an equation keeps a relative residual above 1e4 eps after refinement;
///          `singular` above 1 / eps. X does not exist with `zero_pivot` and `not_finite`.
/// Throws   ArgumentError if shapes do not conform.
template <class T>
DirectSolve band_solve(index_t kl, index_t ku, HostMatrix<T>& ab, HostMatrix<T>& B);

/// Factors A = R^H R for a symmetric or Hermitian positive definite band matrix, on the calling thread (LAPACK pbtrf).
///
/// ab       kd + 1 x n: element (i, j) of the upper triangle in row kd + i - j of column j; overwritten by R.
/// Returns  the order of the first leading minor that is not positive; 0 if there is none.
template <class T>
index_t band_cholesky(HostMatrix<T>& ab);

/// Solves B = A^-1 B from R of band_cholesky, on the calling thread (LAPACK pbtrs).
template <class T>
void band_cholesky_apply(const HostMatrix<T>& r, HostMatrix<T>& B);

/// Solves A X = B by band_cholesky; B is overwritten by X. Returns the status as band_solve, or `not_positive`.
template <class T>
DirectSolve band_cholesky_solve(HostMatrix<T>& ab, HostMatrix<T>& B);

}  // namespace tesela
