#include <tesela/codelets/mimo/internal/device_warp.cuh>
#include <tesela/codelets/mimo/internal/small_qr_subwarp_body.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace mimo {
namespace {

constexpr int threads = 64, warps = 4;

template <class F>
__global__ void __launch_bounds__(threads) factor(typename SmallQr<F>::Args args, Block<F> a, Block<F> b, Block<F> tau,
                                                  Block<int> order, Block<int> info, Block<F> work, index_t work_each) {
  const index_t k = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (k < info.cols) one_qr<F>(args, a, b, tau, order, info, work.data + k * work_each, k)();
}

/// Blocks per multiprocessor: as many as leave a lane registers for its column and a reflector.
template <int S, class F>
inline constexpr int present = S * sizeof(F) <= 32    ? 8
                               : S * sizeof(F) <= 64  ? 6
                               : S * sizeof(F) <= 128 ? 4
                                                      : 2;

template <int S, class F, bool rotations>
__global__ void __launch_bounds__(warps* warp_lanes, present<S, F>)
    factor_by_lanes(typename SmallQr<F>::Args args, Block<F> a, Block<F> b, Block<F> tau, Block<int> order,
                    Block<int> info) {
  using N = typename NumberFor<F>::type;
  __shared__ __align__(16) unsigned char room[warps * shared_numbers_per_warp<S> * sizeof(N)];
  const int w = static_cast<int>(threadIdx.x) / warp_lanes;
  const index_t first = (static_cast<index_t>(blockIdx.x) * warps + w) * (warp_lanes / S);
  if (first >= info.cols) return;
  DeviceWarp warp;
  lane_qr<S, F, rotations>(warp, args, a, b, tau, order, info, first,
                           reinterpret_cast<N*>(room) + w * shared_numbers_per_warp<S>);
}

template <int S, class F>
void launch_lanes(CUstream_st* stream, const typename SmallQr<F>::Args& args, const Block<F>& a, const Block<F>& b,
                  const Block<F>& tau, const Block<int>& order, const Block<int>& info) {
  const index_t blocks = ceil_div(info.cols, static_cast<index_t>(warps * warp_lanes / S));
  auto* const kernel = args.rotations ? &factor_by_lanes<S, F, true> : &factor_by_lanes<S, F, false>;
  kernel<<<static_cast<unsigned>(blocks), warps * warp_lanes, 0, stream>>>(args, a, b, tau, order, info);
}

}  // namespace
}  // namespace mimo

template <class F>
void SmallQr<F>::cuda(CudaContext& context, const Args& args, InOut<F> a, InOut<F> b, Out<F> tau, Out<int> order,
                      Out<int> info, Scratch<F> work) {
  if (info.cols == 0) return;
  const index_t size = a.rows > args.cols ? a.rows : args.cols;
  if (!mimo::lanes_factor(args.order, a.rows, args.cols))
    mimo::factor<F><<<static_cast<unsigned>(ceil_div(info.cols, mimo::threads)), mimo::threads, 0, context.stream()>>>(
        args, a, b, tau, order, info, work,
        mimo::SmallQrMatrix<typename mimo::NumberFor<F>::type>::work_size(a.rows, args.cols));
  else if (size <= 4)
    mimo::launch_lanes<4, F>(context.stream(), args, a, b, tau, order, info);
  else if (size <= 8)
    mimo::launch_lanes<8, F>(context.stream(), args, a, b, tau, order, info);
  else
    mimo::launch_lanes<16, F>(context.stream(), args, a, b, tau, order, info);
  context.check(static_cast<int>(cudaGetLastError()), "the launch of small_qr");
}

TESELA_CUDA_FOR_NUMBERS(SmallQr)

}  // namespace tesela::kernels
