#include <tesela/codelets/dense/factor_stages.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace {

constexpr int warps = 8;

/// Computes the entries of one stage, one warp per entry, from entries that earlier launches have finished.
template <class T>
__global__ void __launch_bounds__(32 * warps)
    stage_kernel(bool symmetric, StageEntries entries, T* a, index_t lda, double* stop) {
  if (*stop > 0) return;
  const index_t q = blockIdx.x * index_t{warps} + threadIdx.y;
  if (q >= entries.count) return;
  const index_t i = entries.row + q * entries.row_step, j = entries.column + q * entries.column_step;
  const index_t terms = i < j ? i : j;
  const T* const left = symmetric ? a + i * lda : a + i;
  const index_t step = symmetric ? 1 : lda;
  T sum = 0;
  for (index_t k = threadIdx.x; k < terms; k += 32) sum += left[k * step] * a[k + j * lda];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x > 0) return;
  T value = a[i + j * lda] - sum;
  if (i == j && (symmetric ? !(value > 0) : value == 0 || !isfinite(value)))
    *stop = static_cast<double>(i + 1);
  else if (symmetric)
    value = i == j ? sqrt(value) : value / a[i + i * lda];
  else if (i > j)
    value /= a[j + j * lda];
  a[i + j * lda] = value;
}

}  // namespace

template <class T>
void FactorStages<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<double> stop) {
  for (index_t stage = args.first; stage < args.end; ++stage) {
    const StageEntries entries = stage_entries(args.symmetric, a.cols, stage);
    if (entries.count > 0)
      stage_kernel<<<static_cast<unsigned>(ceil_div(entries.count, warps)), dim3(32, warps), 0, context.stream()>>>(
          args.symmetric, entries, a.data, a.ld, stop.data);
  }
  context.check(cudaGetLastError(), "factor_stages");
}

template void FactorStages<float>::cuda(CudaContext&, const Args&, InOut<float>, InOut<double>);
template void FactorStages<double>::cuda(CudaContext&, const Args&, InOut<double>, InOut<double>);

}  // namespace tesela::kernels
