#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/getrf.hpp>
#include <tesela/codelets/dense/internal/panel_lu.cuh>
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/support/internal/high_priority_stream.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <type_traits>
#include <utility>

namespace tesela::kernels {
namespace {

/// Sets swaps(i) = first + i: no exchanges.
__global__ void no_swaps_kernel(int count, int first, int* swaps) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) swaps[i] = first + i;
}

constexpr int group = 32, most_groups = 32, columns_at_once = 8;

/// Exchanges rows first + i and swaps(i) of each column, at most 1024 of them, one warp per column. Each 32 exchanges
/// are applied as one permutation of the at most 64 rows that they touch. If `winners` is not null, it lists the at
/// most 32 rows that come to the rows from `first` on, and swaps becomes the exchanges that bring them there.
template <class T>
__global__ void __launch_bounds__(group* columns_at_once)
    exchange_kernel(index_t columns, T* a, index_t lda, index_t first, int count, const int* winners, int* swaps) {
  __shared__ int target[most_groups][group], slot[most_groups][group], from[most_groups][2 * group];
  __shared__ T values[columns_at_once][2 * group];
  const int groups = (count + group - 1) / group, lane = threadIdx.x, thread = threadIdx.y * group + lane;
  for (int e = thread; winners == nullptr && e < groups * group; e += group * columns_at_once)
    target[e / group][e % group] = e < count ? swaps[e] : -1;
  if (winners != nullptr && threadIdx.y == 0) {
    int at = lane < count ? winners[lane] : -1, own = -1;  // the present row of this lane's winner
    for (int i = 0; i < count; ++i) {
      const int here = __shfl_sync(whole_warp, at, i);
      if (lane == i) own = here;
      if (lane > i && at == first + i) at = here;
    }
    target[0][lane] = own;
    if (blockIdx.x == 0 && lane < count) swaps[lane] = own;
  }
  __syncthreads();
  for (int e = thread; e < groups * group; e += group * columns_at_once) {
    const int* const own = target[e / group];
    int same = 0;
    while (own[same] != own[e % group]) ++same;
    slot[e / group][e % group] = same;  // the first exchange with this target
  }
  __syncthreads();
  if (thread < groups) {
    const int w = min(group, count - thread * group);
    const index_t base = first + thread * group;
    int* const source = from[thread];
    for (int s = 0; s < 2 * group; ++s) source[s] = s;
    for (int i = 0; i < w; ++i) {
      const index_t to = target[thread][i] - base;
      const int there = to < w ? static_cast<int>(to) : group + slot[thread][i];
      const int kept = source[i];
      source[i] = source[there];
      source[there] = kept;
    }
  }
  __syncthreads();
  const index_t j = blockIdx.x * index_t{columns_at_once} + threadIdx.y;
  if (j >= columns) return;
  T* const column = a + j * lda;
  T* const mine = values[threadIdx.y];
  for (int g = 0; g < groups; ++g) {
    const int w = min(group, count - g * group);
    const index_t base = first + g * group, to = target[g][lane];
    const bool moves = lane < w, away = moves && to >= base + w && slot[g][lane] == lane;
    if (moves) mine[lane] = column[base + lane];
    if (away) mine[group + lane] = column[to];
    __syncwarp();
    if (moves) column[base + lane] = mine[from[g][lane]];
    if (away) column[to] = mine[from[g][group + lane]];
    __syncwarp();
  }
}

template <class T>
void exchange(const CudaContext& context, const Block<T>& a, index_t first, index_t count, const int* swaps) {
  constexpr index_t most = index_t{group} * most_groups;
  const auto blocks = static_cast<unsigned>(ceil_div(a.cols, columns_at_once));
  for (index_t i = 0; i < count && a.cols > 0; i += most)
    exchange_kernel<<<blocks, dim3(group, columns_at_once), 0, context.stream()>>>(
        a.cols, device_pointer(a.data), a.ld, first + i, static_cast<int>(std::min(most, count - i)), nullptr,
        const_cast<int*>(swaps) + i);  // only read
  context.check(cudaGetLastError(), "exchange of rows");
}

/// Solves L X = C in place, with a unit lower L of `rows` rows.
template <class T>
void solve_unit_lower(const CudaContext& context, index_t rows, index_t columns, const T* l, index_t ldl, T* c,
                      index_t ldc) {
  if (rows > most_solved_rows) {
    context.check(cublas::solve_unit_lower(context.cublas(), Op::none, rows, columns, l, ldl, c, ldc), "cublas trsm");
    return;
  }
  const auto run = [&](auto blocks) {
    solve_unit_lower_kernel<device_t<T>, blocks()>
        <<<static_cast<unsigned>(ceil_div(columns, solved_at_once)), dim3(32, solved_at_once), 0, context.stream()>>>(
            static_cast<int>(rows), columns, device_pointer(l), ldl, device_pointer(c), ldc);
  };
  if (rows <= 32)
    run(std::integral_constant<int, 1>{});
  else if (rows <= 64)
    run(std::integral_constant<int, 2>{});
  else if (rows <= 128)
    run(std::integral_constant<int, 4>{});
  else
    run(std::integral_constant<int, 8>{});
  context.check(cudaGetLastError(), "solve_unit_lower");
}

template <class T>
struct Panel {
  CudaContext& context;
  Block<T> a;
  index_t row;
  Pivoting pivoting;
  int* swaps;
  double* zero;
  int* work;  // U of 32 rows, and two lists of winners

  /// Chooses the pivots of w columns and brings their rows to the diagonal. Returns U of these rows.
  device_t<T>* choose(index_t first, int w) {
    const index_t diagonal = row + first;
    index_t count = a.rows - diagonal;
    auto* const square = reinterpret_cast<device_t<T>*>(work);
    int *to = work + width * width * (sizeof(T) / sizeof(int)), *other = to + ceil_div(count, players) * width;
    const int* rows = nullptr;
    for (bool last = false; !last;) {
      const index_t games = ceil_div(count, players);
      last = games == 1;
      play_kernel<<<static_cast<unsigned>(games), players / rows_each<device_t<T>>, 0, context.stream()>>>(
          device_pointer(&a(0, first)), a.ld, w, count, rows, diagonal, to, last ? square : nullptr, diagonal + 1,
          zero);
      rows = to;
      std::swap(to, other);
      count = games * width;
    }
    exchange_kernel<<<static_cast<unsigned>(ceil_div(a.cols, columns_at_once)), dim3(group, columns_at_once), 0,
                      context.stream()>>>(a.cols, device_pointer(a.data), a.ld, diagonal, w, rows, swaps + first);
    context.check(cudaGetLastError(), "tournament");
    return square;
  }

  void columns(index_t first, index_t count) {
    const auto w = static_cast<int>(count);
    const index_t diagonal = row + first;
    device_t<T>* const place = device_pointer(&a(diagonal, first));
    const auto solve_rows = [&](const device_t<T>* square, index_t lds, int factored, index_t from) {
      const index_t rows = a.rows - diagonal - from;
      if (rows > 0)
        rows_lu_kernel<<<static_cast<unsigned>(ceil_div(rows, rows_at_once)), rows_at_once, 0, context.stream()>>>(
            rows, w, square, lds, factored, place + from, a.ld);
    };
    if (pivoting == Pivoting::tournament) {
      solve_rows(choose(first, w), width, w, 0);
    } else {
      square_lu_kernel<<<1, dim3(width, width), 0, context.stream()>>>(w, place, a.ld, diagonal + 1, zero);
      solve_rows(place, a.ld, 0, w);
    }
    context.check(cudaGetLastError(), "getrf");
  }

  void update(index_t first, index_t left, index_t right) {
    const index_t diagonal = row + first, below = diagonal + left;
    T* const u = &a(diagonal, first + left);
    solve_unit_lower(context, left, right, &a(diagonal, first), a.ld, u, a.ld);
    if (below < a.rows)
      context.check(cublas::gemm<T>(context.cublas(), Op::none, Op::none, a.rows - below, right, left, -1,
                                    &a(below, first), a.ld, u, a.ld, 1, &a(below, first + left), a.ld),
                    "cublas gemm");
  }
};

}  // namespace

template <class T>
void Getrf<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> v, Out<int> swaps, InOut<double> zero,
                    Scratch<int> work) {
  if (a.cols == 0) return;
  const HighPriorityStream urgently(context);
  if (args.pivoting == Pivoting::none)
    no_swaps_kernel<<<static_cast<unsigned>(ceil_div(a.cols, 256)), 256, 0, context.stream()>>>(
        static_cast<int>(a.cols), static_cast<int>(args.row), swaps.data);
  context.check(cudaGetLastError(), "no_swaps");
  Panel<T> panel{context, a, args.row, args.pivoting, swaps.data, zero.data, work.data};
  factor_by_halves(panel, 0, a.cols);
  if (v.rows >= a.cols && v.cols == a.cols)
    InvertBlocks<T>::cuda(context, {blas::Triangle::unit_lower}, {{&a(args.row, 0), a.cols, a.cols, a.ld}}, v);
}

template <class T>
void LuUpdate<T>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> v, In<int> swaps, InOut<T> c,
                       Scratch<T> work) {
  if (c.cols == 0) return;
  const auto gemm = [&](Op op, index_t m, index_t k, T alpha, const T* left, index_t ldl, const T* right, index_t ldr,
                        T beta, T* to) {
    context.check(
        cublas::gemm<T>(context.cublas(), op, Op::none, m, c.cols, k, alpha, left, ldl, right, ldr, beta, to, c.ld),
        "cublas gemm");
  };
  const index_t w = a.cols, below = args.row + w, end = args.end > 0 ? args.end : c.rows;
  if (args.pivoting != Pivoting::none) exchange(context, c, args.row, w, swaps.data);
  for (index_t at = 0; at < w; at += inverted_block) {
    const index_t k = std::min(inverted_block, w - at), row = args.row + at, rest = w - at - k;
    T* const u = &c(row, 0);
    context.check(lacpy<T>(context.stream(), Part::all, 0, {u, k, c.cols, c.ld}, {work.data, k, c.cols, k}), "lacpy");
    gemm(adjoint<T>, k, k, 1, &v(0, at), v.ld, work.data, k, 0, u);
    if (rest > 0) gemm(Op::none, rest, k, -1, &a(row + k, at), a.ld, u, c.ld, 1, u + k);
  }
  if (below < end) gemm(Op::none, end - below, w, -1, &a(below, 0), a.ld, &c(args.row, 0), c.ld, 1, &c(below, 0));
}

template <class T>
void Laswp<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, In<int> swaps) {
  exchange(context, a, args.row, swaps.rows, swaps.data);
}

template <class T>
void LuSubstitute<T>::cuda(CudaContext& context, const Args& args, In<T> a, InOut<T> x) {
  const index_t w = a.cols, row = args.row, below = row + w;
  if (w == 0 || x.cols == 0) return;
  T* const part = &x(row, 0);
  const auto subtract = [&](index_t from, index_t count) {
    if (count > 0)
      context.check(cublas::gemm<T>(context.cublas(), Op::none, Op::none, count, x.cols, w, -1, &a(from, 0), a.ld, part,
                                    x.ld, 1, &x(from, 0), x.ld),
                    "cublas gemm");
  };
  context.check(args.upper
                    ? cublas::trsm(context.cublas(), Op::none, w, x.cols, &a(row, 0), a.ld, part, x.ld)
                    : cublas::solve_unit_lower(context.cublas(), Op::none, w, x.cols, &a(row, 0), a.ld, part, x.ld),
                "cublas trsm");
  args.upper ? subtract(0, row) : subtract(below, x.rows - below);
}

TESELA_CUDA_FOR_NUMBERS(Getrf, LuUpdate, Laswp, LuSubstitute)

}  // namespace tesela::kernels
