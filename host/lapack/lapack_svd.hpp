#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <cstdint>

namespace tesela::lapack {

// LAPACK's singular value decompositions in host memory. T is float or double; gesdd accepts their std::complex, too.

/// Singular vectors that LAPACK computes.
enum class SingularVectors : std::uint8_t {
  none,      ///< values alone
  economic,  ///< min(m, n) of each side
  all        ///< square U and V
};

/// Computes A = U diag(s) V^H by divide and conquer (LAPACK gesdd).
///
/// A        m x n; overwritten.
/// s        min(m, n) values, descending.
/// u, vt    m x k and k' x n: k = k' = min(m, n), or all m and n; not read without vectors.
/// Returns  LAPACK's info: positive if the iteration did not converge.
template <class T>
int gesdd(SingularVectors vectors, index_t m, index_t n, T* a, index_t lda, real_t<T>* s, T* u, index_t ldu, T* vt,
          index_t ldvt);

/// Computes B = U diag(d) V^T for an upper bidiagonal B of order n by divide and conquer (LAPACK bdsdc).
///
/// d, e     diagonal (n) and super-diagonal (n - 1); d becomes the values, descending, and e is overwritten. Values
///          have errors of a few eps times the largest one.
/// u, vt    n x n.
/// Returns  LAPACK's info: positive if a value did not converge.
template <class T>
int bdsdc(index_t n, T* d, T* e, T* u, index_t ldu, T* vt, index_t ldvt);

/// Computes the singular values of the same B by the dqds algorithm (LAPACK lasq1), each to nearly full relative
/// accuracy.
///
/// d, e     as in bdsdc; both are overwritten, d by the values, descending.
/// Returns  LAPACK's info: positive if a value did not converge.
template <class T>
int lasq1(index_t n, T* d, T* e);

/// Computes B = U diag(d) V^T for an upper bidiagonal B with n rows, and n + 1 columns if `extra`, by divide and
/// conquer (LAPACK lasd0), whose smallest problems have 25 rows.
///
/// d, e     diagonal (n) and super-diagonal (n - 1, or n if `extra`); d becomes the values, in any order, and e is
///          overwritten.
/// u, vt    identities of order n, and n or n + 1: replaced by U and V^T.
/// Returns  LAPACK's info: positive if a value did not converge.
template <class T>
int lasd0(bool extra, index_t n, T* d, T* e, T* u, index_t ldu, T* vt, index_t ldvt);

}  // namespace tesela::lapack
