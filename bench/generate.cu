#include "bench/device.hpp"
#include "bench/generate.hpp"

namespace tesela::bench {
namespace {

template <class T>
__global__ void generate_kernel(T* a, index_t rows, index_t size, Generator<T> generator) {
  const index_t stride = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t e = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; e < size; e += stride)
    a[e] = generator(e % rows, e / rows);
}

}  // namespace

template <class T>
void generate(T* a, index_t rows, index_t cols, Generator<T> generator) {
  if (rows == 0 || cols == 0) return;
  generator.rows = rows;
  generator.columns = cols;
  select_first_device();
  static_cast<void>(cudaGetLastError());  // whatever failed before is not this launch's failure
  generate_kernel<<<4096, 256>>>(a, rows, rows * cols, generator);
  check_device(static_cast<int>(cudaGetLastError()), "cudaGetLastError after the generator's launch");
  check_device(static_cast<int>(cudaDeviceSynchronize()), "cudaDeviceSynchronize after the generator");
}

template void generate(float*, index_t, index_t, Generator<float>);
template void generate(double*, index_t, index_t, Generator<double>);

}  // namespace tesela::bench
