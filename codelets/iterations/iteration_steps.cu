#include <tesela/codelets/iterations/internal/block_team.cuh>
#include <tesela/codelets/iterations/internal/steps_inl.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

namespace tesela::kernels {
namespace iterations {
namespace {

constexpr int most_threads = 512;

/// Placement of the arrays: in shared memory as far as there is room, in the order of the requests; the others in
/// `work`, or in their original place.
template <class T>
struct Memory {
  char* shared;
  std::size_t left;
  T* work;
  __device__ T* fits(index_t count) {
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 15) / 16 * 16;
    if (bytes > left) return nullptr;
    T* const here = reinterpret_cast<T*>(shared);
    shared += bytes;
    left -= bytes;
    return here;
  }
  __device__ T* take(index_t count) {
    if (T* const here = fits(count)) return here;
    T* const there = work;
    work += (count + 1) / 2 * 2;  // rotations are read as pairs
    return there;
  }
};

/// Copies a block between global and shared memory.
template <class Team, class T>
__device__ void copy(const Team& team, index_t rows, index_t columns, const T* from, index_t ld_from, T* to,
                     index_t ld_to) {
  for (index_t j = team.group; j < columns; j += team.groups)
    for (index_t i = team.lane; i < rows; i += team.lanes) to[i + j * ld_to] = from[i + j * ld_from];
  team.sync();
}

/// A matrix that may be copied to shared memory for the work, and back.
template <class T>
struct Working {
  Block<T> home;
  T* data;
  index_t ld;
  template <class Team>
  __device__ Working(const Team& team, Memory<T>& memory, const Block<T>& block, index_t wanted_ld) : home(block) {
    data = memory.fits(block.cols * wanted_ld);
    ld = data != nullptr ? wanted_ld : block.ld;
    if (data == nullptr)
      data = block.data;
    else
      copy(team, block.rows, block.cols, home.data, home.ld, data, ld);
  }
  template <class Team>
  __device__ void give_back(const Team& team) const {
    if (data != home.data) copy(team, home.rows, home.cols, data, ld, home.data, home.ld);
  }
};

/// Copies the progress to where all threads see it. Returns false if nothing is left to do.
template <class Team>
__device__ bool begin(const Team& team, const IterationProgress* progress, index_t n, Shared& shared) {
  if (team.rank == 0) {
    shared.progress = *progress;
    if (shared.progress.active < 0) shared.progress.active = n;
  }
  team.sync();
  return !shared.progress.ended();
}

template <class T>
__global__ void __launch_bounds__(most_threads) qr_steps(typename QrSteps<T>::Args args, Block<T> d, Block<T> p,
                                                         IterationProgress* progress, T* work, std::size_t bytes) {
  extern __shared__ double memory[];
  __shared__ Shared shared;
  const BlockTeam<T, 32> team;
  const index_t n = d.cols;
  if (!begin(team, progress, n, shared)) return;
  const bool band = args.half_width >= 0;
  const index_t half = band ? args.half_width : larger(n - 1, index_t{0});
  Memory<T> room{reinterpret_cast<char*>(memory), bytes, work};
  const bool formed = args.factor != StepFactor::givens;
  Arrays<T> x{};
  x.largest = room.take(n);
  x.numbers = room.take(2 * n);
  x.ld = n | 1;
  const Working<T> working(team, room, d, band ? d.rows : n | 1);
  x.d = working.data + (band ? half : 0);
  x.stride = working.ld - (band ? 1 : 0);
  if (formed) {
    x.q = room.take((3 * n + (args.vectors ? p.rows : 0)) * x.ld);
  } else {
    x.rotations = reinterpret_cast<Rotation<T>*>(room.take(band ? 2 * half * n : n * larger(n - 1, index_t{1})));
  }
  Block<T> vectors = p;
  if (!args.vectors) vectors.rows = vectors.cols = 0;
  const Working<T> basis(team, room, vectors, vectors.rows | 1);
  x.p = basis.data;
  x.p_rows = vectors.rows;
  x.ldp = basis.ld;
  x.shared = &shared;
  qr_loop<BlockTeam<T, 32>, T>(team, args, half, x);
  team.sync();
  working.give_back(team);
  basis.give_back(team);
  if (team.rank == 0) *progress = shared.progress;
}

template <class T>
__global__ void __launch_bounds__(most_threads)
    lr_steps(typename LrSteps<T>::Args args, Block<T> d, IterationProgress* progress, T* work, std::size_t bytes) {
  extern __shared__ double memory[];
  __shared__ Shared shared;
  const BlockTeam<T, 32> team;
  const index_t n = d.cols;
  if (!begin(team, progress, n, shared)) return;
  Memory<T> room{reinterpret_cast<char*>(memory), bytes, work};
  Arrays<T> x{};
  x.largest = room.take(n);
  x.ld = n | 1;
  const Working<T> working(team, room, d, n | 1);
  x.d = working.data;
  x.stride = working.ld;
  x.q = room.take(n * x.ld);
  x.shared = &shared;
  lr_loop<BlockTeam<T, 32>, T>(team, args, n, x);
  team.sync();
  working.give_back(team);
  if (team.rank == 0) *progress = shared.progress;
}

constexpr unsigned threads_for(index_t n) { return n <= 16 ? 64 : n <= 32 ? 128 : n <= 64 ? 256 : most_threads; }

/// Returns the shared memory that a block may use on a multiprocessor, minus the kernel's static part, and at most
/// `wanted`.
template <class Kernel>
std::size_t shared_bytes(CudaContext& context, Kernel kernel, std::size_t wanted) {
  int device = 0, most = 0;
  if (!context.check(cudaGetDevice(&device), "cudaGetDevice")) return 0;
  if (!context.check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                     "cudaDeviceGetAttribute"))
    return 0;
  const std::size_t bytes = std::min(wanted, static_cast<std::size_t>(most) - 1024);
  context.check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                "the shared memory of an iteration's steps");
  return bytes;
}

}  // namespace
}  // namespace iterations

template <class T>
void QrSteps<T>::cuda(CudaContext& context, const Args& args, InOut<T> d, InOut<T> p, InOut<IterationProgress> progress,
                      Scratch<T> work) {
  const index_t n = d.cols;
  if (n == 0) return;
  const auto kernel = iterations::qr_steps<T>;
  const std::size_t wanted =
      sizeof(T) * static_cast<std::size_t>(work.rows * work.cols + d.rows * (n | 1) + (p.rows | 1) * p.cols) + 256;
  const std::size_t bytes = iterations::shared_bytes(context, kernel, wanted);
  kernel<<<1, iterations::threads_for(n), bytes, context.stream()>>>(args, d, p, progress.data, work.data, bytes);
  context.check(cudaGetLastError(), "the launch of qr_steps");
}

template <class T>
void LrSteps<T>::cuda(CudaContext& context, const Args& args, InOut<T> d, InOut<IterationProgress> progress,
                      Scratch<T> work) {
  const index_t n = d.cols;
  if (n == 0) return;
  const auto kernel = iterations::lr_steps<T>;
  const std::size_t wanted = sizeof(T) * static_cast<std::size_t>(work.rows * work.cols + n * (n | 1)) + 256;
  const std::size_t bytes = iterations::shared_bytes(context, kernel, wanted);
  kernel<<<1, iterations::threads_for(n), bytes, context.stream()>>>(args, d, progress.data, work.data, bytes);
  context.check(cudaGetLastError(), "the launch of lr_steps");
}

TESELA_CUDA_FOR_REALS(QrSteps, LrSteps)

}  // namespace tesela::kernels
