#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>

namespace tesela::kernels {

// A symmetric Toeplitz matrix by LAPACK, as two dense matrices of half its order: one acts on vectors with J x = x, the
// other on vectors with J x = -x (A. Cantoni, P. Butler, Linear Algebra Appl. 13, 1976).

/// Computes all eigenpairs of one half of the matrix with first column t (n x 1), by syevd.
///
/// pairs    m x 2, m = cauchy_rows(n, part): the eigenvalues, ascending, and their measured residuals ||A x - lambda
///          x||_2; NaN if LAPACK does not converge.
/// vectors  m x m: unit eigenvectors of the half (toeplitz_expand).
/// half     m x m, work space.
template <class T>
struct ToeplitzHalfPairs {
  static constexpr auto name = "toeplitz_half_pairs";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    int part = 0;  ///< half: 0 symmetric, 1 skew
  };
  static void cpu(const Args& args, In<T> t, Out<T> half, Out<T> vectors, Out<double> pairs);
};

/// Computes only the eigenvalues, by reduction to tridiagonal form (sytrd, sterf).
///
/// values   m x 2: the eigenvalues, ascending, and a measured bound of each one's distance from its eigenvalue of the
///          half; NaN if LAPACK does not converge.
/// Method   The bound comes from A - Q S Q^T and I - Q Q^T for the computed Q and the tridiagonal S, by products with
///          random vectors and H. Weyl's theorem, and from Sturm counts of S. A 2-norm is at most 10 sqrt(2 / pi) times
///          the largest product with k normal vectors, except in one case in 10^k (N. Halko, P. Martinsson, J. Tropp,
///          SIAM Rev. 53, 2011, Lemma 4.1).
template <class T>
struct ToeplitzHalfValues {
  static constexpr auto name = "toeplitz_half_values";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    int part = 0;  ///< half: 0 symmetric, 1 skew
  };
  static void cpu(const Args& args, In<T> t, Out<T> half, Out<double> values);
};

/// Forms one half of the symmetric Toeplitz matrix with first column t as a dense matrix.
///
/// part     0: the half that acts on vectors with J x = x, 1: with J x = -x.
/// a        of order cauchy_rows(n, part): t(|i - j|) +- t(n - 1 - i - j), the middle row and column of an odd n scaled
///          by sqrt(2), its corner t(0).
template <class T>
void toeplitz_half(index_t n, const T* t, int part, T* a, index_t lda);

/// Expands `half`, an eigenvector of a half, to x (n numbers), an eigenvector of the whole matrix.
template <class T>
void toeplitz_expand(index_t n, int part, const T* half, T* x);

}  // namespace tesela::kernels
