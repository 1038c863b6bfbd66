#include <tesela/codelets/mimo/internal/device_warp.cuh>
#include <tesela/codelets/mimo/internal/gpu_detector_launches.hpp>
#include <tesela/codelets/mimo/internal/nway_subwarp_body.hpp>

namespace tesela::kernels::mimo {
namespace {

/// Blocks per multiprocessor: with eight streams, 168 registers per thread are as fast as more registers, and more
/// warps hide each other's waits.
template <int S>
inline constexpr int nway_blocks = S <= 8 ? 12 : 1;

/// Runs one warp per block.
template <int S, class T>
__global__ void __launch_bounds__(warp_lanes, nway_blocks<S>) nway_detect(DetectionBatch<T> all) {
  if (all.refused()) return;
  using Lanes = SubwarpNway<S, T, DeviceWarp>;
  __shared__ __align__(16) unsigned char rooms[Lanes::signals * sizeof(NwayMemory<S, T>)];
  DeviceWarp warp;
  Lanes lanes(warp, all, reinterpret_cast<NwayMemory<S, T>*>(rooms), static_cast<index_t>(blockIdx.x) * Lanes::signals);
  lanes.run();
}

template <int S, class T>
void launch(const DetectionBatch<T>& all, CUstream_st* stream) {
  constexpr index_t together = SubwarpNway<S, T, DeviceWarp>::signals;
  nway_detect<S><<<static_cast<unsigned>(ceil_div(all.signals, together)), warp_lanes, 0, stream>>>(all);
}

}  // namespace

template <class T>
void launch_nway(const DetectionBatch<T>& all, CUstream_st* stream) {
  if (all.lists.n <= 4)
    launch<4>(all, stream);
  else if (all.lists.n <= 8)
    launch<8>(all, stream);
  else
    launch<16>(all, stream);
}

template void launch_nway(const DetectionBatch<float>&, CUstream_st*);
template void launch_nway(const DetectionBatch<double>&, CUstream_st*);

}  // namespace tesela::kernels::mimo
