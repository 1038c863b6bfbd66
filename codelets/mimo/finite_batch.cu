#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/reflectors_body.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

namespace tesela::kernels::mimo {
namespace {

constexpr int threads = 256;

/// Returns whether a thread's share of the numbers is finite.
template <class T>
__device__ bool finite_share(const Complex<T>* a, index_t rows, index_t cols, index_t ld) {
  const index_t step = static_cast<index_t>(gridDim.x) * threads;
  T sum = 0;
  for (index_t e = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x; e < rows * cols; e += step) {
    const Complex<T> x = a[ld == rows ? e : e % rows + e / rows * ld];
    sum += x.re * 0 + x.im * 0;
  }
  return sum == 0;
}

template <class T>
__global__ void __launch_bounds__(threads)
    look(const Complex<T>* h, index_t antennas, index_t columns, index_t ld_h, const Complex<T>* y, index_t signals,
         index_t ld_y, SearchReport* reports) {
  const bool finite = finite_share(h, antennas, columns, ld_h) && finite_share(y, antennas, signals, ld_y);
  if (!finite) atomicOr(&reports->flags, SearchReport::not_finite);
}

}  // namespace

template <class T>
void find_not_finite(CUstream_st* stream, const Block<const std::complex<T>>& h, const Block<const std::complex<T>>& y,
                     const Block<SearchReport>& reports) {
  constexpr index_t each = 4, most = 2048;  // numbers per thread; blocks
  cudaMemsetAsync(reports.data, 0, sizeof(SearchReport), stream);
  const index_t blocks = ceil_div(y.rows * std::max(h.cols, y.cols), threads * each);
  look<T><<<static_cast<unsigned>(std::min(std::max<index_t>(blocks, 1), most)), threads, 0, stream>>>(
      reinterpret_cast<const Complex<T>*>(h.data), h.rows, h.cols, h.ld, reinterpret_cast<const Complex<T>*>(y.data),
      y.cols, y.ld, reports.data);
}

template void find_not_finite(CUstream_st*, const Block<const std::complex<float>>&,
                              const Block<const std::complex<float>>&, const Block<SearchReport>&);
template void find_not_finite(CUstream_st*, const Block<const std::complex<double>>&,
                              const Block<const std::complex<double>>&, const Block<SearchReport>&);

}  // namespace tesela::kernels::mimo
