#pragma once

#include <tesela/runtime/types.hpp>

#include <cuda_runtime_api.h>

#include <cooperative_groups.h>

// Orthogonalization of a few columns by all thread blocks of a GPU together, which keep the columns in their registers.
// A sweep over memory costs less than a tenth of the reads of cuBLAS's reductions. Internal to codelets/qr.

namespace tesela::kernels::internal {

inline constexpr int strip_width = 16, strip_threads = 256;

/// Rows per thread.
template <class T>
constexpr int strip_rows = 32 / static_cast<int>(sizeof(T));

/// Problem of one strip: A (rows x width) becomes Q, and r becomes R with zeros in the lower triangle. `sums` has room
/// for 2 strip_width numbers per block.
template <class T>
struct StripLaunch {
  T* a;
  index_t lda, rows;
  int width;
  T* r;
  index_t ldr;
  T* sums;
  int* broken;
  int number;  ///< of the first column, from 1
};

/// Sums over all threads of the GPU, with the same result in every block.
template <class T>
class GridSums {
 public:
  __device__ GridSums(T* sums, T (&lanes)[strip_width][strip_threads], T (&totals)[strip_width])
      : sums_(sums), lanes_(lanes), totals_(totals) {}

  __device__ void put(int j, T value) { lanes_[j][threadIdx.x] = value; }
  /// Reduces the sums 0 … count - 1 to `totals`; `join` adds or takes the maximum.
  template <class Join>
  __device__ void join(int count, Join join) {
    constexpr int part = strip_threads / strip_width;  // threads per sum
    const int j = static_cast<int>(threadIdx.x) / part, lane = static_cast<int>(threadIdx.x) % part;
    const auto shuffled = [&](T value) {
      for (int far = part / 2; far > 0; far /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, far));
      return value;
    };
    __syncthreads();
    T value = 0;
    for (int i = lane; i < strip_threads; i += part)
      if (j < count) value = join(value, lanes_[j][i]);
    value = shuffled(value);
    T* const here = sums_ + turn_ * gridDim.x * strip_width;  // in turn: other blocks may still read the last ones
    if (lane == 0) here[blockIdx.x * strip_width + j] = value;
    cooperative_groups::this_grid().sync();
    value = 0;
    for (unsigned block = lane; block < gridDim.x; block += part)
      value = join(value, __ldcg(here + block * strip_width + j));
    value = shuffled(value);
    if (lane == 0) totals_[j] = value;
    __syncthreads();
    turn_ ^= 1;
  }

 private:
  T* sums_;
  T (&lanes_)[strip_width][strip_threads];
  T (&totals_)[strip_width];
  int turn_ = 0;
};

/// Applies classical Gram-Schmidt twice, and once more if the second pass also removes a large part of a column.
/// Columns are first scaled by powers of two, so that their squares do not vanish.
template <class T>
__global__ void __launch_bounds__(strip_threads, 1) gram_schmidt_strip(StripLaunch<T> s) {
  constexpr int per = strip_rows<T>;
  __shared__ T lanes[strip_width][strip_threads];
  __shared__ T totals[strip_width], kept[strip_width];
  __shared__ int exponents[strip_width];
  GridSums<T> all(s.sums, lanes, totals);
  const auto add = [](T p, T q) { return p + q; };
  const auto larger = [](T p, T q) { return p < q ? q : p; };
  const index_t first = blockIdx.x * index_t{strip_threads} + threadIdx.x, step = gridDim.x * index_t{strip_threads};
  T x[per][strip_width];
#pragma unroll
  for (int j = 0; j < strip_width; ++j) {
    T most = 0;
#pragma unroll
    for (int p = 0; p < per; ++p) {
      const index_t i = first + p * step;
      x[p][j] = i < s.rows && j < s.width ? s.a[i + j * s.lda] : T(0);
      most = larger(most, fabs(x[p][j]));
    }
    all.put(j, most);
  }
  all.join(strip_width, larger);
  if (threadIdx.x < strip_width) {
    const T most = totals[threadIdx.x];
    exponents[threadIdx.x] = most > 0 && isfinite(most) ? ilogb(most) : 0;
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < strip_width; ++j)
#pragma unroll
    for (int p = 0; p < per; ++p) x[p][j] = scalbn(x[p][j], -exponents[j]);

  bool sound = true;
#pragma unroll
  for (int k = 0; k < strip_width; ++k) {
    if (k >= s.width || !sound) continue;
    if (threadIdx.x < strip_width) kept[threadIdx.x] = 0;
    T square = 0;
    for (int pass = 0; pass < 5; ++pass) {
#pragma unroll
      for (int j = 0; j <= k; ++j) {
        T sum = 0;
#pragma unroll
        for (int p = 0; p < per; ++p) sum += x[p][j] * x[p][k];
        all.put(j, sum);
      }
      all.join(k + 1, add);
      T lost = 0;
#pragma unroll
      for (int j = 0; j < k; ++j) {
        const T of_j = totals[j];
        lost += of_j * of_j;
#pragma unroll
        for (int p = 0; p < per; ++p) x[p][k] -= of_j * x[p][j];
      }
      const T whole = totals[k];
      if (threadIdx.x < k) kept[threadIdx.x] += totals[threadIdx.x];
      square = whole - lost;
      if (k == 0 || (pass > 0 && !(2 * lost > whole))) break;
    }
    sound = square > 0;
    const T norm = sqrt(square);
    if (sound) {
#pragma unroll
      for (int p = 0; p < per; ++p) x[p][k] /= norm;
    }
    if (blockIdx.x > 0) continue;
    if (threadIdx.x < k) s.r[threadIdx.x + k * s.ldr] = scalbn(kept[threadIdx.x], exponents[k]);
    if (threadIdx.x == k) s.r[k + k * s.ldr] = scalbn(norm, exponents[k]);
    if (threadIdx.x == 0 && !sound && *s.broken == 0) *s.broken = s.number + k;
  }
#pragma unroll
  for (int j = 0; j < strip_width; ++j)
#pragma unroll
    for (int p = 0; p < per; ++p) {
      const index_t i = first + p * step;
      if (i < s.rows && j < s.width) s.a[i + j * s.lda] = x[p][j];
    }
}

}  // namespace tesela::kernels::internal
