#include <tesela/codelets/dense/internal/int8_moduli.hpp>
#include <tesela/codelets/dense/internal/int8_steps.hpp>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

// Magnitudes of an operand for the measure of its spread: |A| |B| from below, in 16 bits with the exponents of float.

namespace tesela::kernels::int8 {
namespace {

constexpr int side = 32, rows_of_threads = 8, threads = 256, blocks = 264;

/// Writes |x| 2^e rounded towards zero, and zeros from k up to `depth`. Lines with the exponent not_finite become ones.
template <class T>
__global__ void __launch_bounds__(side* rows_of_threads)
    magnitudes_kernel(const Lines<T> from, const int* exponents, int depth, __nv_bfloat16* to) {
  __shared__ float turned[side][side + 1];
  const int x0 = static_cast<int>(blockIdx.x) * side, l0 = static_cast<int>(blockIdx.y) * side;
  const int along = static_cast<int>(threadIdx.x);
  for (int across = static_cast<int>(threadIdx.y); across < side; across += rows_of_threads) {
    const int of_x = from.contiguous ? across : along, of_l = from.contiguous ? along : across;
    const int x = x0 + of_x, l = l0 + of_l;
    float size = 0;
    if (x < from.lines && l < from.k) {
      const int e = exponents[x], half = e / 2;
      const double value = static_cast<double>(from.data[from.contiguous ? x * from.ld + l : x + l * from.ld]);
      size = e == not_finite ? 1
                             : __double2float_rz(fabs(value) * __hiloint2double((half + 1023) << 20, 0) *
                                                 __hiloint2double((e - half + 1023) << 20, 0));
    }
    turned[of_x][of_l] = size;
  }
  __syncthreads();
  const int l = l0 + along;
  for (int of_x = static_cast<int>(threadIdx.y); of_x < side && x0 + of_x < from.lines; of_x += rows_of_threads)
    if (l < depth) to[static_cast<std::size_t>(x0 + of_x) * depth + l] = __float2bfloat16_rz(turned[of_x][along]);
}

/// Sums the magnitudes of a line per warp; 0 for lines with the exponent not_finite.
__global__ void __launch_bounds__(threads)
    sums_kernel(const __nv_bfloat16* from, const int* exponents, int lines, int depth, float* sums) {
  const int x = static_cast<int>(blockIdx.x) * (threads / 32) + static_cast<int>(threadIdx.x) / 32;
  if (x >= lines) return;
  float sum = 0;
  for (int l = static_cast<int>(threadIdx.x) % 32; l < depth; l += 32)
    sum += __bfloat162float(from[static_cast<std::size_t>(x) * depth + l]);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) sums[x] = exponents[x] == not_finite ? 0 : sum;
}

/// Lowers least[0] to the smallest product and least[1] to the smallest product / (left + right). No number is
/// negative, so their bits have the order of integers.
__global__ void __launch_bounds__(threads)
    least_kernel(const float* products, int m, int n, const float* left, const float* right, unsigned* least) {
  float product = 0x1p126F, ratio = 0x1p126F;
  for (int j = static_cast<int>(blockIdx.x); j < n; j += blocks)
    for (int i = static_cast<int>(threadIdx.x); i < m; i += threads) {
      const float here = products[i + static_cast<std::size_t>(j) * m];
      product = fminf(product, here), ratio = fminf(ratio, here / (left[i] + right[j]));
    }
  unsigned mine[2] = {__float_as_uint(product), __float_as_uint(ratio)};
  for (int which = 0; which < 2; ++which) {
    for (int d = 16; d > 0; d /= 2) mine[which] = min(mine[which], __shfl_xor_sync(~0u, mine[which], d));
    if (threadIdx.x % 32 == 0) atomicMin(least + which, mine[which]);
  }
}

}  // namespace

template <class T>
int make_magnitudes(CUstream_st* stream, const Lines<T>& from, const int* exponents, int depth, void* to, float* sums) {
  const auto blocks_of = [](int size, int piece) { return static_cast<unsigned>((size + piece - 1) / piece); };
  auto* const magnitudes = static_cast<__nv_bfloat16*>(to);
  magnitudes_kernel<<<dim3(blocks_of(from.lines, side), blocks_of(depth, side)), dim3(side, rows_of_threads), 0,
                      stream>>>(from, exponents, depth, magnitudes);
  if (const int status = cudaGetLastError()) return status;
  sums_kernel<<<blocks_of(from.lines, threads / 32), threads, 0, stream>>>(magnitudes, exponents, from.lines, depth,
                                                                           sums);
  return cudaGetLastError();
}

int find_least(CUstream_st* stream, const float* products, int m, int n, const float* left, const float* right,
               float* least) {
  least_kernel<<<blocks, threads, 0, stream>>>(products, m, n, left, right, reinterpret_cast<unsigned*>(least));
  return cudaGetLastError();
}

template int make_magnitudes(CUstream_st*, const Lines<float>&, const int*, int, void*, float*);
template int make_magnitudes(CUstream_st*, const Lines<double>&, const int*, int, void*, float*);

}  // namespace tesela::kernels::int8
