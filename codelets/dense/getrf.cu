#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/getrf.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/support/internal/high_priority_stream.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <cmath>
#include <utility>

namespace tesela::kernels {
namespace {

constexpr int width = tournament_columns, players = tournament_rows;
constexpr unsigned whole_warp = 0xffffffffu;

/// Plays one game over `w` columns: one thread per row, 512 rows per block. `rows` lists the `count` rows; null selects
/// consecutive rows from `first` on; a row of -1 does not play. Each block writes its winners in their order and pads
/// them with -1.
template <class T>
__global__ void __launch_bounds__(players)
    play_kernel(const T* a, index_t lda, int w, index_t count, const int* rows, index_t first, int* winners) {
  constexpr int warps = players / 32;
  using R = real_t<T>;
  __shared__ T pivot_row[width];
  __shared__ R largest[warps];
  __shared__ int whose[warps], chosen;
  const index_t player = blockIdx.x * index_t{players} + threadIdx.x;
  const int row = player >= count ? -1 : rows != nullptr ? rows[player] : static_cast<int>(first + player);
  bool plays = row >= 0;
  T x[width];
#pragma unroll
  for (int j = 0; j < width; ++j) x[j] = plays && j < w ? a[row + j * lda] : T(0);
  winners += blockIdx.x * index_t{width};
#pragma unroll
  for (int k = 0; k < width; ++k) {
    if (k >= w) {  // the same for all threads
      if (threadIdx.x == 0) winners[k] = -1;
      continue;
    }
    const R size = sum_of_parts(x[k]);
    R best = !plays ? R(-1) : isnan(size) ? R(INFINITY) : size;
    int who = threadIdx.x;
    const auto reduce = [&](int lanes) {
      for (int d = lanes / 2; d > 0; d /= 2) {
        const R other = __shfl_xor_sync(whole_warp, best, d);
        const int its = __shfl_xor_sync(whole_warp, who, d);
        if (other > best || (other == best && its < who)) best = other, who = its;
      }
    };
    reduce(32);
    if (threadIdx.x % 32 == 0) largest[threadIdx.x / 32] = best, whose[threadIdx.x / 32] = who;
    __syncthreads();
    if (threadIdx.x < 32) {
      best = largest[threadIdx.x % warps], who = whose[threadIdx.x % warps];
      reduce(warps);
      if (threadIdx.x == 0) chosen = best < 0 ? -1 : who;
      if (threadIdx.x == 0 && best < 0) winners[k] = -1;
    }
    __syncthreads();
    const int winner = chosen;
    if (winner < 0) continue;
    if (static_cast<int>(threadIdx.x) == winner) {
#pragma unroll
      for (int j = k; j < width; ++j) pivot_row[j] = x[j];
      winners[k] = row;
      plays = false;
    }
    __syncthreads();
    if (plays && sum_of_parts(pivot_row[k]) != 0) {
      const T multiple = quotient(x[k], pivot_row[k]);
#pragma unroll
      for (int j = k + 1; j < width; ++j) x[j] = minus_product(x[j], multiple, pivot_row[j]);
    }
  }
}

/// Computes the exchanges that bring the winners to the rows from `diagonal` on. Runs in one warp.
__global__ void swaps_kernel(int w, int diagonal, const int* winners, int* swaps) {
  const int lane = threadIdx.x;
  int at = lane < w ? winners[lane] : -1;  // current row of this lane's winner
  for (int i = 0; i < w; ++i) {
    const int here = __shfl_sync(whole_warp, at, i);
    if (lane == i) swaps[i] = here;
    if (lane > i && at == diagonal + i) at = here;
  }
}

/// Sets swaps(i) = first + i: no exchanges.
__global__ void no_swaps_kernel(int count, int first, int* swaps) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) swaps[i] = first + i;
}

constexpr int group = 32, most_groups = 32, columns_at_once = 8;

/// Exchanges rows first + i and swaps(i) of each column, at most 1024 of them, one warp per column. Each 32 exchanges
/// are applied as one permutation of the at most 64 rows that they touch.
template <class T>
__global__ void __launch_bounds__(group* columns_at_once)
    exchange_kernel(index_t columns, T* a, index_t lda, index_t first, int count, const int* swaps) {
  __shared__ int target[most_groups][group], slot[most_groups][group], from[most_groups][2 * group];
  __shared__ T values[columns_at_once][2 * group];
  const int groups = (count + group - 1) / group, lane = threadIdx.x, thread = threadIdx.y * group + lane;
  for (int e = thread; e < groups * group; e += group * columns_at_once)
    target[e / group][e % group] = e < count ? swaps[e] : -1;
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
        a.cols, device_pointer(a.data), a.ld, first + i, static_cast<int>(std::min(most, count - i)), swaps + i);
  context.check(cudaGetLastError(), "exchange of rows");
}

/// Factors a w x w square (w <= 32) into L U without pivoting, one thread per element. `place` is the position of its
/// first pivot in the matrix, counted from 1.
template <class T>
__global__ void __launch_bounds__(width* width)
    square_lu_kernel(int w, T* a, index_t lda, index_t place, double* zero) {
  __shared__ T s[width][width + 1];
  if (*zero > 0) return;
  const int i = threadIdx.x, j = threadIdx.y;
  const bool inside = i < w && j < w;
  if (inside) s[j][i] = a[i + j * lda];
  for (int k = 0; k < w; ++k) {
    __syncthreads();
    const T pivot = s[k][k];
    if (sum_of_parts(pivot) == 0 || !is_finite(pivot)) {  // the same for all threads
      if (i == 0 && j == 0) *zero = static_cast<double>(place + k);
      return;
    }
    if (inside && j == k && i > k) s[k][i] = quotient(s[k][i], pivot);
    __syncthreads();
    if (inside && j > k && i > k) s[j][i] = minus_product(s[j][i], s[k][i], s[j][k]);
  }
  if (inside) a[i + j * lda] = s[j][i];
}

constexpr int rows_at_once = 128;

/// Solves A = A U^-1 for the m rows below a factored square, one thread per row.
template <class T>
__global__ void __launch_bounds__(rows_at_once) rows_lu_kernel(index_t m, int w, const T* square, T* a, index_t lda) {
  __shared__ T u[width][width];
  for (int e = threadIdx.x; e < width * width; e += rows_at_once) {
    const int k = e / width, j = e % width;
    u[k][j] = j < w && k <= j ? square[k + j * lda] : T(k == j ? 1 : 0);
  }
  __syncthreads();
  const index_t row = blockIdx.x * index_t{rows_at_once} + threadIdx.x;
  if (row >= m) return;
  a += row;
  T x[width];
#pragma unroll
  for (int j = 0; j < width; ++j) x[j] = j < w ? a[j * lda] : T(0);
#pragma unroll
  for (int k = 0; k < width; ++k) {
    x[k] = quotient(x[k], u[k][k]);
#pragma unroll
    for (int j = k + 1; j < width; ++j) x[j] = minus_product(x[j], x[k], u[k][j]);
  }
#pragma unroll
  for (int j = 0; j < width; ++j)
    if (j < w) a[j * lda] = x[j];
}

template <class T>
struct Panel {
  CudaContext& context;
  Block<T> a;
  index_t row;
  Pivoting pivoting;
  int* swaps;
  double* zero;
  int* work;  // two lists of winners

  void choose(index_t first, int w) {
    const index_t diagonal = row + first;
    index_t count = a.rows - diagonal;
    int *to = work, *other = work + ceil_div(count, players) * width;
    const int* rows = nullptr;
    for (bool last = false; !last;) {
      const index_t games = ceil_div(count, players);
      play_kernel<<<static_cast<unsigned>(games), players, 0, context.stream()>>>(device_pointer(&a(0, first)), a.ld, w,
                                                                                  count, rows, diagonal, to);
      last = games == 1;
      rows = to;
      std::swap(to, other);
      count = games * width;
    }
    swaps_kernel<<<1, 32, 0, context.stream()>>>(w, static_cast<int>(diagonal), rows, swaps + first);
    context.check(cudaGetLastError(), "tournament");
    exchange(context, a, diagonal, w, swaps + first);
  }

  void columns(index_t first, index_t count) {
    const auto w = static_cast<int>(count);
    if (pivoting == Pivoting::tournament) choose(first, w);
    const index_t diagonal = row + first, end = diagonal + w;
    device_t<T>* const square = device_pointer(&a(diagonal, first));
    square_lu_kernel<<<1, dim3(width, width), 0, context.stream()>>>(w, square, a.ld, diagonal + 1, zero);
    if (end < a.rows)
      rows_lu_kernel<<<static_cast<unsigned>(ceil_div(a.rows - end, rows_at_once)), rows_at_once, 0,
                       context.stream()>>>(a.rows - end, w, square, square + w, a.ld);
    context.check(cudaGetLastError(), "getrf");
  }

  void update(index_t first, index_t left, index_t right) {
    const index_t diagonal = row + first, below = diagonal + left;
    T* const u = &a(diagonal, first + left);
    context.check(cublas::solve_unit_lower(context.cublas(), Op::none, left, right, &a(diagonal, first), a.ld, u, a.ld),
                  "cublas trsm");
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
  {
    const HighPriorityStream urgently(context);
    if (args.pivoting == Pivoting::none)
      no_swaps_kernel<<<static_cast<unsigned>(ceil_div(a.cols, 256)), 256, 0, context.stream()>>>(
          static_cast<int>(a.cols), static_cast<int>(args.row), swaps.data);
    context.check(cudaGetLastError(), "no_swaps");
    Panel<T> panel{context, a, args.row, args.pivoting, swaps.data, zero.data, work.data};
    factor_by_halves(panel, 0, a.cols);
  }
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
