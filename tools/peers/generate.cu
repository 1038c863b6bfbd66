#include "tools/peers/device.hpp"
#include <tesela/codelets/support/internal/device_generator.cuh>

namespace tesela::bench {

using namespace kernels;
namespace {

template <class T>
__global__ void generate_kernel(T* a, index_t rows, index_t size, Generator<T> generator) {
  const index_t stride = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t e = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; e < size; e += stride)
    a[e] = generator(e % rows, e / rows);
}

template <class T>
__global__ void generate_bands_kernel(TridiagonalRow<T*> bands, index_t batch, bool in_rows,
                                      TridiagonalGenerator<T> generator) {
  const index_t n = generator.n, stride = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t e = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; e < n * batch; e += stride) {
    const index_t i = in_rows ? e / batch : e % n;
    const TridiagonalRow<T> row = generator(i, in_rows ? e % batch : e / n);
    bands.dl[e] = i > 0 ? row.dl : T(0);
    bands.d[e] = row.d;
    bands.du[e] = i + 1 < n ? row.du : T(0);
  }
}

/// Launches and waits; clears earlier errors first.
template <class Launch>
void run_generator(Launch launch) {
  select_first_device();
  static_cast<void>(cudaGetLastError());
  launch();
  check_device(static_cast<int>(cudaGetLastError()), "cudaGetLastError after the generator's launch");
  check_device(static_cast<int>(cudaDeviceSynchronize()), "cudaDeviceSynchronize after the generator");
}

}  // namespace

template <class T>
void generate(T* a, index_t rows, index_t cols, Generator<T> generator) {
  if (rows == 0 || cols == 0) return;
  generator.rows = rows;
  generator.columns = cols;
  run_generator([&] {
    generate_kernel<<<4096, 256>>>(kernels::device_pointer(a), rows, rows * cols, kernels::device_generator(generator));
  });
}

template <class T>
void generate(const TridiagonalRow<T*>& bands, index_t batch, bool in_rows, TridiagonalGenerator<T> generator) {
  if (generator.n == 0 || batch == 0) return;
  const TridiagonalRow<device_t<T>*> on{device_pointer(bands.dl), device_pointer(bands.d), device_pointer(bands.du)};
  run_generator([&] { generate_bands_kernel<<<4096, 256>>>(on, batch, in_rows, on_device(generator)); });
}

#define TESELA_INSTANTIATE(T)                                 \
  template void generate(T*, index_t, index_t, Generator<T>); \
  template void generate(const TridiagonalRow<T*>&, index_t, bool, TridiagonalGenerator<T>);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::bench
