#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

// Symmetric Toeplitz matrices on the host, in double precision whatever T is, as commands and tests measure with. n is
// t's length; x and b are n x k in column-major memory without gaps.

/// b = (T - sigma I) x, rounded to T.
template <class T>
void toeplitz_product(index_t n, const T* t, double sigma, index_t k, const T* x, T* b);

/// max_j ||(T - sigma I) x(j) - b(j)||_2 / (norm ||x(j)||_2 + ||b(j)||_2), norm being toeplitz_norm_bound's estimate of
/// ||T - sigma I||_2. Its own error is about 1e-16. NaN where x is not finite; 0 / 0 counts as 0.
template <class T>
double toeplitz_residual(index_t n, const T* t, double sigma, index_t k, const T* x, const T* b);

}  // namespace tesela::kernels
