#pragma once

#include <tesela/runtime/types.hpp>

#include <vector>

namespace tesela::lapack {

// LAPACK on matrices in host memory, column-major, as peers and references call it; blas::Threads says on how many
// cores. Sizes beyond its 31 bits throw ArgumentError, and workspaces come and go with each call. T is float or double.

/// A = Q R in place: R in the upper triangle, the Householder vectors below, their factors in tau (min(m, n)).
template <class T>
void geqrf(index_t m, index_t n, T* a, index_t lda, T* tau);

/// C = op(Q) C, C m x n, with the Q of the first k vectors of a geqrf.
template <class T>
void ormqr(Op op, index_t m, index_t n, index_t k, const T* a, index_t lda, const T* tau, T* c, index_t ldc);

/// The singular values of A, descending; A is lost. Throws EnvironmentError when the iteration does not converge.
template <class T>
std::vector<T> gesvd(index_t m, index_t n, T* a, index_t lda);

/// min ||A x - b||_2 for each column of B, or for m < n the solution of least norm. A (m x n, of full rank) is lost, B
/// has max(m, n) rows and becomes X in its first n. Answers LAPACK's info: k when R(k, k) is zero.
template <class T>
int gels(index_t m, index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb);

/// What gelsd found besides X.
template <class T>
struct Gelsd {
  int info = 0;  ///< LAPACK's: positive where the singular values did not converge
  index_t rank = 0;
  std::vector<T> singular_values;  ///< of A as it is, descending
};

/// The same for any rank, by the singular values of A: those up to rcond times the largest count as zero.
template <class T>
Gelsd<T> gelsd(index_t m, index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb, double rcond);

/// B = A^-1 B for a symmetric positive definite A, n x n, by Cholesky's factorization; A, of which the lower triangle
/// is read, is lost. Answers LAPACK's info: k when the leading minor of order k is not positive, and B is unchanged
/// then.
template <class T>
int posv(index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb);

/// B = A^-1 B for any A, n x n, by elimination with partial pivoting; A is lost. Answers LAPACK's info: k when pivot k
/// is zero, and B is unchanged then.
template <class T>
int gesv(index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb);

/// B = A^-1 B for a tridiagonal A, n x n, with partial pivoting: dl (n - 1), d (n) and du (n - 1) are lost. Answers
/// LAPACK's info: k when the pivot of row k is zero.
template <class T>
int gtsv(index_t n, index_t r, T* dl, T* d, T* du, T* b, index_t ldb);

/// All eigenvalues, ascending in d, and unit eigenvectors, in z (n x n), of the symmetric tridiagonal matrix with
/// diagonal d and off-diagonals e (n long; lost). Answers LAPACK's info.
int stemr(index_t n, double* d, double* e, double* z, index_t ldz);

/// All eigenvalues w, ascending, of the symmetric matrix whose upper triangle is A's, n x n, and its unit eigenvectors
/// in A, or with vectors = false the eigenvalues only; A is lost then. Answers LAPACK's info.
template <class T>
int syevd(index_t n, T* a, index_t lda, T* w, bool vectors = true);

/// P A = L U in place with partial pivoting, A m x n: U on and above the diagonal, L below. Row i was exchanged with
/// row swaps[i], counted from 1 (min(m, n) of them). Answers LAPACK's info: k when pivot k is zero.
template <class T>
int getrf(index_t m, index_t n, T* a, index_t lda, int* swaps);

/// B = A^-1 B from what getrf left of A, n x n.
void getrs(index_t n, index_t r, const double* factors, index_t lda, const int* swaps, double* b, index_t ldb);

/// The reciprocal of A's 1-norm condition number, estimated from what getrf left of A, n x n, and ||A||_1.
template <class T>
double gecon(index_t n, const T* factors, index_t lda, T norm);

/// P^T A P = R^T R in place with diagonal pivoting for the symmetric positive semidefinite matrix whose upper triangle
/// is A's, n x n: the first rows of R, as many as the rank that is answered, at which no pivot is above `tolerance`.
/// pivots[j], counted from 0, is the row of A that became row j.
template <class T>
index_t pstrf(index_t n, T* a, index_t lda, std::vector<index_t>& pivots, T tolerance);

/// A = R^T R for the symmetric matrix whose upper triangle is A's, n x n; R takes that triangle. Answers LAPACK's info:
/// k when the leading minor of order k is not positive.
template <class T>
int potrf(index_t n, T* a, index_t lda);

/// As syevd for A x = lambda B x (kind 1), A B x = lambda x (2) or B A x = lambda x (3), by the upper triangles of A
/// and B; X^T B X = I (1, 2) or X^T B^-1 X = I (3). B is lost as well. Answers LAPACK's info: n + k when the leading
/// minor of B of order k is not positive.
template <class T>
int sygvd(int kind, index_t n, T* a, index_t lda, T* b, index_t ldb, T* w, bool vectors = true);

/// A = Q T Q^T in place for the symmetric matrix whose lower triangle is A's, n x n: T, tridiagonal, with diagonal d
/// (n) and off-diagonals e (n - 1), and the Householder vectors of Q below them, their factors in tau (n - 1).
template <class T>
void sytrd(index_t n, T* a, index_t lda, T* d, T* e, T* tau);

/// C = op(Q) C, C n x k, with the Q of a sytrd.
template <class T>
void ormtr(Op op, index_t n, index_t k, const T* a, index_t lda, const T* tau, T* c, index_t ldc);

/// All eigenvalues, ascending in d, of the symmetric tridiagonal matrix with diagonal d (n) and off-diagonals e (n - 1;
/// lost). Answers LAPACK's info.
int sterf(index_t n, double* d, double* e);

/// All eigenvalues, ascending in d, and unit eigenvectors Z (n x n) of the symmetric tridiagonal matrix with diagonal d
/// and off-diagonals e (n - 1; lost), by divide and conquer. Answers LAPACK's info.
template <class T>
int stedc(index_t n, T* d, T* e, T* z, index_t ldz);

/// The reciprocal of the 1-norm condition number of the n x n upper triangle, estimated.
template <class T>
double trcon(index_t n, const T* r, index_t ldr);

/// A P = Q R in place with column pivoting. pivots[j], counted from 0, is the column of A that became column j.
template <class T>
void geqp3(index_t m, index_t n, T* a, index_t lda, std::vector<index_t>& pivots, T* tau);

/// The m x n upper trapezoid, m <= n: A = [R 0] Z in place, with the factors of Z in tau (m).
template <class T>
void tzrzf(index_t m, index_t n, T* a, index_t lda, T* tau);

/// C = Z^T C, C n x r, with the Z of a tzrzf of an m x n trapezoid.
template <class T>
void ormrz(index_t m, index_t n, index_t r, const T* a, index_t lda, const T* tau, T* c, index_t ldc);

/// min ||u||_2 with d = A x + B u, for A, m x n, and B, m x p, n <= m <= n + p; all three are lost. x has n numbers, u
/// p. Answers LAPACK's info: positive where a diagonal element is exactly zero.
template <class T>
int ggglm(index_t m, index_t n, index_t p, T* a, index_t lda, T* b, index_t ldb, T* d, T* x, T* u);

/// min ||A x - c||_2 with B x = d, for A, m x n, and B, p x n, p <= n <= m + p, of full rank; all four are lost. x has
/// n numbers. Answers LAPACK's info: positive where a diagonal element is exactly zero.
template <class T>
int gglse(index_t m, index_t n, index_t p, T* a, index_t lda, T* b, index_t ldb, T* c, T* d, T* x);

/// A = Q [R; 0] and B = Q S V^T in place, A m x n and B m x p: R and S in upper trapezoids, the vectors of Q below and
/// those of V^T left of them, their factors in tau_a (min(m, n)) and tau_b (min(m, p)).
template <class T>
void ggqrf(index_t m, index_t n, index_t p, T* a, index_t lda, T* tau_a, T* b, index_t ldb, T* tau_b);

/// C = op(Q) C, C m x n, with the Q of the k vectors in the k rows of A that an RQ factorization left.
template <class T>
void ormrq(Op op, index_t m, index_t n, index_t k, const T* a, index_t lda, const T* tau, T* c, index_t ldc);

}  // namespace tesela::lapack
