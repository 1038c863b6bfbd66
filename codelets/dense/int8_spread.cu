#include <tesela/codelets/dense/internal/int8_moduli.hpp>
#include <tesela/codelets/dense/internal/int8_steps.hpp>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>

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
    if (l < depth)
      to[static_cast<std::size_t>(x0 + of_x) * depth + l] = __float2bfloat16_rz(turned[of_x][along]);
}

/// Lowers `least` to the smallest of `count` numbers that are not negative; their bits have the order of integers.
__global__ void __launch_bounds__(threads) smallest_kernel(const unsigned* numbers, std::size_t count, unsigned* least) {
  unsigned mine = 0x7f7fffffu;
  for (std::size_t i = blockIdx.x * threads + threadIdx.x; i < count; i += std::size_t{blocks} * threads)
    mine = min(mine, numbers[i]);
  for (int d = 16; d > 0; d /= 2) mine = min(mine, __shfl_xor_sync(~0u, mine, d));
  if (threadIdx.x % 32 == 0) atomicMin(least, mine);
}

}  // namespace

template <class T>
int make_magnitudes(CUstream_st* stream, const Lines<T>& from, const int* exponents, int depth, void* to) {
  const auto blocks_of = [](int size) { return static_cast<unsigned>((size + side - 1) / side); };
  magnitudes_kernel<<<dim3(blocks_of(from.lines), blocks_of(depth)), dim3(side, rows_of_threads), 0, stream>>>(
      from, exponents, depth, static_cast<__nv_bfloat16*>(to));
  return cudaGetLastError();
}

int lower_to_smallest(CUstream_st* stream, const float* numbers, std::size_t count, float* least) {
  smallest_kernel<<<blocks, threads, 0, stream>>>(reinterpret_cast<const unsigned*>(numbers), count,
                                                  reinterpret_cast<unsigned*>(least));
  return cudaGetLastError();
}

template int make_magnitudes(CUstream_st*, const Lines<float>&, const int*, int, void*);
template int make_magnitudes(CUstream_st*, const Lines<double>&, const int*, int, void*);

}  // namespace tesela::kernels::int8
