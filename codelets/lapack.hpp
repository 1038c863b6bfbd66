#pragma once

#include "runtime/types.hpp"

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

}  // namespace tesela::lapack
