#include <tesela/codelets/mimo/detector.hpp>
#include <tesela/codelets/mimo/internal/device_warp.cuh>
#include <tesela/codelets/mimo/internal/linear_decisions_body.hpp>
#include <tesela/codelets/mimo/internal/nway_subwarp_body.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace mimo {
namespace {

/// As GpuSoftDetector's mmse.
constexpr int linear_threads = warp_lanes;
template <int S>
inline constexpr int linear_blocks = S <= 4   ? 16
                                     : S <= 8 ? 12
                                              : 8;

template <int S, class T>
__global__ void __launch_bounds__(linear_threads, linear_blocks<S>) linear_decisions(DetectionBatch<T> all) {
  const index_t k = static_cast<index_t>(blockIdx.x) * linear_threads + threadIdx.x;
  if (k < all.signals && !all.refused()) decide_linearly<S>(all, k);
}

template <class T>
void launch_linear(const DetectionBatch<T>& all, CUstream_st* stream) {
  const auto blocks = static_cast<unsigned>(ceil_div(all.signals, static_cast<index_t>(linear_threads)));
  if (all.lists.n <= 4)
    linear_decisions<4><<<blocks, linear_threads, 0, stream>>>(all);
  else if (all.lists.n <= 8)
    linear_decisions<8><<<blocks, linear_threads, 0, stream>>>(all);
  else
    linear_decisions<16><<<blocks, linear_threads, 0, stream>>>(all);
}

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
void launch_nway_of(const DetectionBatch<T>& all, CUstream_st* stream) {
  constexpr index_t together = SubwarpNway<S, T, DeviceWarp>::signals;
  nway_detect<S><<<static_cast<unsigned>(ceil_div(all.signals, together)), warp_lanes, 0, stream>>>(all);
}

template <class T>
void launch_nway(const DetectionBatch<T>& all, CUstream_st* stream) {
  if (all.lists.n <= 4)
    launch_nway_of<4>(all, stream);
  else if (all.lists.n <= 8)
    launch_nway_of<8>(all, stream);
  else
    launch_nway_of<16>(all, stream);
}

}  // namespace
}  // namespace mimo

template <class T>
void GpuDetector<T>::cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                          In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels,
                          Out<SearchReport> reports) {
  if (y.cols == 0) return;
  const auto n = static_cast<int>(args.streams);
  const bool nway = args.kind == MimoMethod::nway;
  const mimo::DetectionBatch<T> all{
      {h.rows, args.streams, reinterpret_cast<const mimo::Complex<T>*>(h.data), h.ld, columns.data, points.data},
      reinterpret_cast<const mimo::Complex<T>*>(y.data),
      y.ld,
      y.cols,
      args.coherence,
      labels.data,
      labels.ld,
      reports.data,
      reports.ld,
      {n, columns.data, points.data, columns.cols > args.streams},
      args.kind,
      args.order,
      args.up,
      nway && (args.keep == 0 || args.keep > n) ? n : static_cast<int>(args.keep),
      args.n0};
  mimo::find_not_finite<T>(context.stream(), h, y, reports);
  if (args.kind == MimoMethod::kbest)
    mimo::launch_kbest(all, context.stream());
  else if (nway)
    mimo::launch_nway(all, context.stream());
  else
    mimo::launch_linear(all, context.stream());
  context.check(static_cast<int>(cudaGetLastError()), "the launch of gpu_detector");
}

TESELA_CUDA_FOR_REALS(GpuDetector)

}  // namespace tesela::kernels
