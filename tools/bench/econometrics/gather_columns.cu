#include "tools/bench/econometrics/gather_columns.hpp"

namespace tesela::bench {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads)
    gather_kernel(const double* triangle, index_t ld, const int* columns, index_t rows, double* z) {
  const index_t c = columns[blockIdx.x];
  for (index_t i = threadIdx.x; i < rows; i += threads) z[i + blockIdx.x * rows] = i <= c ? triangle[i + c * ld] : 0.0;
}

}  // namespace

void gather_columns(const double* triangle, index_t ld, const int* columns, index_t count, index_t rows, double* z) {
  gather_kernel<<<static_cast<unsigned>(count), threads>>>(triangle, ld, columns, rows, z);
}

}  // namespace tesela::bench
