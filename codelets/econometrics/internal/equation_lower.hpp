#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/runtime/cuda_context.hpp>

namespace tesela::kernels::equation {

// Facts of equations on a GPU, from L = R^T and Y = R^-1: several equations of one order side by side. For CUDA
// variants only.

/// `count` lower triangles L and upper ones Y, each n x n, one behind the other. What a vector is made of has n
/// elements for each. Above L's diagonal there may be anything.
struct Lowers {
  index_t n, count;
  double *l, *y;
  index_t size() const { return n * n; }
};

/// Each one's facts: four columns of `data`.
struct DeviceFacts {
  double* data;
  index_t ld;
};

/// Y, with zeros below its diagonal.
void invert(const CudaContext& context, const Lowers& m);

/// to = Y^T v.
void transposed_times(const CudaContext& context, const Lowers& m, const double* v, double* to);

/// x_i <- R_i^-1 x_i by substitution for `count` upper triangles of order n: element (i, j) of the k-th is
/// r[i down + j right + k next]; its x begins at x + k next_x.
void solve_upper(const CudaContext& context, index_t n, index_t count, const double* r, index_t down, index_t right,
                 index_t next, double* x, index_t next_x);

/// facts(:, 0) <- R^-1 v, v n for each, `next_v` elements apart.
void solve(const CudaContext& context, const Lowers& m, const double* v, index_t next_v, const DeviceFacts& facts);

/// facts(:, 1) and, where there is a v, facts(:, 0) (+)= Y v. Of an ill-conditioned R its residual is larger than
/// that of a solution.
void times(const CudaContext& context, const Lowers& m, const double* v, bool more, const DeviceFacts& facts);

/// The other facts. `product` is R b and will be changed, `failed`, if there is one, is not zero for equations whose
/// Cholesky factorization failed, and `work` has 3 n elements for each.
void state(const CudaContext& context, const Lowers& m, const int* picks, double* product, const double* failed,
           double* work, const DeviceFacts& facts);

/// residual = y - Z b.
void residuals(const CudaContext& context, const Lowers& m, const In<double>& a, const int* picks,
               const DeviceFacts& facts, const Out<double>& residual);

}  // namespace tesela::kernels::equation
