#include <tesela/codelets/econometrics/internal/equation_device.cuh>
#include <tesela/codelets/econometrics/internal/equation_lower.hpp>
#include <tesela/codelets/libraries/internal/cublas.hpp>
#include <tesela/codelets/support/internal/each.cuh>

#include <cmath>

namespace tesela::kernels::equation {
namespace {

using kernels::internal::block_sum;
using kernels::internal::each_threads;

constexpr int edge = 64;  // of what is inverted in one piece

/// X's squares on the diagonal. In place of row i of L stands row i of X as soon as no other row needs it.
__global__ void __launch_bounds__(edge) invert_squares(index_t n, const double* l, double* x) {
  __shared__ double s[edge][edge + 1];
  const index_t first = index_t{edge} * blockIdx.x, from = first + first * n + n * n * blockIdx.y;
  const int w = static_cast<int>(n - first < edge ? n - first : edge), j = threadIdx.x;
  for (int k = 0; k < w; ++k)
    if (j < w) s[j][k] = j >= k ? l[from + j + k * n] : 0.0;
  __syncthreads();
  for (int i = 0; i < w; ++i) {
    double sum = i == j ? 1.0 : 0.0;
    if (j <= i)
      for (int k = j; k < i; ++k) sum -= s[i][k] * s[k][j];
    const double pivot = s[i][i];
    __syncthreads();
    if (j <= i) s[i][j] = sum / pivot;
    __syncthreads();
  }
  for (int k = 0; k < w; ++k)
    if (j < w && j >= k) x[from + j + k * n] = s[j][k];
}

/// The rest of X by halves: [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1 C^-1]. `work` is ceil(n / 2)^2 for each.
void join_inverses(const CudaContext& context, const Lowers& m, index_t begin, index_t n, double* work) {
  if (n <= edge) return;
  const index_t left = ceil_div(ceil_div(n, edge), 2) * edge, right = n - left, middle = begin + left;
  join_inverses(context, m, begin, left, work);
  join_inverses(context, m, middle, right, work);
  const auto times = [&](index_t rows, index_t inner, double alpha, const double* a, index_t lda, index_t next_a,
                         const double* b, index_t ldb, index_t next_b, double* c, index_t ldc, index_t next_c) {
    context.check(cublas::gemm_batch(context.cublas(), Op::none, Op::none, rows, left, inner, alpha, a, lda, next_a, b,
                                     ldb, next_b, 0.0, c, ldc, next_c, m.count),
                  "cublas gemm of inverses");
  };
  const index_t corner = middle + begin * m.n;
  times(right, left, 1, m.l + corner, m.n, m.size(), m.x + begin + begin * m.n, m.n, m.size(), work, right,
        left * right);
  times(right, right, -1, m.x + middle + middle * m.n, m.n, m.size(), work, right, left * right, m.x + corner, m.n,
        m.size());
}

/// to = X v.
__global__ void times_rows_kernel(index_t n, const double* x, const double* v, double* to) {
  const index_t i = lanes * index_t{blockIdx.x} + threadIdx.x;
  x += blockIdx.y * n * n;
  v += blockIdx.y * n;
  double sum = 0;
  if (i < n)
    for (index_t j = threadIdx.y; j <= i; j += teams) sum += x[i + j * n] * v[j];
  sum = over_teams(sum);
  if (i < n && threadIdx.y == 0) to[i + blockIdx.y * n] = sum;
}

/// Of each row of L, a column of R: its norm, its sum of magnitudes in units of it, and what facts say of it.
__global__ void row_facts(index_t n, const double* l, DevicePicks picks, double* norms, double* sums, double* facts,
                          index_t ldf) {
  const index_t i = lanes * index_t{blockIdx.x} + threadIdx.x, exogenous = picks.at(blockIdx.y, n + 1)[0];
  l += blockIdx.y * n * n;
  double squares = 0, tail = 0, sum = 0;
  if (i < n)
    for (index_t j = threadIdx.y; j <= i; j += teams) {
      const double x = l[i + j * n];
      squares += x * x;
      sum += fabs(x);
      if (j >= exogenous) tail += x * x;
    }
  squares = over_teams(squares);
  tail = over_teams(tail);
  sum = over_teams(sum);
  if (i >= n || threadIdx.y > 0) return;
  const index_t at = i + blockIdx.y * n;
  norms[at] = sqrt(squares);
  sums[at] = sum / sqrt(squares);
  facts += blockIdx.y * 4 * ldf;
  facts[i + 2 * ldf] = fabs(l[i + i * n]);
  facts[i + 3 * ldf] = i < exogenous ? 0.0 : sqrt(tail);
}

/// Of each row of X, a column of R^-1: its sum of magnitudes with the rows in units of R's columns.
__global__ void inverse_sums(index_t n, const double* x, const double* norms, double* sums) {
  const index_t i = lanes * index_t{blockIdx.x} + threadIdx.x;
  x += blockIdx.y * n * n;
  norms += blockIdx.y * n;
  double sum = 0;
  if (i < n)
    for (index_t j = threadIdx.y; j <= i; j += teams) sum += norms[j] * fabs(x[i + j * n]);
  sum = over_teams(sum);
  if (i < n && threadIdx.y == 0) sums[i + blockIdx.y * n] = sum;
}

/// Of each column of X, a row of R^-1: its norm, and where there is a v, facts(j, 0) (+)= column j of X times v.
__global__ void __launch_bounds__(each_threads)
    column_facts(index_t n, const double* x, const double* v, bool more, double* facts, index_t ldf) {
  const index_t j = blockIdx.x;
  x += blockIdx.y * n * n + j * n;
  facts += blockIdx.y * 4 * ldf;
  double squares = 0, sum = 0;
  for (index_t i = j + threadIdx.x; i < n; i += each_threads) {
    squares += x[i] * x[i];
    if (v != nullptr) sum += x[i] * v[i + blockIdx.y * n];
  }
  squares = block_sum(squares);
  sum = block_sum(sum);
  if (threadIdx.x > 0) return;
  facts[j + ldf] = sqrt(squares);
  if (v != nullptr) facts[j] = more ? facts[j] + sum : sum;
}

__device__ double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

/// A block's largest value; NaN where one is.
__device__ double block_largest(double value) {
  __shared__ double partial[each_threads];
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int h = each_threads / 2; h > 0; h /= 2) {
    if (threadIdx.x < h) partial[threadIdx.x] = larger(partial[threadIdx.x], partial[threadIdx.x + h]);
    __syncthreads();
  }
  const double result = partial[0];
  __syncthreads();
  return result;
}

/// The last row of facts. `product` is R b and will be changed; what failed is not zero in `failed`, if there is one.
__global__ void __launch_bounds__(each_threads)
    last_facts(index_t n, const double* l, DevicePicks picks, const double* sums, const double* inverse_sums,
               double* product, const double* failed, double* facts, index_t ldf) {
  const index_t constant = picks.at(blockIdx.y, n + 1)[1];
  l += blockIdx.y * n * n;
  product += blockIdx.y * n;
  double a = 0, b = 0, squares = 0;
  for (index_t i = threadIdx.x; i < n; i += each_threads) {
    a = larger(a, sums[i + blockIdx.y * n]);
    b = larger(b, inverse_sums[i + blockIdx.y * n]);
  }
  a = block_largest(a);
  b = block_largest(b);
  for (int twice = 0; constant >= 0 && twice < 2; ++twice) {
    double along = 0, norm = 0;
    for (index_t i = threadIdx.x; i <= constant; i += each_threads) {
      const double c = l[constant + i * n];
      along += product[i] * c;
      norm += c * c;
    }
    along = block_sum(along) / block_sum(norm);
    for (index_t i = threadIdx.x; i <= constant; i += each_threads) product[i] -= along * l[constant + i * n];
  }
  for (index_t i = threadIdx.x; i < n; i += each_threads) squares += product[i] * product[i];
  squares = block_sum(squares);
  if (threadIdx.x > 0) return;
  facts += blockIdx.y * 4 * ldf + n;
  facts[0] = failed != nullptr && failed[blockIdx.y] > 0 ? nan("") : a * b;
  facts[ldf] = sqrt(squares);
  facts[2 * ldf] = facts[3 * ldf] = 0;
}

/// to = y - Z b, b the first of each four columns of facts.
__global__ void residuals_kernel(index_t rows, const double* a, index_t lda, DevicePicks picks, const double* facts,
                                 index_t ldf, double* to, index_t ldt) {
  const index_t i = lanes * index_t{blockIdx.x} + threadIdx.x;
  facts += blockIdx.y * 4 * ldf;
  to += blockIdx.y * ldt;
  double sum = 0;
  if (i < rows)
    for (index_t p = threadIdx.y; p < picks.r; p += teams) {
      const int c = picks.at(blockIdx.y, p)[0];
      if (c >= 0) sum += facts[p] * a[i + c * lda];
    }
  sum = over_teams(sum);
  if (i < rows && threadIdx.y == 0) to[i] = a[i + picks.at(blockIdx.y, picks.r)[0] * lda] - sum;
}

dim3 row_blocks(index_t rows, index_t count) {
  return dim3(static_cast<unsigned>(ceil_div(rows, lanes)), static_cast<unsigned>(count));
}
dim3 columns_of(const Lowers& m) { return dim3(static_cast<unsigned>(m.n), static_cast<unsigned>(m.count)); }
dim3 rows_of(const Lowers& m) { return row_blocks(m.n, m.count); }

void check(const CudaContext& context) { context.check(cudaGetLastError(), "the launch of an equation's facts"); }

}  // namespace

void invert(const CudaContext& context, const Lowers& m, double* work) {
  context.check(
      cudaMemsetAsync(m.x, 0, static_cast<std::size_t>(m.count * m.size()) * sizeof(double), context.stream()),
      "cudaMemset");
  invert_squares<<<dim3(static_cast<unsigned>(ceil_div(m.n, edge)), static_cast<unsigned>(m.count)), edge, 0,
                   context.stream()>>>(m.n, m.l, m.x);
  check(context);
  join_inverses(context, m, 0, m.n, work);
}

void times_rows(const CudaContext& context, const Lowers& m, const double* v, double* to) {
  times_rows_kernel<<<rows_of(m), team(), 0, context.stream()>>>(m.n, m.x, v, to);
  check(context);
}

void times_columns(const CudaContext& context, const Lowers& m, const double* v, bool more, const DeviceFacts& facts) {
  column_facts<<<columns_of(m), each_threads, 0, context.stream()>>>(m.n, m.x, v, more, facts.data, facts.ld);
  check(context);
}

void state(const CudaContext& context, const Lowers& m, const int* picks, double* product, const double* failed,
           double* work, const DeviceFacts& facts) {
  double *const norms = work, *const sums = norms + m.n * m.count, *const inverses = sums + m.n * m.count;
  const DevicePicks p{picks, m.n};
  CUstream_st* const stream = context.stream();
  row_facts<<<rows_of(m), team(), 0, stream>>>(m.n, m.l, p, norms, sums, facts.data, facts.ld);
  inverse_sums<<<rows_of(m), team(), 0, stream>>>(m.n, m.x, norms, inverses);
  last_facts<<<dim3(1, static_cast<unsigned>(m.count)), each_threads, 0, stream>>>(m.n, m.l, p, sums, inverses, product,
                                                                                   failed, facts.data, facts.ld);
  check(context);
}

void residuals(const CudaContext& context, const Lowers& m, const In<double>& a, const int* picks,
               const DeviceFacts& facts, const Out<double>& residual) {
  residuals_kernel<<<row_blocks(a.rows, m.count), team(), 0, context.stream()>>>(
      a.rows, a.data, a.ld, DevicePicks{picks, m.n}, facts.data, facts.ld, residual.data, residual.ld);
  check(context);
}

}  // namespace tesela::kernels::equation
