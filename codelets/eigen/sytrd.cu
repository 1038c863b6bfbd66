#include <tesela/codelets/eigen/internal/resident_sytrd.cuh>
#include <tesela/codelets/eigen/sytrd.hpp>
#include <tesela/codelets/support/internal/resident_blocks.cuh>

namespace tesela::kernels {
namespace {

template <class T, int C>
__global__ void __launch_bounds__(ResidentSytrd<T, C>::threads) sytrd_kernel(SytrdLaunch<T> launch) {
  extern __shared__ __align__(16) double memory[];
  using Reduction = ResidentSytrd<T, C>;
  Reduction(launch, *reinterpret_cast<typename Reduction::Shared*>(memory)).reduce();
}

int device_attribute(cudaDeviceAttr what) {
  int device = 0, value = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, what, device);
  return value;
}

/// `far` is memory for a matrix whose rows have the kernel's length.
template <class T, int C>
cudaError_t launch_of(SytrdLaunch<T> run, T* far, CUstream_st* stream) {
  using Reduction = ResidentSytrd<T, C>;
  constexpr int high = Reduction::high;
  const int processors = device_attribute(cudaDevAttrMultiProcessorCount),
            room = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
            whole = static_cast<int>(ceil_div(run.n, std::max(2 * C, high)));  // sufficient number of blocks
  for (int blocks = std::min(whole, processors);;) {
    run.chunks = std::max(Reduction::near, static_cast<int>(ceil_div(ceil_div(run.n, high), blocks)));
    const bool shared = Reduction::bytes(run.chunks, true) <= room;
    run.far = shared ? nullptr : far;
    const int bytes = Reduction::bytes(run.chunks, shared);
    cudaError_t error = cudaFuncSetAttribute(sytrd_kernel<T, C>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return error;
    const int most = resident_blocks(sytrd_kernel<T, C>, Reduction::threads, bytes, true);
    if (blocks > std::max(most, 1)) {
      blocks = std::max(most, 1);
      continue;
    }
    void* arguments[] = {&run};
    const auto grid = static_cast<unsigned>(blocks);
    const auto* const kernel = reinterpret_cast<const void*>(&sytrd_kernel<T, C>);
    // Cooperative launch, because the blocks wait for each other and must all run at once.
    return most == 0 ? cudaLaunchKernel(kernel, grid, Reduction::threads, arguments, bytes, stream)
                     : cudaLaunchCooperativeKernel(kernel, grid, Reduction::threads, arguments, bytes, stream);
  }
}

}  // namespace

template <class T>
void Sytrd<T>::cuda(CudaContext& context, const Args& args, In<T> a, InOut<T> band, Scratch<T> work,
                    std::span<const InOut<T>> reflectors) {
  const index_t n = a.rows;
  if (n == 0) return;
  SytrdLaunch<T> run{};
  if (n > largest_sytrd || reflectors.size() > 2 * run.most_blocks) {
    context.check(cudaErrorInvalidValue, "sytrd: the matrix is too large");
    return;
  }
  run.a = a.data, run.lda = a.ld, run.n = static_cast<int>(n);
  run.band = band.data, run.band_ld = band.ld;
  run.block = static_cast<int>(args.block);
  for (std::size_t i = 0; 2 * i < reflectors.size(); ++i) {
    const InOut<T>&v = reflectors[2 * i], &tau = reflectors[2 * i + 1];
    const index_t column = static_cast<index_t>(i) * args.block;
    run.reflectors[i] = {v.data - (column + 1) - column * v.ld, v.ld, tau.data - column * tau.ld, tau.ld};
  }
  run.rows = work.data, run.products = work.data + n * n;
  T* const far = run.products + n * n;
  context.check(cudaMemsetAsync(run.rows, 0xff, static_cast<std::size_t>(2 * n * n) * sizeof(T), context.stream()),
                "cudaMemset");
  const cudaError_t error = n <= 512    ? launch_of<T, 2>(run, far, context.stream())
                            : n <= 1024 ? launch_of<T, 4>(run, far, context.stream())
                                        : launch_of<T, 8>(run, far, context.stream());
  context.check(error, "sytrd");
}

TESELA_CUDA_FOR_REALS(Sytrd)

}  // namespace tesela::kernels
