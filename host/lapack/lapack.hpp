#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <vector>

namespace tesela::lapack {

// LAPACK on matrices in host memory, column-major, for peers and references; blas::Threads determines the number of
// cores. Sizes beyond its 31 bits throw ArgumentError, and each call allocates its workspace. T is float or double;
// geqrf, ormqr (unmqr), orgqr (ungqr), gels, gelsd, gesvd, posv, gesv, gtsv, syevd (heevd), sygvd (hegvd), sytrd
// (hetrd), geqp3, tzrzf, ormrz (unmrz), trcon, getrf, gecon, potrf, pstrf, gglse, ggglm, ggqrf and ormrq (unmrq) accept
// their std::complex, too.

/// Factors A = Q R in place: R in the upper triangle, the Householder vectors below, their factors in tau (min(m, n)).
template <class T>
void geqrf(index_t m, index_t n, T* a, index_t lda, T* tau);

/// Computes C = op(Q) C, C m x n, with the Q of the first k vectors of a geqrf; op is none or adjoint<T>.
template <class T>
void ormqr(Op op, index_t m, index_t n, index_t k, const T* a, index_t lda, const T* tau, T* c, index_t ldc);

/// Overwrites the k vectors of a geqrf, A m x k, by the first k columns of Q.
template <class T>
void orgqr(index_t m, index_t k, T* a, index_t lda, const T* tau);

/// Returns the singular values of A, descending; A is overwritten. Throws EnvironmentError if the iteration does not
/// converge.
template <class T>
std::vector<real_t<T>> gesvd(index_t m, index_t n, T* a, index_t lda);

/// Solves min ||A x - b||_2 for each column of B; for m < n the solution of least norm. A (m x n, of full rank) is
/// overwritten. B has max(m, n) rows, and its first n become X. Returns LAPACK's info: k if R(k, k) is zero.
template <class T>
int gels(index_t m, index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb);

/// Results of gelsd other than X.
template <class T>
struct Gelsd {
  int info = 0;                            ///< LAPACK's info: positive if the singular values did not converge
  index_t rank = 0;                        ///< number of singular values above the threshold
  std::vector<real_t<T>> singular_values;  ///< of the given A, descending
};

/// Solves the same for any rank, by the singular values of A: values up to rcond times the largest count as zero.
template <class T>
Gelsd<T> gelsd(index_t m, index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb, double rcond);

/// Solves B = A^-1 B for a symmetric positive definite A, n x n, by Cholesky's factorization.
///
/// A        only the lower triangle is read; overwritten.
/// Returns  LAPACK's info: k if the leading minor of order k is not positive; B is unchanged then.
template <class T>
int posv(index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb);

/// Solves B = A^-1 B for any A, n x n, by elimination with partial pivoting; A is overwritten. Returns LAPACK's info: k
/// if pivot k is zero; B is unchanged then.
template <class T>
int gesv(index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb);

/// Solves B = A^-1 B for a tridiagonal A, n x n, with partial pivoting: dl (n - 1), d (n) and du (n - 1) are
/// overwritten. Returns LAPACK's info: k if the pivot of row k is zero.
template <class T>
int gtsv(index_t n, index_t r, T* dl, T* d, T* du, T* b, index_t ldb);

/// Computes all eigenvalues, ascending in d, and unit eigenvectors, in z (n x n), of the symmetric tridiagonal matrix
/// with diagonal d and off-diagonals e (n long; overwritten). Returns LAPACK's info.
int stemr(index_t n, double* d, double* e, double* z, index_t ldz);

/// Computes all eigenvalues w, ascending, of the symmetric or Hermitian matrix whose upper triangle is A's, n x n, and
/// its unit eigenvectors in A; with vectors = false only the eigenvalues, and A is overwritten. Returns LAPACK's info.
template <class T>
int syevd(index_t n, T* a, index_t lda, real_t<T>* w, bool vectors = true);

/// Factors P A = L U in place with partial pivoting, A m x n: U on and above the diagonal, L below. Row i was exchanged
/// with row swaps[i], counted from 1 (min(m, n) of them). Returns LAPACK's info: k if pivot k is zero.
template <class T>
int getrf(index_t m, index_t n, T* a, index_t lda, int* swaps);

/// Solves B = A^-1 B from the result of getrf for A, n x n.
void getrs(index_t n, index_t r, const double* factors, index_t lda, const int* swaps, double* b, index_t ldb);

/// Returns an estimate of the reciprocal of A's 1-norm condition number, from the result of getrf for A, n x n, and
/// ||A||_1.
template <class T>
double gecon(index_t n, const T* factors, index_t lda, real_t<T> norm);

/// Factors P^T A P = R^H R in place with diagonal pivoting, for a Hermitian positive semidefinite matrix.
///
/// A        n x n, the upper triangle of the matrix.
/// pivots   pivots[j], counted from 0, is the row of A that became row j.
/// Returns  the rank, the number of computed rows of R, after which no pivot exceeds `tolerance`.
template <class T>
index_t pstrf(index_t n, T* a, index_t lda, std::vector<index_t>& pivots, real_t<T> tolerance);

/// Factors A = R^H R for the Hermitian matrix whose upper triangle is A's, n x n; R overwrites that triangle. The
/// diagonal's imaginary parts are not read. Returns LAPACK's info: k if the leading minor of order k is not positive.
template <class T>
int potrf(index_t n, T* a, index_t lda);

/// Solves A x = lambda B x (kind 1), A B x = lambda x (2) or B A x = lambda x (3), in the manner of syevd
/// (LAPACK hegvd for Hermitian matrices).
///
/// A, B     their upper triangles; both are overwritten. X^H B X = I (1, 2) or X^H B^-1 X = I (3).
/// Returns  LAPACK's info: n + k if the leading minor of B of order k is not positive.
template <class T>
int sygvd(int kind, index_t n, T* a, index_t lda, T* b, index_t ldb, real_t<T>* w, bool vectors = true);

/// Reduces the symmetric or Hermitian matrix whose lower triangle is A's, n x n, to a real tridiagonal T in place:
/// A = Q T Q^H.
///
/// A        becomes the Householder vectors of Q, below T.
/// d, e     diagonal (n) and off-diagonals (n - 1) of T.
/// tau      n - 1 factors of the Householder vectors.
template <class T>
void sytrd(index_t n, T* a, index_t lda, real_t<T>* d, real_t<T>* e, T* tau);

/// Computes C = op(Q) C, C n x k, with the Q of a sytrd.
template <class T>
void ormtr(Op op, index_t n, index_t k, const T* a, index_t lda, const T* tau, T* c, index_t ldc);

/// Computes all eigenvalues, ascending in d, of the symmetric tridiagonal matrix with diagonal d (n) and off-diagonals
/// e (n - 1; overwritten). Returns LAPACK's info.
int sterf(index_t n, double* d, double* e);

/// Computes all eigenvalues, ascending in d, and unit eigenvectors Z (n x n) of the symmetric tridiagonal matrix with
/// diagonal d and off-diagonals e (n - 1; overwritten), by divide and conquer. Returns LAPACK's info.
template <class T>
int stedc(index_t n, T* d, T* e, T* z, index_t ldz);

/// Returns an estimate of the reciprocal of the 1-norm condition number of the n x n upper triangle.
template <class T>
double trcon(index_t n, const T* r, index_t ldr);

/// Factors A P = Q R in place with column pivoting. pivots[j], counted from 0, is the column of A that became column j.
template <class T>
void geqp3(index_t m, index_t n, T* a, index_t lda, std::vector<index_t>& pivots, T* tau);

/// Reduces the m x n upper trapezoid, m <= n, in place: A = [R 0] Z, with the factors of Z in tau (m).
template <class T>
void tzrzf(index_t m, index_t n, T* a, index_t lda, T* tau);

/// Computes C = Z^H C, C n x r, with the Z of a tzrzf of an m x n trapezoid.
template <class T>
void ormrz(index_t m, index_t n, index_t r, const T* a, index_t lda, const T* tau, T* c, index_t ldc);

/// Solves min ||u||_2 with d = A x + B u, for A, m x n, and B, m x p, n <= m <= n + p; all three are overwritten. x has
/// n numbers, u has p. Returns LAPACK's info: positive if a diagonal element is exactly zero.
template <class T>
int ggglm(index_t m, index_t n, index_t p, T* a, index_t lda, T* b, index_t ldb, T* d, T* x, T* u);

/// Solves min ||A x - c||_2 with B x = d, for A, m x n, and B, p x n, p <= n <= m + p, of full rank; all four are
/// overwritten. x has n numbers. Returns LAPACK's info: positive if a diagonal element is exactly zero.
template <class T>
int gglse(index_t m, index_t n, index_t p, T* a, index_t lda, T* b, index_t ldb, T* c, T* d, T* x);

/// Factors A = Q R in place with complex elements, m >= n: R in the upper triangle, V below, and T, n x n upper
/// triangular, of Q = I - V T V^H.
template <class T>
void geqrt2(index_t m, index_t n, T* a, index_t lda, T* t, index_t ldt);

/// Factors [R; B] = Q [R'; 0] in place with complex elements, R n x n upper triangular and B m x n, whose last l rows
/// are an upper trapezoid: B becomes V, and T, n x n upper triangular, belongs to Q = I - [I; V] T [I; V]^H.
template <class T>
void tpqrt2(index_t m, index_t n, index_t l, T* r, index_t ldr, T* b, index_t ldb, T* t, index_t ldt);

/// Factors A = Q [R; 0] and B = Q S V^H in place, A m x n and B m x p: R and S in upper trapezoids, the vectors of Q
/// below R and of V^H left of S, their factors in tau_a (min(m, n)) and tau_b (min(m, p)).
template <class T>
void ggqrf(index_t m, index_t n, index_t p, T* a, index_t lda, T* tau_a, T* b, index_t ldb, T* tau_b);

/// Computes C = op(Q) C, C m x n, with the Q of the k vectors in the k rows of A that an RQ factorization computed.
template <class T>
void ormrq(Op op, index_t m, index_t n, index_t k, const T* a, index_t lda, const T* tau, T* c, index_t ldc);

}  // namespace tesela::lapack
