#include <tesela/codelets/mimo/internal/device_warp.cuh>
#include <tesela/codelets/mimo/internal/kbest_subwarp_body.hpp>
#include <tesela/codelets/mimo/internal/linear_decisions_body.hpp>

namespace tesela::kernels::mimo {
namespace {

/// Runs one warp per block.
template <int S, int G, class T>
__global__ void __launch_bounds__(warp_lanes) kbest_signals(DetectionBatch<T> all) {
  if (all.refused()) return;
  using Room = PathMemory<S, G, T>;
  __shared__ __align__(16) unsigned char memory[sizeof(Room)];
  DeviceWarp warp;
  SubwarpPaths<S, G, T, DeviceWarp> paths(warp, all, *reinterpret_cast<Room*>(memory));
  paths.run(static_cast<index_t>(blockIdx.x) * Room::signals);
}

template <int S, int G, class T>
void launch(const DetectionBatch<T>& all, CUstream_st* stream) {
  constexpr index_t together = PathMemory<S, G, T>::signals;
  kbest_signals<S, G><<<static_cast<unsigned>(ceil_div(all.signals, together)), warp_lanes, 0, stream>>>(all);
}

template <int S, class T>
void launch_by_paths(const DetectionBatch<T>& all, CUstream_st* stream) {
  if constexpr (sizeof(T) == 4 && S < 16) {
    if (all.keep <= 8) return launch<S, 8>(all, stream);
    if (all.keep <= 16) return launch<S, 16>(all, stream);
  }
  launch<S, warp_lanes>(all, stream);
}

}  // namespace

template <class T>
void launch_kbest(const DetectionBatch<T>& all, CUstream_st* stream) {
  const index_t size = all.view.antennas > all.view.streams ? all.view.antennas : all.view.streams;
  if (size <= 4)
    launch_by_paths<4>(all, stream);
  else if (size <= 8)
    launch_by_paths<8>(all, stream);
  else
    launch_by_paths<16>(all, stream);
}

TESELA_FUNCTIONS_FOR_REALS(launch_kbest)

}  // namespace tesela::kernels::mimo
