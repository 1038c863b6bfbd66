#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/runtime/cuda_context.hpp>

namespace tesela::kernels::equation {

// Facts of equations on a GPU, from L = R^T and Y = R^-1: several equations of one order together. Only for CUDA
// variants.

/// `count` lower triangles L and upper triangles Y, each n x n, one after the other. Vectors have n elements for each.
/// The part above L's diagonal is arbitrary.
struct Lowers {
  index_t n, count;
  double *l, *y;
  index_t size() const { return n * n; }
};

/// Facts of the equations: four columns of `data` for each.
struct DeviceFacts {
  double* data;
  index_t ld;
};

/// Computes Y, with zeros below its diagonal.
void invert(const CudaContext& context, const Lowers& m);

/// Computes to = Y^T v.
void transposed_times(const CudaContext& context, const Lowers& m, const double* v, double* to);

/// Solves x_i <- R_i^-1 x_i by substitution for `count` upper triangles of order n: element (i, j) of the k-th is r[i
/// down + j right + k next]; its x begins at x + k next_x.
void solve_upper(const CudaContext& context, index_t n, index_t count, const double* r, index_t down, index_t right,
                 index_t next, double* x, index_t next_x);

/// Computes facts(:, 0) <- R^-1 v, n elements of v for each, `next_v` elements apart.
void solve(const CudaContext& context, const Lowers& m, const double* v, index_t next_v, const DeviceFacts& facts);

/// Computes facts(:, 1) and, if v is not null, facts(:, 0) (+)= Y v. For an ill-conditioned R its residual is larger
/// than that of a solution by substitution.
void times(const CudaContext& context, const Lowers& m, const double* v, bool more, const DeviceFacts& facts);

/// Computes the other facts. `product` is R b and is overwritten. `failed`, if not null, is nonzero for equations whose
/// Cholesky factorization failed. `work` has 3 n elements for each.
void state(const CudaContext& context, const Lowers& m, const int* picks, double* product, const double* failed,
           double* work, const DeviceFacts& facts);

/// Computes residual = y - Z b.
void residuals(const CudaContext& context, const Lowers& m, const In<double>& a, const int* picks,
               const DeviceFacts& facts, const Out<double>& residual);

}  // namespace tesela::kernels::equation
