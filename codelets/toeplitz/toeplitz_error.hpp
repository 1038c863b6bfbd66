#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

// Symmetric Toeplitz matrices on the host, in double precision for every T, for the measurements of commands and tests.
// n is t's length; x and b are n x k in column-major memory without gaps.

/// Computes b = (T - sigma I) x, rounded to T.
template <class T>
void toeplitz_product(index_t n, const T* t, double sigma, index_t k, const T* x, T* b);

/// Returns max_j ||(T - sigma I) x(j) - b(j)||_2 / (norm ||x(j)||_2 + ||b(j)||_2), where norm is toeplitz_norm_bound's
/// estimate of ||T - sigma I||_2. Its own error is about 1e-16. NaN if x is not finite; 0 / 0 counts as 0.
template <class T>
double toeplitz_residual(index_t n, const T* t, double sigma, index_t k, const T* x, const T* b);

}  // namespace tesela::kernels
