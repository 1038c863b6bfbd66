#include <tesela/codelets/mimo/internal/gpu_detector_launches.hpp>
#include <tesela/codelets/mimo/internal/linear_decisions_body.hpp>

namespace tesela::kernels::mimo {
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

}  // namespace

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

template void launch_linear(const DetectionBatch<float>&, CUstream_st*);
template void launch_linear(const DetectionBatch<double>&, CUstream_st*);

}  // namespace tesela::kernels::mimo
