#pragma once

#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <algorithm>
#include <cmath>

// L L^H of a Hermitian tile or L D L^T of a symmetric one on a GPU, without pivoting; only the lower triangle is read.
// One thread block factors each diagonal square in its registers, one thread solves each row below, and products do
// everything else. Internal to codelets/.

namespace tesela::kernels::factor {

constexpr int width = 64;  // of a panel
template <class T>
constexpr int width_of = sizeof(T) == 16 ? 32 : width;  // the same for T: a thread has registers for one row
constexpr index_t outer = 4 * width;    // number of columns after which the part to the right is updated
constexpr index_t most_columns = 1024;  // of a product that updates, so that little is computed above the diagonal

/// Returns whether products with 1 / pivot are as accurate as quotients.
template <class T>
__device__ bool divides(T inverse) {
  constexpr T least = sizeof(T) == 8 ? T(2.2250738585072014e-308) : T(1.1754943508222875e-38f);
  return isfinite(inverse) && fabs(inverse) >= least;
}

constexpr int edge = 16, per_thread = width / edge;
template <class T>
constexpr int per_thread_of = width_of<T> / edge;

/// Adds to mass(i) the sum of l(i, k)^2 |d(k)| for the rows of a factored square.
template <class T>
__device__ void add_mass(int w, const T (&s)[per_thread][per_thread], double* mass) {
  __shared__ T square[width][width + 1];
  const int x = threadIdx.x % edge, y = threadIdx.x / edge, i = threadIdx.x;
  for (int q = 0; q < per_thread; ++q)
    for (int p = 0; p < per_thread; ++p) square[y + edge * q][x + edge * p] = s[p][q];
  __syncthreads();
  if (i >= w) return;
  double sum = fabs(static_cast<double>(square[i][i]));
  for (int k = 0; k < i; ++k) {
    const auto l = static_cast<double>(square[k][i]);
    sum += fabs(l * static_cast<double>(square[k][k])) * fabs(l);
  }
  mass[i] += sum;
}

/// Factors the w x w square A, w <= width, in place, by a block of 256 threads, each of which keeps every sixteenth row
/// and column.
///
/// Cholesky (`root`): `said` becomes the order of the leading minor that is not positive or not finite; A's first row
/// is row `first` of the matrix. If `said` is already positive, nothing happens. Otherwise `said` is the mass of A's
/// rows. For several matrices, `stride` elements apart, said[y] belongs to the y-th.
template <class T, bool root>
__global__ void __launch_bounds__(edge* edge)
    square_kernel(int w, T* a, index_t lda, index_t first, double* said, index_t stride) {
  using R = real_t<T>;
  constexpr int width = width_of<T>, per_thread = per_thread_of<T>;
  __shared__ T columns[2][width];
  a += blockIdx.y * stride;
  said += blockIdx.y;
  if (root && *said > 0) return;
  const int x = threadIdx.x % edge, y = threadIdx.x / edge;
  T s[per_thread][per_thread];
  for (int q = 0; q < per_thread; ++q)
    for (int p = 0; p < per_thread; ++p) {
      const int i = x + edge * p, j = y + edge * q;
      s[p][q] = i < w && j <= i ? a[i + j * lda] : T(i == j ? 1 : 0);
    }
#pragma unroll
  for (int q = 0; q < per_thread; ++q)
    for (int t = 0; t < edge; ++t) {
      const int k = q * edge + t;
      T* const column = columns[t % 2];
      if (y == t)
        for (int p = 0; p < per_thread; ++p) column[x + edge * p] = s[p][q];
      __syncthreads();
      const R pivot = real_part(column[k]);
      if (root && !(pivot > 0 && isfinite(pivot))) {
        if (threadIdx.x == 0) *said = static_cast<double>(first + k + 1);
        return;
      }
      const R inverse = root ? rsqrt(pivot) : 1 / pivot;
      const auto eliminate = [&](const auto& scaled) {
        T left[per_thread];
        for (int p = 0; p < per_thread; ++p) left[p] = root ? scaled(column[x + edge * p]) : column[x + edge * p];
#pragma unroll
        for (int r = q; r < per_thread; ++r) {
          if (r == q && y <= t) continue;
          const T right = conj(scaled(column[y + edge * r]));
          for (int p = 0; p < per_thread; ++p) s[p][r] = minus_product(s[p][r], left[p], right);
        }
        if (y == t)
          for (int p = 0; p < per_thread; ++p)
            if (x + edge * p == k && (!root || is_complex<T>))
              s[p][q] = T(root ? pivot * inverse : pivot);
            else
              s[p][q] = scaled(column[x + edge * p]);
      };
      if (root || divides(inverse))
        eliminate([&](T value) { return value * inverse; });
      else if constexpr (!root)
        eliminate([&](T value) { return value / pivot; });
    }
  for (int q = 0; q < per_thread; ++q)
    for (int p = 0; p < per_thread; ++p) {
      const int i = x + edge * p, j = y + edge * q;
      if (i < w && j <= i) a[i + j * lda] = s[p][q];
    }
  if constexpr (!root) add_mass(w, s, said);
}

constexpr int rows_at_once = 128;

/// Replaces the m rows of A below a factored square L by A L^-H, one thread per row. For L D L^T the transposed result
/// is written to `above`, A becomes the result times D^-1, and the rows' mass grows.
template <class T, bool root>
__global__ void __launch_bounds__(rows_at_once)
    rows_kernel(index_t m, int w, const T* square, T* a, index_t lda, T* above, double* mass, index_t stride) {
  using R = real_t<T>;
  constexpr int width = width_of<T>;
  __shared__ __align__(16) T l[width][width];
  __shared__ R pivots[width], inverses[width];
  square += blockIdx.y * stride;
  for (int e = threadIdx.x; e < width * width; e += rows_at_once) {
    const int k = e / width, j = e % width;
    l[k][j] = j < w && k < j ? conj(square[j + k * lda]) : T(0);
  }
  bool good = true;
  if (threadIdx.x < width) {
    const int k = threadIdx.x;
    pivots[k] = k < w ? real_part(square[k + k * lda]) : R(1);
    inverses[k] = 1 / pivots[k];
    good = divides(inverses[k]);
  }
  [[maybe_unused]] const bool products = __syncthreads_and(good);
  const index_t row = blockIdx.x * index_t{rows_at_once} + threadIdx.x;
  if (row >= m) return;
  a += row + blockIdx.y * stride;
  T x[width];
#pragma unroll
  for (int j = 0; j < width; ++j) x[j] = j < w ? a[j * lda] : T(0);
#pragma unroll
  for (int k = 0; k < width; ++k) {
    if (root) x[k] *= inverses[k];
#pragma unroll
    for (int j = k + 1; j < width; ++j) x[j] = minus_product(x[j], x[k], l[k][j]);
  }
  if constexpr (root) {
#pragma unroll
    for (int j = 0; j < width; ++j)
      if (j < w) a[j * lda] = x[j];
  } else {
    double sum = 0;
#pragma unroll
    for (int j = 0; j < width; ++j) {
      if (j >= w) continue;
      above[j + row * lda] = x[j];
      const T element = products ? x[j] * inverses[j] : x[j] / pivots[j];
      a[j * lda] = element;
      sum += fabs(static_cast<double>(x[j]) * static_cast<double>(element));
    }
    mass[row] += sum;
  }
}

/// Factors A = L L^H or L D L^T for the n x n matrix A; `said` is as in square_kernel, `first` belongs to A's first
/// row. For L D L^T the part above the diagonal is work space.
template <class T, bool root>
void tile(const CudaContext& context, index_t n, T* a, index_t lda, index_t first, double* said) {
  const auto at = [&](index_t i, index_t j) { return a + i + j * lda; };
  const auto update = [&](index_t row, index_t end, index_t from, index_t k) {  // columns row … end, rows from `row` on
    if (row >= end || row >= n) return;
    const T* const right = root ? at(row, from) : at(from, row);
    context.check(cublas::gemm<T>(context.cublas(), Op::none, root ? adjoint<T> : Op::none, n - row, end - row, k, -1,
                                  at(row, from), lda, right, lda, 1, at(row, row), lda),
                  "cublas gemm");
  };
  for (index_t begin = 0; begin < n; begin += outer) {
    const index_t end = std::min(n, begin + outer);
    for (index_t c = begin; c < end; c += width_of<T>) {
      const auto w = static_cast<int>(std::min<index_t>(width_of<T>, end - c));
      const index_t next = c + w;
      device_t<T>* const square = device_pointer(at(c, c));
      square_kernel<device_t<T>, root>
          <<<1, edge * edge, 0, context.stream()>>>(w, square, lda, first + c, root ? said : said + c, 0);
      if (next < n)
        rows_kernel<device_t<T>, root>
            <<<static_cast<unsigned>(ceil_div(n - next, rows_at_once)), rows_at_once, 0, context.stream()>>>(
                n - next, w, square, square + w, lda, root ? nullptr : device_pointer(at(c, next)),
                root ? nullptr : said + next, 0);
      context.check(cudaGetLastError(), "factor");
      update(next, end, c, w);
    }
    for (index_t j = end; j < n; j += most_columns) update(j, std::min(n, j + most_columns), begin, end - begin);
  }
}

/// Factors A = L L^T for `count` matrices of one order, `stride` elements apart; said[i], initially 0, becomes the
/// order of matrix i's leading minor that is not positive. The part above L's diagonal is invalid then.
template <class T>
void tiles(const CudaContext& context, index_t n, index_t count, T* a, index_t lda, index_t stride, double* said) {
  const auto at = [&](index_t i, index_t j) { return a + i + j * lda; };
  const auto matrices = static_cast<unsigned>(count);
  for (index_t c = 0; c < n; c += width) {
    const auto w = static_cast<int>(std::min<index_t>(width, n - c));
    const index_t next = c + w, rest = n - next;
    square_kernel<T, true><<<dim3(1, matrices), edge * edge, 0, context.stream()>>>(w, at(c, c), lda, c, said, stride);
    if (rest == 0) continue;
    rows_kernel<T, true>
        <<<dim3(static_cast<unsigned>(ceil_div(rest, rows_at_once)), matrices), rows_at_once, 0, context.stream()>>>(
            rest, w, at(c, c), at(next, c), lda, nullptr, nullptr, stride);
    context.check(cublas::gemm_batch<T>(context.cublas(), Op::none, Op::transpose, rest, rest, w, -1, at(next, c), lda,
                                        stride, at(next, c), lda, stride, 1, at(next, next), lda, stride, count),
                  "cublas gemm of several matrices");
  }
  context.check(cudaGetLastError(), "factor");
}

}  // namespace tesela::kernels::factor
