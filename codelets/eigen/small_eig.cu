#include <tesela/codelets/eigen/internal/small_eig_sweeps.cuh>
#include <tesela/codelets/eigen/small_eig.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace small_eig {
namespace {

template <class T>
struct Batch {
  Block<T> a, values;
  Block<int> info;
};

/// Sets order[k] to the position of the k-th smallest diagonal element.
template <class Team>
__device__ void sort(const Team& team, const typename Team::Number* d, int* order) {
  for (int r = 0; r < Team::rows; ++r) {
    const int i = team.row(r);
    if (i >= team.n) continue;
    int smaller = 0;
    for (int k = 0; k < team.n; ++k) smaller += d[k] < d[i] || (d[k] == d[i] && k < i) ? 1 : 0;
    order[smaller] = i;
  }
}

/// Writes the vectors over the matrix. Their largest components become positive, the first of equals.
template <class Team, class T>
__device__ void store_vectors(const Team& team, const int* order, T* sign, T* a, index_t lda, bool wanted) {
  for (int r = 0; r < Team::rows; ++r) {
    const int j = team.row(r);
    if (j >= team.n) continue;
    const T* const x = team.x + order[j] * team.ld;
    T largest = 0;
    for (int i = 0; i < team.n; ++i)
      if (fabs(x[i]) > fabs(largest)) largest = x[i];
    sign[j] = largest < 0 ? T(-1) : T(1);
  }
  team.sync();
  for (int j = 0; wanted && j < team.n; ++j) {
    const T* const x = team.x + order[j] * team.ld;
#pragma unroll
    for (int r = 0; r < Team::rows; ++r)
      if (const int i = team.row(r); i < team.n) a[i + j * lda] = sign[j] * x[i];
  }
}

/// Solves one matrix per team.
template <class T, int lanes, int rows, int warps, bool vectors>
__global__ void __launch_bounds__(32 * warps < 64 ? 64 : 32 * warps) solve(Batch<T> batch) {
  extern __shared__ double memory[];
  using Threads = Team<T, lanes, rows, warps>;
  Threads team(static_cast<int>(batch.a.rows), reinterpret_cast<T*>(memory));
  const int n = team.n;
  const index_t k = static_cast<index_t>(blockIdx.x) * (blockDim.x / Threads::threads) + threadIdx.x / Threads::threads;
  const bool present = k < batch.values.cols;
  T* const a = batch.a.data + k * n * batch.a.ld;
  int exponent = 0;
  int info = team.load(a, batch.a.ld, present, exponent);
  team.template reduce<vectors>();
  if constexpr (vectors) team.form_q();
  team.sync();
  team.part();
  const int broken = Sweeps<Threads, vectors>(team).run();
  if (info == 0) info = broken;
  team.sync();
  auto* const order = reinterpret_cast<int*>(team.w);
  sort(team, team.d, order);
  team.sync();
  const bool found = present && info == 0;
  for (int r = 0; present && r < rows; ++r)
    if (const int j = team.row(r); j < n)
      batch.values.data[j + k * batch.values.ld] = found ? ldexp(team.d[order[j]], exponent) : static_cast<T>(NAN);
  if constexpr (vectors) store_vectors(team, order, team.u, a, batch.a.ld, found);
  if (present && team.rank == 0) batch.info.data[k * batch.info.ld] = info;
}

template <class T, int lanes, int rows, int warps, bool vectors>
int launch(const Batch<T>& batch, CUstream_st* stream) {
  using Threads = Team<T, lanes, rows, warps>;
  // Two warps per block for small matrices, because a multiprocessor would run out of blocks otherwise.
  constexpr int threads = warps > 1 || lanes * rows > 16 ? 32 * warps : 64, together = threads / Threads::threads;
  const auto bytes = static_cast<int>(sizeof(T)) * together * Threads::numbers(static_cast<int>(batch.a.rows));
  const auto kernel = solve<T, lanes, rows, warps, vectors>;
  const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return static_cast<int>(status);
  kernel<<<static_cast<unsigned>(ceil_div(batch.values.cols, together)), threads, static_cast<unsigned>(bytes),
           stream>>>(batch);
  return 0;
}

template <class T, bool vectors>
int launch(const Batch<T>& batch, CUstream_st* stream) {
  const index_t n = batch.a.rows;
  if (n <= 8) return launch<T, 8, 1, 1, vectors>(batch, stream);
  if (n <= 16) return launch<T, 8, 2, 1, vectors>(batch, stream);
  if (n <= 32) return launch<T, 16, 2, 1, vectors>(batch, stream);
  if (n <= 64) return launch<T, 32, 2, 1, vectors>(batch, stream);
  return launch<T, 32, 1, 4, vectors>(batch, stream);
}

}  // namespace
}  // namespace small_eig

template <class T>
void SmallEig<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, Out<real_t<T>> values, Out<int> info) {
  const small_eig::Batch<T> batch{a, values, info};
  if (a.rows == 0 || values.cols == 0) return;
  context.check(args.vectors ? small_eig::launch<T, true>(batch, context.stream())
                             : small_eig::launch<T, false>(batch, context.stream()),
                "the launch of small_eig");
}

TESELA_CUDA_FOR_REALS(SmallEig)

}  // namespace tesela::kernels
