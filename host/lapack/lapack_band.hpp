#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

namespace tesela::lapack {

// LAPACK on band matrices in host memory. T is float, double or a complex type.

/// Factors P A = L U in place (LAPACK gbtrf), A n x n with kl diagonals below and ku above the main one.
///
/// ab       element (i, j) of A in row kl + ku + i - j of column j; the first kl rows receive fill.
/// swaps    row i was exchanged with row swaps[i], counted from 1 (n of them).
/// Returns  LAPACK's info: k if pivot k is zero.
template <class T>
int gbtrf(index_t n, index_t kl, index_t ku, T* ab, index_t ldab, int* swaps);

/// Solves B = op(A)^-1 B from the result of gbtrf; B is n x r.
template <class T>
void gbtrs(Op op, index_t n, index_t kl, index_t ku, index_t r, const T* ab, index_t ldab, const int* swaps, T* b,
           index_t ldb);

/// Returns an estimate of the reciprocal of A's 1-norm condition number, from the result of gbtrf and ||A||_1.
template <class T>
double gbcon(index_t n, index_t kl, index_t ku, const T* ab, index_t ldab, const int* swaps, real_t<T> norm);

/// Factors A = R^H R in place (LAPACK pbtrf), A symmetric or Hermitian positive definite with kd diagonals above the
/// main one.
///
/// ab       element (i, j) of the upper triangle in row kd + i - j of column j.
/// Returns  LAPACK's info: k if the leading minor of order k is not positive.
template <class T>
int pbtrf(index_t n, index_t kd, T* ab, index_t ldab);

/// Solves B = A^-1 B from the result of pbtrf; B is n x r.
template <class T>
void pbtrs(index_t n, index_t kd, index_t r, const T* ab, index_t ldab, T* b, index_t ldb);

/// Returns an estimate of the reciprocal of A's 1-norm condition number, from the result of pbtrf and ||A||_1.
template <class T>
double pbcon(index_t n, index_t kd, const T* ab, index_t ldab, real_t<T> norm);

}  // namespace tesela::lapack
