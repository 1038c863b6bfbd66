#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

// Toeplitz matrices on the host, in double precision for every T, for the measurements of commands and tests. n is the
// length of t, the first column of a symmetric or Hermitian matrix, or of the first column c and the first row r of any
// other one (r(0) is not read); x and b are n x k in column-major memory without gaps.

/// Computes b = (T - sigma I) x, rounded to T.
template <class T>
void toeplitz_product(index_t n, const T* t, double sigma, index_t k, const T* x, T* b);
template <class T>
void toeplitz_product(index_t n, const T* c, const T* r, double sigma, index_t k, const T* x, T* b);

/// Returns max_j ||(T - sigma I) x(j) - b(j)||_2 / (norm ||x(j)||_2 + ||b(j)||_2), where norm is the estimate of
/// ||T - sigma I||_2 by toeplitz_norm_bound (real, symmetric) or general_toeplitz_norm_bound. Its own error is about
/// 1e-16. NaN if x is not finite; 0 / 0 counts as 0.
template <class T>
double toeplitz_residual(index_t n, const T* t, double sigma, index_t k, const T* x, const T* b);
template <class T>
double toeplitz_residual(index_t n, const T* c, const T* r, double sigma, index_t k, const T* x, const T* b);

}  // namespace tesela::kernels
