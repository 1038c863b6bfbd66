#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Rows that eliminate() takes are multiples of this: pad with zeros.
inline constexpr index_t eliminate_rows = 16;
/// The most columns that eliminate() takes: about where blocked updates by gemm begin to pay.
inline constexpr index_t eliminate_cols = 192;

/// R becomes the triangular factor of [R; A]: Householder reflectors whose vectors overwrite A. R is n x n with leading
/// dimension n, its upper triangle alone takes part; A is rows x n with leading dimension `rows`, 64-byte aligned. The
/// caller scales: no square may overflow. A column of A whose squares underflow is taken for zero.
void eliminate(float* r, float* a, index_t rows, index_t n);
void eliminate(double* r, double* a, index_t rows, index_t n);

/// to = scale x for `rows` numbers (`to` is 64-byte aligned), fills up to `padded` (a multiple of eliminate_rows) with
/// zeros, and returns the largest modulus of x; NaN is copied and does not count.
float copy_and_max(const float* x, index_t rows, index_t padded, float scale, float* to);
double copy_and_max(const double* x, index_t rows, index_t padded, double scale, double* to);

}  // namespace tesela::kernels
