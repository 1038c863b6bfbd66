#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Numbers of rows of eliminate() are multiples of this: pad with zeros.
inline constexpr index_t eliminate_rows = 16;
/// Most columns that eliminate() accepts: beyond about this number blocked updates by gemm are faster.
inline constexpr index_t eliminate_cols = 192;

/// Replaces R by the triangular factor of [R; A] by Householder reflectors, whose vectors overwrite A.
///
/// R is n x n with leading dimension n, and only its upper triangle takes part. A is rows x n with leading dimension
/// `rows`, 64-byte aligned. The caller scales: no square may overflow. A column of A whose squares underflow counts as
/// zero.
void eliminate(float* r, float* a, index_t rows, index_t n);
void eliminate(double* r, double* a, index_t rows, index_t n);

/// Computes to = scale x for `rows` numbers (`to` is 64-byte aligned), fills up to `padded` (a multiple of
/// eliminate_rows) with zeros, and returns the largest modulus of x. NaN is copied but ignored in the maximum.
float copy_and_max(const float* x, index_t rows, index_t padded, float scale, float* to);
double copy_and_max(const double* x, index_t rows, index_t padded, double scale, double* to);

}  // namespace tesela::kernels
