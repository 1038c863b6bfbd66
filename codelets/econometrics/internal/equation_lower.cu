#include <tesela/codelets/econometrics/internal/equation_device.cuh>
#include <tesela/codelets/econometrics/internal/equation_lower.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/each.cuh>
#include <tesela/codelets/support/internal/factor_tile.cuh>

#include <algorithm>
#include <cmath>

namespace tesela::kernels::equation {
namespace {

using kernels::internal::block_sum;
using kernels::internal::each_threads;

__global__ void __launch_bounds__(each_threads) make_identity(index_t n, double* y) {
  y += (blockIdx.x + blockIdx.y * n) * n;
  for (index_t i = threadIdx.x; i < n; i += each_threads) y[i] = i == blockIdx.x ? 1.0 : 0.0;
}

/// Computes to = Y^T v.
__global__ void __launch_bounds__(each_threads)
    transposed_times_kernel(index_t n, const double* y, const double* v, double* to) {
  const index_t i = blockIdx.x;
  y += blockIdx.y * n * n + i * n;
  v += blockIdx.y * n;
  double sum = 0;
  for (index_t j = threadIdx.x; j <= i; j += each_threads) sum += y[j] * v[j];
  sum = block_sum(sum);
  if (threadIdx.x == 0) to[i + blockIdx.y * n] = sum;
}

constexpr int solved_at_once = 32;

/// Solves one triangle per block, from the last rows up: a warp solves a square, and all threads subtract its product
/// from the rows above.
__global__ void __launch_bounds__(each_threads)
    solve_kernel(index_t n, const double* r, index_t down, index_t right, index_t next, double* x, index_t next_x) {
  __shared__ double solved[solved_at_once];
  r += blockIdx.x * next;
  x += blockIdx.x * next_x;
  for (index_t begin = (n - 1) / solved_at_once * solved_at_once; begin >= 0; begin -= solved_at_once) {
    const int w = static_cast<int>(n - begin < solved_at_once ? n - begin : solved_at_once), lane = threadIdx.x;
    const double* const square = r + begin * (down + right);
    if (lane < solved_at_once) {
      double own = lane < w ? x[begin + lane] : 0.0;
      for (int k = w - 1; k >= 0; --k) {
        const double value = __shfl_sync(0xffffffffu, own, k) / square[k * (down + right)];
        if (lane == k) own = value;
        if (lane < k) own -= square[lane * down + k * right] * value;
      }
      if (lane < w) x[begin + lane] = solved[lane] = own;
    }
    __syncthreads();
    for (index_t i = threadIdx.x; i < begin; i += each_threads) {
      double sum = 0;
      for (int k = 0; k < w; ++k) sum += r[i * down + (begin + k) * right] * solved[k];
      x[i] -= sum;
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(each_threads)
    take_vectors(index_t n, const double* v, index_t next_v, double* facts, index_t ldf) {
  for (index_t i = threadIdx.x; i < n; i += each_threads) facts[i + blockIdx.x * 4 * ldf] = v[i + blockIdx.x * next_v];
}

/// Computes for each row of L (a column of R) its norm, its sum of magnitudes in units of the norm, and its facts.
__global__ void row_facts(index_t n, const double* l, DeviceSelectedColumns picks, double* norms, double* sums,
                          double* facts, index_t ldf) {
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

/// Computes for each column of Y its sum of magnitudes with the rows in units of R's columns.
__global__ void __launch_bounds__(each_threads)
    inverse_sums(index_t n, const double* y, const double* norms, double* sums) {
  const index_t i = blockIdx.x;
  y += blockIdx.y * n * n + i * n;
  norms += blockIdx.y * n;
  double sum = 0;
  for (index_t j = threadIdx.x; j <= i; j += each_threads) sum += norms[j] * fabs(y[j]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[i + blockIdx.y * n] = sum;
}

/// Computes for each row of Y its norm, and if v is not null, facts(j, 0) (+)= its product with v.
__global__ void inverse_facts(index_t n, const double* y, const double* v, bool more, double* facts, index_t ldf) {
  const index_t j = lanes * index_t{blockIdx.x} + threadIdx.x;
  y += blockIdx.y * n * n;
  facts += blockIdx.y * 4 * ldf;
  double squares = 0, sum = 0;
  if (j < n)
    for (index_t i = lanes * index_t{blockIdx.x} + threadIdx.y; i < n; i += teams) {  // zeros before the diagonal
      const double element = y[j + i * n];
      squares += element * element;
      if (v != nullptr) sum += element * v[i + blockIdx.y * n];
    }
  squares = over_teams(squares);
  sum = over_teams(sum);
  if (j >= n || threadIdx.y > 0) return;
  facts[j + ldf] = sqrt(squares);
  if (v != nullptr) facts[j] = more ? facts[j] + sum : sum;
}

__device__ double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

/// Returns a block's largest value; NaN if one is NaN.
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

/// Computes the last row of facts. `product` is R b and is overwritten; `failed`, if not null, is nonzero for failed
/// equations.
__global__ void __launch_bounds__(each_threads)
    last_facts(index_t n, const double* l, DeviceSelectedColumns picks, const double* sums, const double* inverse_sums,
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

/// Computes to = y - Z b, where b is the first of each four columns of facts.
__global__ void residuals_kernel(index_t rows, const double* a, index_t lda, DeviceSelectedColumns picks,
                                 const double* facts, index_t ldf, double* to, index_t ldt) {
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

// By substitution, one panel of columns after the other: products with inverses of diagonal blocks would lose
// additional digits if these are ill-conditioned.
void invert(const CudaContext& context, const Lowers& m) {
  make_identity<<<columns_of(m), each_threads, 0, context.stream()>>>(m.n, m.y);
  for (index_t c = 0; c < m.n; c += factor::width) {
    const index_t w = std::min<index_t>(factor::width, m.n - c);
    double* const panel = m.y + c * m.n;
    if (c > 0)
      context.check(cublas::gemm_batch(context.cublas(), Op::none, Op::transpose, c, w, c, -1.0, m.y, m.n, m.size(),
                                       m.l + c, m.n, m.size(), 0.0, panel, m.n, m.size(), m.count),
                    "cublas gemm of inverses");
    factor::rows_kernel<double, true>
        <<<dim3(static_cast<unsigned>(ceil_div(c + w, index_t{factor::rows_at_once})), static_cast<unsigned>(m.count)),
           factor::rows_at_once, 0, context.stream()>>>(c + w, static_cast<int>(w), m.l + c + c * m.n, panel, m.n,
                                                        nullptr, nullptr, m.size());
  }
  check(context);
}

void transposed_times(const CudaContext& context, const Lowers& m, const double* v, double* to) {
  transposed_times_kernel<<<columns_of(m), each_threads, 0, context.stream()>>>(m.n, m.y, v, to);
  check(context);
}

void times(const CudaContext& context, const Lowers& m, const double* v, bool more, const DeviceFacts& facts) {
  inverse_facts<<<rows_of(m), team(), 0, context.stream()>>>(m.n, m.y, v, more, facts.data, facts.ld);
  check(context);
}

void solve_upper(const CudaContext& context, index_t n, index_t count, const double* r, index_t down, index_t right,
                 index_t next, double* x, index_t next_x) {
  solve_kernel<<<static_cast<unsigned>(count), each_threads, 0, context.stream()>>>(n, r, down, right, next, x, next_x);
  check(context);
}

void solve(const CudaContext& context, const Lowers& m, const double* v, index_t next_v, const DeviceFacts& facts) {
  take_vectors<<<static_cast<unsigned>(m.count), each_threads, 0, context.stream()>>>(m.n, v, next_v, facts.data,
                                                                                      facts.ld);
  solve_upper(context, m.n, m.count, m.l, m.n, 1, m.size(), facts.data, 4 * facts.ld);  // R is L's transpose
}

void state(const CudaContext& context, const Lowers& m, const int* picks, double* product, const double* failed,
           double* work, const DeviceFacts& facts) {
  double *const norms = work, *const sums = norms + m.n * m.count, *const inverses = sums + m.n * m.count;
  const DeviceSelectedColumns p{picks, m.n};
  CUstream_st* const stream = context.stream();
  row_facts<<<rows_of(m), team(), 0, stream>>>(m.n, m.l, p, norms, sums, facts.data, facts.ld);
  inverse_sums<<<columns_of(m), each_threads, 0, stream>>>(m.n, m.y, norms, inverses);
  last_facts<<<dim3(1, static_cast<unsigned>(m.count)), each_threads, 0, stream>>>(m.n, m.l, p, sums, inverses, product,
                                                                                   failed, facts.data, facts.ld);
  check(context);
}

void residuals(const CudaContext& context, const Lowers& m, const In<double>& a, const int* picks,
               const DeviceFacts& facts, const Out<double>& residual) {
  residuals_kernel<<<row_blocks(a.rows, m.count), team(), 0, context.stream()>>>(
      a.rows, a.data, a.ld, DeviceSelectedColumns{picks, m.n}, facts.data, facts.ld, residual.data, residual.ld);
  check(context);
}

}  // namespace tesela::kernels::equation
