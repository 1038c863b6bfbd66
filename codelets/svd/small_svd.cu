#include <tesela/codelets/svd/internal/small_svd_team.cuh>
#include <tesela/codelets/svd/small_svd.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace small_svd {
namespace {

/// Matrices A of size m x n, or A^T if `transposed`.
template <class T>
struct Batch {
  int m, n;
  bool transposed;
  index_t columns, tall_columns;  // of a matrix of A, and of a result's tall side
  Block<const T> a;
  Block<T> values, tall, small;  // tall: the side with m rows
  Block<int> info;
  T* room;  // for the matrices if they do not fit into shared memory

  __device__ const T* at(index_t k, int i, int j) const {
    return a.data + k * columns * a.ld + (transposed ? j + i * a.ld : i + j * a.ld);
  }
};

template <class T>
__device__ T& entry(const Block<T>& block, index_t i, index_t j) {
  return block.data[i + j * block.ld];
}

__host__ __device__ constexpr int odd(int n) { return n | 1; }

/// Numbers of T that a team needs, without the matrix, and integers as numbers of T.
template <class T>
constexpr int team_numbers(int m, int n, bool vectors) {
  return (vectors ? 3 : 2) * n * odd(n) + 5 * n + m + 16 +
         static_cast<int>(ceil_div((m + 3 * n) * index_t{sizeof(int)}, index_t{sizeof(T)}));
}

/// Arrays of a team.
template <class T>
struct Memory {
  Numbers<T> a, second, x, turned;
  T *tau, *tau2, *squares, *values, *work, *sizes, *partial;
  int *rows, *cols, *order;
  bool* live;

  __device__ Memory(T* shared, T* room, int m, int n, bool vectors) {
    const auto take = [&](int count) {
      T* const mine = shared;
      shared += count;
      return mine;
    };
    partial = take(16);
    a = {room != nullptr ? room : take(n * odd(m)), odd(m)};
    second = {take(n * odd(n)), odd(n)}, x = {take(n * odd(n)), odd(n)};
    turned = {vectors ? take(n * odd(n)) : nullptr, odd(n)};
    tau = take(n), tau2 = take(n), squares = take(n), values = take(n), work = take(n), sizes = take(m);
    rows = reinterpret_cast<int*>(shared);
    cols = rows + m, order = cols + n;
    live = reinterpret_cast<bool*>(order + n);
  }
};

/// Loads a matrix, its rows in descending order of their largest elements, times 2^shift, so that squares of small
/// numbers do not underflow. Returns 0, or info for the first element that is not finite.
template <class T, class Threads>
__device__ int load(Threads& team, const Batch<T>& b, index_t k, bool present, const Memory<T>& memory, int& shift) {
  constexpr int work_exponent = std::numeric_limits<T>::max_exponent * 3 / 8;
  T most = 0, bad = 0;  // bad: elements from the first one on that is not finite; exact in float
  for (int i = team.rank; i < b.m; i += Threads::threads) {
    T largest = 0;
    for (int j = 0; present && j < b.n; ++j) {
      const T size = fabs(*b.at(k, i, j));
      if (isfinite(size))
        largest = Larger()(largest, size);
      else
        bad = Larger()(bad, static_cast<T>(b.m * b.n - (b.transposed ? j + i * b.n : i + j * b.m)));
    }
    memory.sizes[i] = largest;
    most = Larger()(most, largest);
  }
  most = team.over(most, Larger());
  bad = team.over(bad, Larger());
  team.sync();
  for (int i = team.rank; i < b.m; i += Threads::threads) {
    int place = 0;
    for (int l = 0; l < b.m; ++l)
      place += memory.sizes[l] > memory.sizes[i] || (memory.sizes[l] == memory.sizes[i] && l < i) ? 1 : 0;
    memory.rows[place] = i;
  }
  team.sync();
  shift = most > 0 ? work_exponent - ilogb(most) : 0;
  const T first = ldexp(T(1), shift / 2), second = ldexp(T(1), shift - shift / 2);  // 2^shift may exceed T
  const bool fine = present && bad == 0;
  for (int j = 0; j < b.n; ++j)
    for (int i = team.rank; i < b.m; i += Threads::threads)
      memory.a(i, j) = fine ? *b.at(k, memory.rows[i], j) * first * second : T(0);
  for (int j = team.rank; j < b.n; j += Threads::threads) memory.cols[j] = j;
  team.sync();
  return bad == 0 ? 0 : -(1 + b.m * b.n - static_cast<int>(bad));
}

/// Sets X to R^T.
template <class T, class Threads>
__device__ void take_lower(Threads& team, int n, const Numbers<T>& r, const Numbers<T>& x) {
  for (int at = team.rank; at < n * n; at += Threads::threads) {
    const int i = at % n, j = at / n;
    x(i, j) = i < j ? T(0) : r(j, i);
  }
  team.sync();
}

/// Writes the vectors of matrix k, sorted.
template <class T, class Threads>
__device__ void store_vectors(Threads& team, const Batch<T>& b, index_t k, const Memory<T>& memory,
                              const TeamQr<T, Threads>& first, const TeamQr<T, Threads>& second) {
  const int m = b.m, n = b.n;
  second.multiply(memory.turned, n);
  const Numbers<T> small{b.small.data + k * n * b.small.ld, b.small.ld};
  for (int at = team.rank; at < n * n; at += Threads::threads) {
    const int i = at % n, r = at / n;
    small(memory.cols[i], r) = memory.turned(i, memory.order[r]);
  }
  const auto all = static_cast<int>(b.tall_columns);
  T* const tall = b.tall.data + k * b.tall_columns * b.tall.ld;
  const OrderedRows<T> out{tall, b.tall.ld, memory.rows};
  if (m == n) first.multiply(memory.x, n);
  for (int r = 0; r < all; ++r)
    for (int i = team.rank; i < m; i += Threads::threads)
      out(i, r) = r >= n ? T(i == r ? 1 : 0) : i < n ? memory.x(i, memory.order[r]) : T(0);
  team.sync();
  if (m > n) first.multiply(out, all);
}

template <class T, class Threads>
__device__ void solve(Threads& team, const Batch<T>& b, index_t k, bool present, const Memory<T>& memory,
                      bool vectors) {
  const int m = b.m, n = b.n;
  int shift = 0, info = load(team, b, k, present, memory, shift);
  const TeamQr<T, Threads> first{team, m, n, memory.a, memory.tau, memory.squares},
      second{team, n, n, memory.second, memory.tau2, memory.squares};
  first.factor(memory.cols);
  take_lower(team, n, memory.a, memory.second);
  second.factor(nullptr);
  take_lower(team, n, memory.second, memory.x);
  for (int at = team.rank; vectors && at < n * n; at += Threads::threads)
    memory.turned(at % n, at / n) = at % n == at / n ? T(1) : T(0);
  team.sync();
  if (!orthogonalize(team, n, memory.x, vectors, memory.turned) && info == 0) info = 1;

  const T least = sqrt(no_square<T>);
  bool incomplete = false;
  team.each_column(0, n, [&](int j) {
    T sum = 0;
    for (int i = team.lane; j >= 0 && i < n; i += Threads::lanes) sum += memory.x(i, j) * memory.x(i, j);
    const T value = sqrt(team.over_group(sum, Plus()));
    if (j < 0) return;
    const bool live = value > least;
    const T inverse = live ? 1 / value : T(0);
    for (int i = team.lane; vectors && i < n; i += Threads::lanes) memory.x(i, j) *= inverse;
    if (team.lane == 0) memory.values[j] = value, memory.live[j] = live;
    incomplete = incomplete || !live;
  });
  team.sync();
  if (vectors && team.any(incomplete)) complete(team, n, memory.x, memory.live, memory.work);
  for (int j = team.rank; j < n; j += Threads::threads) {
    int place = 0;
    for (int l = 0; l < n; ++l)
      place += memory.values[l] > memory.values[j] || (memory.values[l] == memory.values[j] && l < j) ? 1 : 0;
    memory.order[place] = j;
  }
  team.sync();
  constexpr T nan = not_a_number<T>;
  for (int r = team.rank; present && r < n; r += Threads::threads)
    entry(b.values, r, k) = info == 0 ? ldexp(memory.values[memory.order[r]], -shift) : nan;
  if (present && team.rank == 0) entry(b.info, 0, k) = info;
  if (!vectors) return;
  if (present && info == 0) return store_vectors(team, b, k, memory, first, second);
  const auto all = static_cast<int>(b.tall_columns);
  for (int e = team.rank; present && e < m * all; e += Threads::threads) entry(b.tall, e % m, k * all + e / m) = nan;
  for (int e = team.rank; present && e < n * n; e += Threads::threads) entry(b.small, e % n, k * n + e / n) = nan;
}

template <class T, int threads, int lanes>
__global__ void __launch_bounds__(threads == 32 ? 64 : threads) solve_kernel(Batch<T> batch, int numbers) {
  extern __shared__ double shared[];
  using Threads = Team<T, threads, lanes>;
  const auto team_of_block = static_cast<int>(threadIdx.x) / threads;
  const index_t k = index_t{blockIdx.x} * (blockDim.x / threads) + team_of_block;
  const bool present = k < batch.values.cols;
  T* const room = batch.room == nullptr ? nullptr : batch.room + (present ? k : 0) * batch.n * odd(batch.m);
  const bool vectors = batch.tall_columns > 0;
  const Memory<T> memory(reinterpret_cast<T*>(shared) + team_of_block * numbers, room, batch.m, batch.n, vectors);
  Threads team(memory.partial);
  if (threads == 32 && !present) return;
  solve(team, batch, k, present, memory, vectors);
}

template <class T, int threads, int lanes>
int launch(const Batch<T>& batch, CUstream_st* stream) {
  constexpr int block = threads == 32 ? 64 : threads, together = block / threads;
  const int numbers = team_numbers<T>(batch.m, batch.n, batch.tall_columns > 0) +
                      (batch.room == nullptr ? batch.n * odd(batch.m) : 0),
            bytes = static_cast<int>(sizeof(T)) * together * numbers;
  const auto kernel = solve_kernel<T, threads, lanes>;
  if (const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
      status != cudaSuccess)
    return static_cast<int>(status);
  kernel<<<static_cast<unsigned>(ceil_div(batch.values.cols, together)), block, static_cast<unsigned>(bytes), stream>>>(
      batch, numbers);
  return static_cast<int>(cudaGetLastError());
}

}  // namespace
}  // namespace small_svd

template <class T>
void SmallSvd<T>::cuda(CudaContext& context, const Args& args, In<T> a, Out<real_t<T>> values, Out<T> u, Out<T> v,
                       Out<int> info, Scratch<T> work) {
  const index_t rows = a.rows, columns = args.columns;
  const bool transposed = rows < columns;
  const auto m = static_cast<int>(std::max(rows, columns)), n = static_cast<int>(std::min(rows, columns));
  if (n == 0 || values.cols == 0) return;
  const bool outside = small_svd_work<T>({rows, columns}, 1).rows > 1;
  const small_svd::Batch<T> batch{m,
                                  n,
                                  transposed,
                                  columns,
                                  transposed ? args.v_columns : args.u_columns,
                                  a,
                                  values,
                                  transposed ? v : u,
                                  transposed ? u : v,
                                  info,
                                  outside ? work.data : nullptr};
  int status = 0;
  if (n <= 8)
    status = small_svd::launch<T, 32, 8>(batch, context.stream());
  else if (n <= 16)
    status = small_svd::launch<T, 32, 4>(batch, context.stream());
  else if (n <= 32)
    status = small_svd::launch<T, 64, 4>(batch, context.stream());
  else
    status = small_svd::launch<T, 256, 8>(batch, context.stream());
  context.check(status, "the launch of small_svd");
}

TESELA_CUDA_FOR_REALS(SmallSvd)

}  // namespace tesela::kernels
