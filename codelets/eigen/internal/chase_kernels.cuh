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

/// Runs ChaseByPlaces. With D in registers, half as many thread blocks fit.
template <class T, int R, bool in_registers, BandKind kind>
__global__ void __launch_bounds__(BulgeHop<T, R>::threads, (in_registers ? 2 : 4) * (R == 64 ? 1 : 4))
    places_kernel(ChaseLaunch<T> launch) {
  extern __shared__ __align__(16) double memory[];
  using Chase = ChaseByPlaces<T, R, in_registers, kind>;
  Chase(launch, *reinterpret_cast<typename Chase::Shared*>(memory)).chase();
}

template <class T, int R, bool whole, BandKind kind>
cudaError_t chase_by_sweeps(const ChaseLaunch<T>& run, CUstream_st* stream) {
  using Chase = ChaseBySweeps<T, R, whole, kind>;
  constexpr int bytes = sizeof(typename Chase::Shared);
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
  static_assert(bytes <= 48 << 10);
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
