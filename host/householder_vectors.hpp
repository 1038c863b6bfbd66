#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::lapack {

/// Replaces Q (m x n with orthonormal columns, m >= n) by the reflectors of a QR factorization (LAPACK orhr_col,
/// unhr_col): V below the diagonal, with tau, n numbers. signs, n numbers: Q = Q' S for the Q' of the reflectors, S =
/// diag(signs), so S R belongs to Q'. The upper triangle is lost.
///
/// Method   Ballard, Demmel, Grigori, Jacquelin, Knight, Nguyen, "Reconstructing Householder vectors from tall-skinny
///          QR", J. Parallel Distrib. Comput. 85, 2015.
template <class T>
void householder_vectors(index_t m, index_t n, T* q, index_t ldq, T* tau, T* signs);

}  // namespace tesela::lapack
