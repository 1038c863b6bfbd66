#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/toeplitz/cauchy_solve.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_body.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_factor_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>

namespace tesela::kernels {
namespace {

constexpr int threads = 1024, gatherers = 128;

/// Computes w(k) of cauchy.hpp for k = 0 ... n, with w(0) = 0.
template <class T>
struct FillTable {
  T* table;
  index_t n;
  TESELA_BOTH void operator()(index_t k, index_t) const {
#ifdef __CUDA_ARCH__
    const index_t near = k < n + 1 - k ? k : n + 1 - k;
    table[k] = k > 0 ? static_cast<T>(1 / sinpi(static_cast<double>(near) / static_cast<double>(n + 1))) : T(0);
#else
    table[k] = T(0);
#endif
  }
};

/// The block's g, h and diagonal, one column each.
template <class T>
struct LoadBlock {
  const T* c;
  index_t ldc;
  T sigma;
  T* to;
  index_t ld;
  TESELA_BOTH void operator()(index_t a, index_t j) const { to[a + j * ld] = c[a + j * ldc] - (j == 2 ? sigma : T(0)); }
};

template <class T>
struct Largest {
  T size;  ///< 0: none
  index_t row;
  /// Replaces the pivot by a larger one. The row decides between equal sizes, so that the result does not depend on the
  /// order of comparisons.
  __device__ void offer(T other, index_t at) {
    if (other > size || (other == size && at < row)) size = other, row = at;
  }
  __device__ void of_warp() {
    for (int offset = 16; offset > 0; offset /= 2) {
      const T other = __shfl_xor_sync(0xffffffffu, size, offset);
      offer(other, __shfl_xor_sync(0xffffffffu, row, offset));
    }
  }
};

/// Eliminates in one thread block, which writes columns of L in the order of the rows. A row that was a pivot becomes
/// zero, so that all later steps leave it unchanged.
template <class T>
__global__ void __launch_bounds__(threads) factor_kernel(int rows, int o, const T* table, T* g, T* h, T* d, T* l,
                                                         index_t ld, T* pivots, T* order, double* report) {
  __shared__ T sizes[32];
  __shared__ index_t at[32];
  __shared__ T pivot[3];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  Largest<T> best{0, rows};
  for (int a = thread; a < rows; a += threads) best.offer(d[a] < T(0) ? -d[a] : d[a], a);
  double negative = 0, smallest = INFINITY, largest = 0;
  int step = 0;
  for (; step < rows; ++step) {
    best.of_warp();
    if (lane == 0) {
      sizes[thread / 32] = best.size;
      at[thread / 32] = best.row;
    }
    __syncthreads();
    best = {sizes[lane], at[lane]};
    best.of_warp();
    if (!(best.size > T(0)) || !isfinite(best.size)) break;
    const int p = static_cast<int>(best.row);
    if (thread == p % threads) {
      pivot[0] = g[p];
      pivot[1] = h[p];
      pivot[2] = pivots[step] = d[p];
      order[step] = static_cast<T>(p);
      g[p] = h[p] = d[p] = T(0);
    }
    __syncthreads();
    const T gp = pivot[0], hp = pivot[1], dp = pivot[2], inverse = T(1) / dp;
    T* const column = l + step * ld;
    best = {0, rows};
    for (int a = thread; a < rows; a += threads) {
      const T difference = a < p ? -table[p - a] : table[a - p];
      const T c = (g[a] * hp - h[a] * gp) * (table[a + p + o] * difference), factor = c * inverse;
      column[a] = factor;
      g[a] -= factor * gp;
      h[a] -= factor * hp;
      const T left = d[a] - factor * c;
      d[a] = left;
      best.offer(left < T(0) ? -left : left, a);
    }
    const double size = dp < T(0) ? -static_cast<double>(dp) : static_cast<double>(dp);
    negative += dp < T(0);
    smallest = size < smallest ? size : smallest;
    largest = size > largest ? size : largest;
  }
  if (thread == 0) {
    report[CauchyReport::negative] = negative;
    report[CauchyReport::breakdown] = step < rows ? step + 1 : 0;
    report[CauchyReport::smallest_pivot] = rows > 0 ? smallest : 0;
    report[CauchyReport::largest] = largest;
  }
  // Writes valid numbers for the steps that a breakdown skipped.
  for (int k = step + thread; k < rows; k += threads) {
    pivots[k] = T(1);
    order[k] = static_cast<T>(k);
  }
  for (; step < rows; ++step)
    for (int a = thread; a < rows; a += threads) l[a + step * ld] = T(0);
}

/// Moves rows of L to the order of the pivots. Each thread block has `rows` numbers of `columns`.
template <class T>
__global__ void gather_kernel(int rows, const T* order, T* l, index_t ld, T* columns) {
  T* const column = columns + static_cast<index_t>(blockIdx.x) * rows;
  for (int k = static_cast<int>(blockIdx.x); k < rows; k += static_cast<int>(gridDim.x)) {
    T* const to = l + k * ld;
    for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(blockDim.x)) column[i] = to[i];
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(blockDim.x))
      to[i] = i < k ? T(0) : i == k ? T(1) : column[static_cast<int>(order[i])];
    __syncthreads();
  }
}

}  // namespace

template <class T>
void CauchyFactor<T>::cuda(CudaContext& context, const Args& args, In<T> c, Out<T> factors, Out<double> report,
                           Scratch<T> work) {
  const index_t n = c.rows, rows = cauchy_rows(n, args.part);
  T *const table = work.data, *const g = table + n + 1, *const h = g + rows, *const d = h + rows,
           *const columns = table + 4 * (n + 1);
  T *const pivots = &factors(0, factors.rows), *const order = pivots + factors.ld;
  const toeplitz::Device machine{context};
  machine.each(n + 1, 1, FillTable<T>{table, n});
  machine.each(rows, 3,
               LoadBlock<T>{c.data + args.part * cauchy_rows(n, 0), c.ld, static_cast<T>(args.sigma), g, rows});
  factor_kernel<<<1, threads, 0, context.stream()>>>(static_cast<int>(rows), args.part + 1, table, g, h, d,
                                                     factors.data, factors.ld, pivots, order, report.data);
  if (rows > 0)
    gather_kernel<<<gatherers, 256, 0, context.stream()>>>(static_cast<int>(rows), order, factors.data, factors.ld,
                                                           columns);
  context.check(cudaGetLastError(), "cauchy_factor");
}

template <class T>
void CauchyFactoredSolve<T>::cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> factors_0,
                                  In<T> factors_1, In<double> report_0, In<double> report_1, InOut<T> b,
                                  Out<double> outcome, InOut<int> info, Scratch<T> work) {
  toeplitz::Device machine{context};
  toeplitz::cauchy_factored_solve(
      machine, args, spectrum, factors_0, factors_1, report_0.data, report_1.data, b, outcome.data, info.data,
      work.data, [&](Op op, index_t m, index_t n, const T* l, index_t ldl, T* x, index_t ldx) {
        context.check(cublas::solve_unit_lower(context.cublas(), op, m, n, l, ldl, x, ldx), "cublas trsm");
      });
}

TESELA_CUDA_FOR_REALS(CauchyFactor, CauchyFactoredSolve)

template <class T>
void CauchyInverseSolve<T>::cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> tables, In<T> inverse,
                                 In<double> report, InOut<T> b, Out<double> outcome, InOut<int> info, Scratch<T> work) {
  toeplitz::Device machine{context};
  toeplitz::cauchy_inverse_solve(machine, args, spectrum, tables, inverse, report, b, outcome.data, info.data,
                                 work.data);
}

TESELA_CUDA_FOR_REALS(CauchyInverseSolve)

}  // namespace tesela::kernels
