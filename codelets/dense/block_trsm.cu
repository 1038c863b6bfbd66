#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/support/internal/high_priority_stream.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <algorithm>

namespace tesela::kernels {
namespace {

/// Order of the blocks that threads invert; a thread has registers for one column.
template <class T>
constexpr int edge_of = sizeof(T) == 16 ? 32 : 64;

/// Computes V = R^-1 for each diagonal block of R, with zeros below V's diagonal: one thread block per diagonal block,
/// one thread per column. `lower`: R is the adjoint of the unit lower triangle in r.
template <class T, bool lower>
__global__ void __launch_bounds__(edge_of<T>) invert_kernel(index_t n, const T* r, index_t ldr, T* v, index_t ldv) {
  constexpr int edge = edge_of<T>;
  __shared__ __align__(16) T columns[edge][edge];
  __shared__ T inverses[edge];
  const index_t at = blockIdx.x * index_t{edge};
  const int w = static_cast<int>(min(index_t{edge}, n - at)), j = threadIdx.x;
  for (int k = 0; k < edge; ++k)
    if (lower)  // each thread reads one column, in either storage order
      columns[j][k] = j < w && k < j ? conj(r[at + j + (at + k) * ldr]) : T(0);
    else
      columns[k][j] = k < w && j < k ? r[at + j + (at + k) * ldr] : T(0);
  inverses[j] = j < w && !lower ? reciprocal(r[(at + j) * (ldr + 1)]) : T(1);
  __syncthreads();
  T x[edge];
#pragma unroll
  for (int i = 0; i < edge; ++i) x[i] = i == j ? T(1) : T(0);
#pragma unroll
  for (int k = edge - 1; k >= 0; --k) {
    x[k] = x[k] * inverses[k];
#pragma unroll
    for (int i = 0; i < k; ++i) x[i] = minus_product(x[i], x[k], columns[k][i]);
  }
  if (j >= w) return;
  v += at % inverted_block + (at + j) * ldv;
#pragma unroll
  for (int i = 0; i < edge; ++i)
    if (i < w) v[i] = x[i];
}

constexpr int clear_rows = 128;

/// Sets matrices, `next` elements apart, to zero: one thread per row, one column and matrix per block.
template <class T>
__global__ void clear_kernel(index_t rows, T* a, index_t lda, index_t next) {
  const index_t i = blockIdx.x * index_t{clear_rows} + threadIdx.x;
  if (i < rows) a[i + blockIdx.y * lda + blockIdx.z * next] = T(0);
}

/// Calls cuBLAS and reports failures.
template <class T>
struct Blas {
  CudaContext& context;
  bool lower = false;  ///< R is the adjoint of a unit lower triangle
  void gemm(Op op_a, Op op_b, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b,
            index_t ldb, T beta, T* c, index_t ldc) const {
    context.check(cublas::gemm<T>(context.cublas(), op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),
                  "cublas gemm");
  }

  /// Computes V = R^-1 (n x n) from the inverses of its small diagonal blocks, R = (A B; 0 C) for pairs of blocks, then
  /// for pairs of pairs and so on. (B C^-1)^H is kept below V's diagonal for a while.
  void invert(index_t n, const T* r, index_t ldr, T* v, index_t ldv) const {
    for (index_t h = edge_of<T>; h < n; h *= 2) {
      const index_t pairs = n / (2 * h), done = 2 * h * pairs;
      join(h, h, pairs, r, ldr, v, ldv);
      if (n - done > h) join(h, n - done - h, 1, r + done * (ldr + 1), ldr, v + done * (ldv + 1), ldv);
    }
  }
  /// Joins the inverses of A (h x h) and C (`rest` x `rest`) for `pairs` pairs on the diagonal.
  void join(index_t h, index_t rest, index_t pairs, const T* r, index_t ldr, T* v, index_t ldv) const {
    if (pairs == 0) return;
    const index_t next_r = 2 * h * (ldr + 1), next_v = 2 * h * (ldv + 1);
    T *const corner = v + h * (ldv + 1), *const below = v + h, *const right = v + h * ldv;
    const auto product = [&](Op op_a, Op op_b, index_t rows, index_t cols, index_t k, T alpha, const T* a, const T* b,
                             index_t ldb, index_t next_b, T* c) {
      context.check(cublas::gemm_batch<T>(context.cublas(), op_a, op_b, rows, cols, k, alpha, a, ldv, next_v, b, ldb,
                                          next_b, 0, c, ldv, next_v, pairs),
                    "cublas gemm of several matrices");
    };
    product(adjoint<T>, lower ? Op::none : adjoint<T>, rest, h, rest, 1, corner, lower ? r + h : r + h * ldr, ldr,
            next_r, below);
    product(Op::none, adjoint<T>, h, rest, h, -1, v, below, ldv, next_v, right);
    clear_kernel<<<dim3(static_cast<unsigned>(ceil_div(rest, clear_rows)), static_cast<unsigned>(h),
                        static_cast<unsigned>(pairs)),
                   clear_rows, 0, context.stream()>>>(rest, device_pointer(below), ldv, next_v);
    context.check(cudaGetLastError(), "invert_blocks");
  }

  /// Solves X = op(R)^-1 X by halves.
  void solve(Op op, In<T> r, In<T> v, InOut<T> x, Scratch<T> work) const {
    const index_t n = x.rows, blocks = ceil_div(n, inverted_block);
    if (blocks <= 1) {
      context.check(lacpy<T>(context.stream(), Part::all, 0, {x.data, n, x.cols, x.ld}, {work.data, n, x.cols, n}),
                    "lacpy");
      return gemm(op, Op::none, n, x.cols, n, 1, v.data, v.ld, work.data, n, 0, x.data, x.ld);
    }
    const index_t h = blocks / 2 * inverted_block, rest = n - h;
    const InOut<T> top{{x.data, h, x.cols, x.ld}}, bottom{{x.data + h, rest, x.cols, x.ld}};
    const In<T> first{{r.data, h, h, r.ld}}, last{{r.data + h * (r.ld + 1), rest, rest, r.ld}};
    const In<T> of_first{{v.data, v.rows, h, v.ld}}, of_last{{v.data + h * v.ld, v.rows, rest, v.ld}};
    const T* const right = r.data + h * r.ld;
    if (op != Op::none) {
      solve(op, first, of_first, top, work);
      gemm(op, Op::none, rest, x.cols, h, -1, right, r.ld, top.data, x.ld, 1, bottom.data, x.ld);
      solve(op, last, of_last, bottom, work);
    } else {
      solve(op, last, of_last, bottom, work);
      gemm(op, Op::none, h, x.cols, rest, -1, right, r.ld, bottom.data, x.ld, 1, top.data, x.ld);
      solve(op, first, of_first, top, work);
    }
  }
};

}  // namespace

template <class T>
void InvertBlocks<T>::cuda(CudaContext& context, const Args& args, In<T> r, Out<T> v) {
  if (r.rows == 0) return;
  const HighPriorityStream urgently(context);  // the solves wait for these inverses
  const bool lower = args.triangle == blas::Triangle::unit_lower;
  const auto invert = lower ? invert_kernel<device_t<T>, true> : invert_kernel<device_t<T>, false>;
  constexpr int edge = edge_of<T>;
  invert<<<static_cast<unsigned>(ceil_div(r.rows, edge)), edge, 0, context.stream()>>>(
      r.rows, device_pointer(r.data), r.ld, device_pointer(v.data), v.ld);
  context.check(cudaGetLastError(), "invert_blocks");
  for (index_t at = 0; at < r.rows; at += inverted_block)
    Blas<T>{context, lower}.invert(std::min(inverted_block, r.rows - at), &r(at, at), r.ld, &v(0, at), v.ld);
}

template <class T>
void BlockTrsm<T>::cuda(CudaContext& context, const Args& args, In<T> r, In<T> v, InOut<T> x, Scratch<T> work) {
  const InOut<T> part{{&x(0, args.column), x.rows, x.cols - args.column, x.ld}};
  if (part.rows > 0 && part.cols > 0) Blas<T>{context}.solve(args.op, r, v, part, work);
}

TESELA_CUDA_FOR_NUMBERS(InvertBlocks, BlockTrsm)

}  // namespace tesela::kernels
