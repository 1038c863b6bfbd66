#include <tesela/codelets/tridiagonal/cyclic_reduction.hpp>
#include <tesela/codelets/tridiagonal/internal/cyclic_reduction_body.hpp>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

unsigned blocks(index_t rows) { return static_cast<unsigned>(ceil_div(rows, threads)); }

__device__ void note(index_t* failure, index_t what) {
  atomicMin(reinterpret_cast<long long*>(failure), static_cast<long long>(what));
}

template <class T>
__global__ void reduce(cr::Rows<const T> from, cr::Rows<T> to, int level, index_t* failure) {
  const index_t k = blockIdx.x * index_t{threads} + threadIdx.x;
  if (2 * k < from.count && !cr::reduce_row(from, to, k)) note(failure, cr::failure_at(level, 2 * k));
}

/// Eliminates with one thread per pair of rows 2 k and 2 k + 1. The row below the block's last is loaded by the thread
/// that needs it.
template <class T>
__global__ void reduce_staged(cr::Rows<const T> from, cr::Rows<T> to, int level, index_t* failure) {
  __shared__ T dl[threads + 1], d[threads + 1], du[threads + 1], b[threads + 1];  // of the even rows
  const unsigned t = threadIdx.x;
  const index_t k = blockIdx.x * index_t{threads} + t, i = 2 * k + 1;
  const auto bring = [&](unsigned place, index_t row) {
    const cr::Equation<T> e = from.equation(row);
    dl[place] = e.dl, d[place] = e.d, du[place] = e.du;
    if (place == t && !cr::usable(e.d)) note(failure, cr::failure_at(level, row));
  };
  const bool active = k < to.count, has_below = i + 1 < from.count, brings_two = t == threads - 1 && has_below;
  cr::Equation<T> own{};
  if (i - 1 < from.count) bring(t, i - 1);
  if (active) own = from.equation(i);
  if (brings_two) bring(threads, i + 1);
  __syncthreads();
  const cr::Equation<T> below = has_below ? cr::Equation<T>{dl[t + 1], d[t + 1], du[t + 1]} : cr::Equation<T>{};
  const cr::Combination<T> c({dl[t], d[t], du[t]}, own, has_below, below);
  if (active) to.store(k, c.row);
  for (index_t j = 0; j < from.columns; ++j) {
    if (j > 0) __syncthreads();
    if (i - 1 < from.count) b[t] = from.rhs(i - 1, j);
    if (brings_two) b[threads] = from.rhs(i + 1, j);
    T sum = active ? from.rhs(i, j) : T(0);
    __syncthreads();
    sum += c.above_factor * b[t];
    if (has_below) sum += c.below_factor * b[t + 1];
    if (active) to.rhs(k, j) = sum;
  }
}

template <class T>
__global__ void copy_edge(Block<T> edge, index_t row, cr::Rows<const T> from, index_t count) {
  const index_t i = blockIdx.x * index_t{threads} + threadIdx.x;
  if (i >= count) return;
  const cr::Equation<T> e = from.equation(i);
  cr::at(edge, row + i, 0) = e.dl, cr::at(edge, row + i, 1) = e.d, cr::at(edge, row + i, 2) = e.du;
  for (index_t j = 0; j < from.columns; ++j) cr::at(edge, row + i, 3 + j) = from.rhs(i, j);
}

template <class T>
__global__ void join_tile(cr::Join<T> join) {
  const index_t k = blockIdx.x * index_t{threads} + threadIdx.x;
  if (k < join.rows()) join(k);
}

template <class T>
__global__ void load_coarse(cr::Rows<const T> rows, Block<const T> coarse, index_t first) {
  const index_t k = blockIdx.x * index_t{threads} + threadIdx.x;
  for (index_t j = 0; k < rows.count && j < rows.columns; ++j) rows.rhs(k, j) = cr::at(coarse, first + k, j);
}

/// Computes the unknown of row 2 k in thread k. `above` holds the unknowns of the row above the tile, ld apart for each
/// right-hand side; null if there is none.
template <bool staged, class T>
__global__ void substitute(cr::Rows<const T> rows, cr::Rows<const T> solved, int level, bool packed, const T* above,
                           index_t ld, index_t* failure) {
  __shared__ T x[staged ? threads + 1 : 1];  // of the odd rows
  const unsigned t = threadIdx.x;
  const index_t k = blockIdx.x * index_t{threads} + t, i = 2 * k;
  const bool active = i<rows.count, has_below = i + 1 < rows.count, has_above = i> 0 || above != nullptr;
  cr::Equation<T> e{};
  if (active) e = rows.equation(i);
  for (index_t j = 0; j < rows.columns; ++j) {
    const auto unknown_above = [&] { return i > 0 ? solved.rhs(k - 1, j) : above != nullptr ? above[j * ld] : T(0); };
    const T x_below = has_below ? solved.rhs(k, j) : T(0);
    T x_above = 0;
    if constexpr (staged) {
      if (j > 0) __syncthreads();
      x[t + 1] = x_below;
      if (t == 0) x[0] = unknown_above();
      __syncthreads();
      x_above = x[t];
    } else if (active) {
      x_above = unknown_above();
    }
    if (!active) continue;
    const T own = cr::unknown(e, rows.rhs(i, j), has_above, x_above, has_below, x_below);
    if (!cr::finite(own)) note(failure, (i + 1) << level);
    rows.rhs(i, j) = own;
    if (packed && has_below) rows.rhs(i + 1, j) = x_below;
  }
}

/// Initializes `failure` for a task's kernels.
void clear(const CudaContext& context, index_t* failure) {
  static_assert(cr::no_failure == 0x7f7f7f7f7f7f7f7f);
  context.check(cudaMemsetAsync(failure, 0x7f, sizeof(index_t), context.stream()), "cudaMemsetAsync");
}

__global__ void write_status(const index_t* failure, index_t stride, int* info) {
  *info = cr::failure_status(*failure, stride);
}

}  // namespace

template <class T>
void CrReduce<T>::cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Out<T> work,
                       Scratch<index_t> failure, Out<int> info, std::span<const Out<T>> edge) {
  const cr::Levels<T> levels{args, dl.data, d.data, du.data, b, work};
  const auto kernel = args.how == Reduction::staged ? &reduce_staged<T> : &reduce<T>;
  clear(context, failure.data);
  for (int level = 0; level < args.levels; ++level) {
    const cr::Rows<const T> from = levels[level];
    if (from.count == 0) break;
    kernel<<<blocks(ceil_div(from.count, 2)), threads, 0, context.stream()>>>(from, levels.reduced(level + 1), level,
                                                                              failure.data);
  }
  write_status<<<1, 1, 0, context.stream()>>>(failure.data, args.stride, info.data);
  for (const Out<T>& e : edge)
    for (int level = 0; level <= args.levels; ++level) {
      const cr::Rows<const T> from = levels[level];
      const index_t count = level < args.levels && from.count > 0 ? 1 : from.count;
      if (count > 0) copy_edge<T><<<blocks(count), threads, 0, context.stream()>>>(e, level, from, count);
    }
}

template <class T>
void CrJoin<T>::cuda(CudaContext& context, const Args& args, Out<T> dl, Out<T> d, Out<T> du, Out<T> b,
                     std::span<const In<T>> edges) {
  cr::for_each_join<T>(args, dl.data, d.data, du.data, b, edges, [&](const cr::Join<T>& join) {
    join_tile<<<blocks(join.rows()), threads, 0, context.stream()>>>(join);
  });
}

template <class T>
void CrSubstitute<T>::cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> work,
                           InOut<T> b, Scratch<index_t> failure, Out<int> info, std::span<const In<T>> coarse) {
  const cr::Levels<T> levels{args, dl.data, d.data, du.data, b, work};
  const auto stream = context.stream();
  clear(context, failure.data);
  const cr::Rows<const T> top = levels[args.levels];
  if (top.count > 0) load_coarse<T><<<blocks(top.count), threads, 0, stream>>>(top, coarse.front(), args.coarse_first);
  const bool has_above = args.coarse_first > 0;
  const T* const above = has_above ? coarse.front().data + args.coarse_first - 1 : nullptr;
  const auto kernel = args.how == Reduction::staged ? &substitute<true, T> : &substitute<false, T>;
  for (int level = args.levels - 1; level >= 0; --level) {
    const cr::Rows<const T> rows = levels[level];
    if (rows.count == 0) continue;
    kernel<<<blocks(ceil_div(rows.count, 2)), threads, 0, stream>>>(rows, levels[level + 1], level,
                                                                    args.how == Reduction::packed, above,
                                                                    has_above ? coarse.front().ld : 0, failure.data);
  }
  write_status<<<1, 1, 0, stream>>>(failure.data, args.stride, info.data);
}

TESELA_CUDA_FOR_REALS(CrReduce, CrJoin, CrSubstitute)

}  // namespace tesela::kernels
