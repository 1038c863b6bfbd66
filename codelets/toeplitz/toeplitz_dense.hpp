#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>

namespace tesela::kernels {

/// All eigenpairs of the symmetric Toeplitz matrix with first column t (n x 1) by LAPACK (syevd), of its symmetric and
/// its skew half one after the other (A. Cantoni, P. Butler, Linear Algebra Appl. 13, 1976): `values` (n x 3) <- the
/// eigenvalues, ascending, their residuals ||T x - lambda x||_2 and +1 or -1 for J x = x or J x = -x; `vectors` (n x n)
/// <- unit eigenvectors. NaN throughout where LAPACK does not converge.
template <class T>
struct ToeplitzDense {
  static constexpr auto name = "toeplitz_dense";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {};
  static void cpu(const Args& args, In<T> t, Out<T> vectors, Out<double> values);
};

/// The half of the symmetric Toeplitz matrix with first column t that acts on vectors with J x = x (part 0) or J x = -x
/// (part 1), as a dense matrix a of order cauchy_rows(n, part): t(|i - j|) +- t(n - 1 - i - j), the middle row and
/// column of an odd n scaled by sqrt(2), its corner t(0).
template <class T>
void toeplitz_half(index_t n, const T* t, int part, T* a, index_t lda);

}  // namespace tesela::kernels
