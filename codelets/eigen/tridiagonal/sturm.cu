#include <tesela/codelets/eigen/tridiagonal/sturm.hpp>

#include <algorithm>

namespace tesela::kernels {
namespace {

constexpr int threads = 128;
constexpr int rows_at_once = 1024;

template <class T>
struct Matrix {
  index_t n;
  const T *d, *squares;
};

/// Counts negative pivots of T - x I by the steps of sturm.cpp. All threads of the block count, each at a different
/// point, and read rows together.
template <class T>
__device__ index_t count_below(const Matrix<T>& t, T x) {
  __shared__ T d[rows_at_once], squares[rows_at_once];
  x += T(0);
  T q = 1;
  int negative = 0;
  for (index_t first = 0; first < t.n; first += rows_at_once) {
    const int rows = static_cast<int>(t.n - first < rows_at_once ? t.n - first : rows_at_once);
    __syncthreads();  // all threads have finished reading the previous rows
    for (int i = static_cast<int>(threadIdx.x); i < rows; i += threads) {
      d[i] = t.d[first + i];
      squares[i] = t.squares[first + i];
    }
    __syncthreads();
#pragma unroll 4
    for (int i = 0; i < rows; ++i) {
      q = squares[i] == T(0) ? d[i] - x : (d[i] - x) - squares[i] / q;
      negative += q < T(0) ? 1 : 0;
    }
  }
  return negative;
}

template <class T>
__global__ void count_kernel(Matrix<T> t, index_t points, const T* x, index_t* counts) {
  const index_t k = blockIdx.x * index_t{threads} + threadIdx.x, mine = k < points ? k : points - 1;
  const index_t below = count_below(t, x[mine]);
  if (k < points) counts[k] = below;
}

/// Bisects with 2^levels lanes per value, or one lane if levels = 1. They count at all middles that `levels` halvings
/// may reach, lane l at number l + 1 in a heap's order; the counts then determine these halvings.
template <class T>
__global__ void bisect_kernel(Matrix<T> t, index_t count, const index_t* wanted, T* lows, T* highs, int halvings,
                              int levels) {
  const int lanes = levels == 1 ? 1 : 1 << levels, lane = static_cast<int>(threadIdx.x) % lanes,
            node = lane + 1 < 1 << levels ? lane + 1 : 1, depth = 31 - __clz(node);
  const index_t k = (blockIdx.x * index_t{threads} + threadIdx.x) / lanes, mine = k < count ? k : count - 1,
                number = wanted[mine];
  T low = lows[mine], high = highs[mine];
  for (int done = 0; done < halvings; done += levels) {
    T a = low, b = high;
    for (int bit = depth - 1; bit >= 0; --bit) ((node >> bit & 1) != 0 ? a : b) = (a + b) / 2;
    const bool upwards = count_below(t, (a + b) / 2) <= number;
    const unsigned votes = __ballot_sync(0xffffffffu, upwards) >> (threadIdx.x % 32 - static_cast<unsigned>(lane));
    for (int at = 1, h = 0; h < levels && done + h < halvings; ++h) {
      const bool up = (votes >> (at - 1) & 1) != 0;
      (up ? low : high) = (low + high) / 2;
      at = 2 * at + (up ? 1 : 0);
    }
  }
  if (k < count && lane == 0) lows[k] = low, highs[k] = high;
}

/// Returns the halvings at a time: the most for which the GPU still runs all threads at full speed.
int levels_for(index_t count) {
  constexpr index_t enough = 1 << 16;
  int levels = 5;
  while (levels > 1 && count << levels > enough) --levels;
  return levels;
}

}  // namespace

template <class T>
void SturmCount<T>::cuda(CudaContext& context, const Args&, In<T> t, In<T> points, Out<index_t> counts) {
  count_kernel<T><<<static_cast<unsigned>(ceil_div(points.rows, threads)), threads, 0, context.stream()>>>(
      {t.rows, &t(0, 0), &t(0, 1)}, points.rows, points.data, counts.data);
}

template <class T>
void SturmBisect<T>::cuda(CudaContext& context, const Args& args, In<T> t, In<index_t> wanted, InOut<T> intervals) {
  const int levels = levels_for(wanted.rows);
  const index_t lanes = levels == 1 ? 1 : index_t{1} << levels;
  bisect_kernel<T><<<static_cast<unsigned>(ceil_div(lanes * wanted.rows, threads)), threads, 0, context.stream()>>>(
      {t.rows, &t(0, 0), &t(0, 1)}, wanted.rows, wanted.data, &intervals(0, 0), &intervals(0, 1), args.halvings,
      levels);
}

TESELA_CUDA_FOR_REALS(SturmCount, SturmBisect)

}  // namespace tesela::kernels
