#pragma once

#include <tesela/codelets/eigen/internal/chase_by_places.cuh>
#include <tesela/codelets/eigen/internal/chase_by_sweeps.cuh>
#include <tesela/codelets/support/internal/resident_blocks.cuh>

#include <algorithm>

// Launches of the kernels that chase bulges on a GPU. Internal to codelets/eigen.

namespace tesela::kernels {

template <class T, int R, bool whole, BandKind kind>
__global__ void __launch_bounds__(BulgeHop<T, R>::threads) sweeps_kernel(ChaseLaunch<T> launch) {
  extern __shared__ __align__(16) double memory[];
  using Chase = ChaseBySweeps<T, R, whole, kind>;
  Chase(launch, *reinterpret_cast<typename Chase::Shared*>(memory)).chase();
}

/// Thread blocks of ChaseByPlaces per multiprocessor. With D in registers, or with numbers of 16 bytes, half as many
/// fit.
template <class T, int R, bool in_registers>
constexpr int places_at_once = (in_registers ? 2 : 4) * (R == 64 ? 1 : 4) / (sizeof(T) == 16 ? 2 : 1);

template <class T, int R, bool in_registers, BandKind kind>
__global__ void __launch_bounds__(BulgeHop<T, R>::threads, places_at_once<T, R, in_registers>)
    places_kernel(ChaseLaunch<T> launch) {
  extern __shared__ __align__(16) double memory[];
  using Chase = ChaseByPlaces<T, R, in_registers, kind>;
  Chase(launch, *reinterpret_cast<typename Chase::Shared*>(memory)).chase();
}

/// Shared memory of a block on GPUs with little of it.
constexpr int most_shared_bytes = 99 << 10;

/// Allows a kernel more than the usual 48 KiB of shared memory.
template <class Kernel>
cudaError_t allow_shared_memory(Kernel* kernel, int bytes) {
  if (bytes <= 48 << 10) return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

template <class T, int R, bool whole, BandKind kind>
cudaError_t chase_by_sweeps(const ChaseLaunch<T>& run, CUstream_st* stream) {
  using Chase = ChaseBySweeps<T, R, whole, kind>;
  constexpr int bytes = sizeof(typename Chase::Shared);
  static_assert(bytes <= most_shared_bytes);
  if (const cudaError_t error = allow_shared_memory(sweeps_kernel<T, R, whole, kind>, bytes); error != cudaSuccess)
    return error;
  static const int most = resident_blocks(sweeps_kernel<T, R, whole, kind>, Chase::threads, bytes, false);
  const auto sweeps = static_cast<int>(run.plan.size(run.group));
  if (const cudaError_t error =
          cudaMemsetAsync(run.messages, 0, static_cast<std::size_t>(sweeps + 1) * sizeof(int), stream);
      error != cudaSuccess)
    return error;
  sweeps_kernel<T, R, whole, kind>
      <<<static_cast<unsigned>(std::clamp(most, 1, sweeps)), Chase::threads, bytes, stream>>>(run);
  return cudaGetLastError();
}

/// Returns cudaErrorCooperativeLaunchTooLarge if the device cannot run all thread blocks at once.
template <class T, int R, bool in_registers, BandKind kind>
cudaError_t chase_by_places(ChaseLaunch<T> run, CUstream_st* stream) {
  using Chase = ChaseByPlaces<T, R, in_registers, kind>;
  constexpr int bytes = sizeof(typename Chase::Shared);
  static_assert(bytes <= most_shared_bytes);
  if (const cudaError_t error = allow_shared_memory(places_kernel<T, R, in_registers, kind>, bytes);
      error != cudaSuccess)
    return error;
  static const int most = resident_blocks(places_kernel<T, R, in_registers, kind>, Chase::threads, bytes, true);
  const index_t places = run.plan.last_hop(run.plan.first_sweep(run.group)) + 1;
  if (places > most) return cudaErrorCooperativeLaunchTooLarge;
  if (const cudaError_t error =
          cudaMemsetAsync(run.messages, 0, static_cast<std::size_t>(places) * sizeof(Letters<T, R>), stream);
      error != cudaSuccess)
    return error;
  void* arguments[] = {&run};
  const dim3 grid(static_cast<unsigned>(places)), block(Chase::threads);
  // Cooperative launch, because the blocks wait for each other and must all run at once.
  const cudaError_t error = cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(&places_kernel<T, R, in_registers, kind>), grid, block, arguments, bytes, stream);
  if (error == cudaErrorCooperativeLaunchTooLarge) cudaGetLastError();  // another kernel follows: clear the error
  return error;
}

template <class T, int R, BandKind kind>
cudaError_t launch_chase_of(const ChaseLaunch<T>& run, bool one_tile, CUstream_st* stream) {
  if (one_tile && run.plan.whole())
    for (const bool in_registers : {true, false}) {
      const cudaError_t error = in_registers ? chase_by_places<T, R, true, kind>(run, stream)
                                             : chase_by_places<T, R, false, kind>(run, stream);
      if (error != cudaErrorCooperativeLaunchTooLarge) return error;
    }
  return one_tile ? chase_by_sweeps<T, R, true, kind>(run, stream) : chase_by_sweeps<T, R, false, kind>(run, stream);
}

template <BandKind kind, class T>
cudaError_t launch_chase(const ChaseLaunch<T>& run, bool one_tile, CUstream_st* stream) {
  return run.plan.b <= 32 ? launch_chase_of<T, 32, kind>(run, one_tile, stream)
                          : launch_chase_of<T, 64, kind>(run, one_tile, stream);
}

}  // namespace tesela::kernels
