#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// Converts A = Q R, m x n, to the form of LAPACK's geqrf.
///
/// a        R in its upper triangle, on the host; becomes LAPACK's R and, below, the vectors of its reflectors.
/// q        the first min(m, n) columns of Q; its contents are lost.
/// tau      min(m, n) numbers.
template <class T>
void to_lapack_form(index_t m, index_t n, T* a, index_t lda, HostMatrix<T>& q, T* tau);

/// Returns the order of columns of a QR factorization with column pivoting, A P = Q R (LAPACK geqp3): element j is the
/// column of A that becomes column j. The diagonal of R does not grow, except by roundings.
///
/// A        m x n in host memory; overwritten.
/// Waits    for the graph.
/// Method   LAPACK pivots the columns of R of A = Q R, whose norms are A's. R comes from the tile QR if A is larger
///          than 256 in both directions and not wide.
template <class T>
std::vector<index_t> column_pivots(Runtime& runtime, HostMatrix<T>& A);

/// Factors A = Q R in LAPACK's form, by LAPACK (geqrf): R in the upper triangle, the Householder vectors below. Returns
/// their factors tau. qr() is faster, but stores Q in another form.
template <class T>
std::vector<T> qr_reflectors(Runtime& runtime, HostMatrix<T>& A);

/// Returns the singular values of A, m x n, descending; A is overwritten.
///
/// Waits    for the graph.
/// Throws   EnvironmentError if the iteration does not converge.
/// Method   LAPACK's gesvd for the triangle of the tile QR, or for A if it is wide or has fewer than 256 columns.
template <class T>
std::vector<real_t<T>> singular_values(Runtime& runtime, HostMatrix<T>& A);

}  // namespace tesela
