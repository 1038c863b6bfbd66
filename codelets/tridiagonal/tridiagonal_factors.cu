#include <tesela/codelets/tridiagonal/internal/tridiagonal_factors_body.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_factors.hpp>

#include <algorithm>

namespace tesela::kernels {

using namespace tridiagonal;

namespace {

template <class T>
__global__ void factor_one(const T* dl, index_t dl_stride, const T* d, index_t d_stride, const T* du, index_t du_stride,
                           Factors<T> factors, int* kept, int* info) {
  *kept = *info = row_status(factor(dl, dl_stride, d, d_stride, du, du_stride, factors));
}

__device__ void report(int* info, index_t row) { atomicCAS(info, 0, row_status(row)); }

/// Returns whether the factorization failed; every solve then reports its status.
__device__ bool failed(const int* kept, int* info) {
  const int status = *kept;
  if (status != 0 && blockIdx.x == 0 && threadIdx.x == 0) report(info, status);
  return status != 0;
}

constexpr int row_threads = 128;
constexpr int batch = 16;  // rows that are loaded ahead

/// Solves with one thread per system if neighbours in memory belong to different systems.
template <class T>
__global__ void __launch_bounds__(row_threads)
    solve_in_rows(Factors<const T> factors, const int* kept, T* b, index_t ld, index_t systems, int* info) {
  if (failed(kept, info)) return;
  const index_t n = factors.n, s = blockIdx.x * index_t{row_threads} + threadIdx.x;
  if (s >= systems) return;
  T* const own = b + s;
  T values[batch];  // in registers: every index is a compile-time constant
  Down<T, T> down;
  for (index_t first = 0; first < n; first += batch) {
    const index_t count = n - first;
#pragma unroll
    for (int i = 0; i < batch; ++i) values[i] = i < count ? own[(first + i) * ld] : T(0);
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (i < count) down(factors, first + i, 1, [&](index_t) -> T& { return values[i]; });
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (i < count && first + i > 0) own[(first + i - 1) * ld] = values[i];
  }
  own[(n - 1) * ld] = down.current;
  Up<T, T> up;
  index_t strange = 0;
  for (index_t first = (n - 1) / batch * batch; first >= 0; first -= batch) {
    const index_t count = n - first;
#pragma unroll
    for (int i = 0; i < batch; ++i) values[i] = i < count ? own[(first + i) * ld] : T(0);
#pragma unroll
    for (int i = batch - 1; i >= 0; --i)
      if (i < count && up(factors, first + i, 1, [&](index_t) -> T& { return values[i]; }) != T(0) && strange == 0)
        strange = first + i + 1;
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (i < count) own[(first + i) * ld] = values[i];
  }
  if (strange > 0) report(info, strange + n * s);
}

constexpr int column_threads = 64, staged_rows = 32;

/// Solves with one thread per system if neighbours in memory are rows, which pass through shared memory in blocks.
template <class T>
__global__ void __launch_bounds__(column_threads)
    solve_in_columns(Factors<const T> factors, const int* kept, T* b, index_t ld, index_t systems, int* info) {
  if (failed(kept, info)) return;
  __shared__ T staged[column_threads][staged_rows + 1];
  const index_t n = factors.n, s0 = blockIdx.x * index_t{column_threads}, s = s0 + threadIdx.x;
  const int row = int(threadIdx.x) % staged_rows;
  const auto at = [&](index_t i) -> T& { return staged[threadIdx.x][i]; };
  const auto load = [&](index_t first, int count) {
    __syncthreads();
    for (int k = int(threadIdx.x) / staged_rows; k < column_threads; k += column_threads / staged_rows)
      staged[k][row] = row < count && s0 + k < systems ? b[first + row + (s0 + k) * ld] : T(0);
    __syncthreads();
  };
  const auto store = [&](index_t first, int from, int count) {
    __syncthreads();
    for (int k = int(threadIdx.x) / staged_rows; k < column_threads; k += column_threads / staged_rows)
      if (row >= from && row < count && s0 + k < systems) b[first + row + (s0 + k) * ld] = staged[k][row];
  };
  Down<T, T> down;
  for (index_t first = 0; first < n; first += staged_rows) {
    const int count = n - first < staged_rows ? int(n - first) : staged_rows;
    load(first, count);
    down(factors, first, count, at);
    store(first - 1, first == 0 ? 1 : 0, count);
  }
  if (s < systems) b[n - 1 + s * ld] = down.current;
  Up<T, T> up;
  index_t strange = 0;
  for (index_t first = (n - 1) / staged_rows * staged_rows; first >= 0; first -= staged_rows) {
    const int count = n - first < staged_rows ? int(n - first) : staged_rows;
    load(first, count);
    if (up(factors, first, count, at) != T(0))
      for (int i = count - 1; i >= 0 && strange == 0; --i)
        if (at(i) * T(0) != T(0)) strange = first + i + 1;
    store(first, 0, count);
  }
  if (s < systems && strange > 0) report(info, strange + n * s);
}

}  // namespace

template <class T>
void TridiagonalFactor<T>::cuda(CudaContext& context, const Args&, In<T> dl, In<T> d, In<T> du, Out<T> factors,
                                Out<int> kept, InOut<int> info) {
  const auto stride = [](const In<T>& band) { return band.cols == 1 ? index_t{1} : band.ld; };
  factor_one<<<1, 1, 0, context.stream()>>>(dl.data, stride(dl), d.data, stride(d), du.data, stride(du),
                                            Factors<T>{factors.data, factors.rows, factors.ld}, kept.data, info.data);
}

template <class T>
void TridiagonalFactoredSolve<T>::cuda(CudaContext& context, const Args& args, In<T> factors, In<int> kept, InOut<T> b,
                                       InOut<int> info) {
  const Factors<const T> whole{factors.data, factors.rows, factors.ld};
  const bool columns = args.systems == SystemsIn::columns;
  const index_t systems = columns ? b.cols : b.rows;
  const auto blocks = static_cast<unsigned>(ceil_div(systems, columns ? column_threads : row_threads));
  if (columns)
    solve_in_columns<<<blocks, column_threads, 0, context.stream()>>>(whole, kept.data, b.data, b.ld, systems,
                                                                      info.data);
  else
    solve_in_rows<<<blocks, row_threads, 0, context.stream()>>>(whole, kept.data, b.data, b.ld, systems, info.data);
}

TESELA_CUDA_FOR_REALS(TridiagonalFactor, TridiagonalFactoredSolve)

}  // namespace tesela::kernels
