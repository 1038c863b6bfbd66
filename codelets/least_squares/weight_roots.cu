#include <tesela/codelets/least_squares/row_scaling.hpp>

#include <limits>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

/// Computes column blockIdx.x of the ranges, from every gridDim.x-th group of rows.
template <class T>
__global__ void take_roots(Block<const T> w, T* d, Block<double> ranges, double infinity) {
  __shared__ double largest[threads], smallest[threads], counted[threads], bad[threads];
  const int t = static_cast<int>(threadIdx.x);
  double most = 0, least = infinity, count = 0, wrong = 0;
  for (index_t i = blockIdx.x * index_t{threads} + t; i < w.rows; i += gridDim.x * index_t{threads}) {
    const T weight = w.data[i];
    d[i] = sqrt(weight);
    const double x = static_cast<double>(weight);
    if (!(x >= 0 && x < infinity)) wrong = 1;
    if (!(x > 0)) continue;
    most = fmax(most, x);
    least = fmin(least, x);
    ++count;
  }
  largest[t] = most, smallest[t] = least, counted[t] = count, bad[t] = wrong;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t >= half) continue;
    largest[t] = fmax(largest[t], largest[t + half]);
    smallest[t] = fmin(smallest[t], smallest[t + half]);
    counted[t] += counted[t + half];
    bad[t] += bad[t + half];
  }
  if (t != 0) return;
  double* const column = ranges.data + blockIdx.x * ranges.ld;
  column[0] = bad[0] == 0 ? largest[0] : infinity - infinity;
  column[1] = smallest[0];
  column[2] = counted[0];
}

}  // namespace

template <class T>
void WeightRoots<T>::cuda(CudaContext& context, const Args&, In<T> w, Out<T> d, Out<double> ranges) {
  take_roots<T><<<static_cast<unsigned>(ranges.cols), threads, 0, context.stream()>>>(
      w, d.data, ranges, std::numeric_limits<double>::infinity());
  context.check(static_cast<int>(cudaGetLastError()), "weight_roots");
}

TESELA_CUDA_FOR_REALS(WeightRoots)

}  // namespace tesela::kernels
