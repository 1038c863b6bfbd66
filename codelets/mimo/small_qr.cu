#include <tesela/codelets/mimo/internal/small_qr_body.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace mimo {
namespace {

constexpr int threads = 64;

template <class F>
__global__ void __launch_bounds__(threads) factor(typename SmallQr<F>::Args args, Block<F> a, Block<F> b, Block<F> tau,
                                                  Block<int> order, Block<int> info, Block<F> work, index_t work_each) {
  const index_t k = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (k < info.cols) one_qr<F>(args, a, b, tau, order, info, work.data + k * work_each, k)();
}

}  // namespace
}  // namespace mimo

template <class F>
void SmallQr<F>::cuda(CudaContext& context, const Args& args, InOut<F> a, InOut<F> b, Out<F> tau, Out<int> order,
                      Out<int> info, Scratch<F> work) {
  if (info.cols == 0) return;
  mimo::factor<F><<<static_cast<unsigned>(ceil_div(info.cols, mimo::threads)), mimo::threads, 0, context.stream()>>>(
      args, a, b, tau, order, info, work, mimo::OneQr<typename mimo::NumberFor<F>::type>::work_size(a.rows, args.cols));
  context.check(static_cast<int>(cudaGetLastError()), "the launch of small_qr");
}

template decltype(SmallQr<float>::cuda) SmallQr<float>::cuda;
template decltype(SmallQr<double>::cuda) SmallQr<double>::cuda;
template decltype(SmallQr<std::complex<float>>::cuda) SmallQr<std::complex<float>>::cuda;
template decltype(SmallQr<std::complex<double>>::cuda) SmallQr<std::complex<double>>::cuda;

}  // namespace tesela::kernels
