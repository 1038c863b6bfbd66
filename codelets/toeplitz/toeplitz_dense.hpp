#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>

namespace tesela::kernels {

// A symmetric Toeplitz matrix by LAPACK, as two dense matrices of half its order: one acts on vectors with J x = x, the
// other on those with J x = -x (A. Cantoni, P. Butler, Linear Algebra Appl. 13, 1976).

/// All eigenpairs of one half of the matrix with first column t (n x 1), by syevd: `pairs` (m x 2, m = cauchy_rows(n,
/// part)) <- the eigenvalues, ascending, and their residuals ||A x - lambda x||_2, measured; `vectors` (m x m) <- unit
/// eigenvectors of the half (toeplitz_unfold). `half` (m x m) is room for it. NaN in `pairs` where LAPACK does not
/// converge.
template <class T>
struct ToeplitzHalfPairs {
  static constexpr auto name = "toeplitz_half_pairs";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    int part = 0;
  };
  static void cpu(const Args& args, In<T> t, Out<T> half, Out<T> vectors, Out<double> pairs);
};

/// The eigenvalues only, by reduction to tridiagonal form (sytrd, sterf): `values` (m x 2) <- the eigenvalues,
/// ascending, and how far each is at most from an eigenvalue of the half that is its own, measured: what Q and the
/// tridiagonal matrix S leave of A - Q S Q^T and of I - Q Q^T, by products with random vectors (H. Weyl's theorem; a
/// 2-norm is at most 10 sqrt(2 / pi) times the largest product with k normal vectors but for one case in 10^k: N.
/// Halko, P. Martinsson, J. Tropp, SIAM Rev. 53, 2011, Lemma 4.1), and by Sturm counts of S. NaN where LAPACK does not
/// converge.
template <class T>
struct ToeplitzHalfValues {
  static constexpr auto name = "toeplitz_half_values";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    int part = 0;
  };
  static void cpu(const Args& args, In<T> t, Out<T> half, Out<double> values);
};

/// The half of the symmetric Toeplitz matrix with first column t that acts on vectors with J x = x (part 0) or J x = -x
/// (part 1), as a dense matrix a of order cauchy_rows(n, part): t(|i - j|) +- t(n - 1 - i - j), the middle row and
/// column of an odd n scaled by sqrt(2), its corner t(0).
template <class T>
void toeplitz_half(index_t n, const T* t, int part, T* a, index_t lda);

/// x (n numbers) <- the whole matrix' eigenvector that `half`, a half's, stands for.
template <class T>
void toeplitz_unfold(index_t n, int part, const T* half, T* x);

}  // namespace tesela::kernels
