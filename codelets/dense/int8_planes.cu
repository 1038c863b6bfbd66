#include <tesela/codelets/dense/internal/int8_moduli.hpp>
#include <tesela/codelets/dense/internal/int8_steps.hpp>
#include <tesela/codelets/dense/internal/int8_workspace.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cuda_runtime.h>

#include <algorithm>

namespace tesela::kernels::int8 {
namespace {

constexpr int threads = 256, part_lines = 32, part_depth = 128;

constexpr int pieces_of(int size, int piece) { return (size + piece - 1) / piece; }

struct Moduli {
  Modulus at[most_moduli];
};

/// Sums of squares of large, usual and small numbers, scaled so that none of them over- or underflows.
struct Squares {
  double large = 0, usual = 0, small = 0;

  __device__ void add(double x) {
    const double size = fabs(x);
    if (size <= 0x1p480 && (size >= 0x1p-480 || size == 0)) {
      usual = fma(x, x, usual);
    } else if (size < 1) {
      small = fma(x * 0x1p600, x * 0x1p600, small);
    } else {  // infinity and NaN end here
      large = fma(x * 0x1p-600, x * 0x1p-600, large);
    }
  }
  __device__ void add(const Squares& other) { large += other.large, usual += other.usual, small += other.small; }

  /// Returns the largest e such that 2^e times the norm is at most `most`; `of_zeros` for a line of zeros.
  __device__ int exponent(double most, int of_zeros) const {
    if (!(large <= 0x1.fffffffffffffp1023)) return not_finite;
    double sum = usual;
    int scaled = 0;
    if (large > 0) {
      sum = large + usual * 0x1p-600 * 0x1p-600, scaled = -600;
    } else if (usual == 0) {
      sum = small, scaled = 600;
    }
    return sum == 0 ? of_zeros : ilogb(most / (sqrt(sum) * (1 + 0x1p-30))) + scaled;
  }
};

/// Sums squares of lines across memory: a thread per line and part of k. Part c of line x goes to to[c][..][x].
template <class T>
__global__ void __launch_bounds__(128) squares_across(const Lines<T> from, int part, std::size_t lines, double* to) {
  const int x = static_cast<int>(blockIdx.x) * 128 + static_cast<int>(threadIdx.x);
  if (x >= from.lines) return;
  const int begin = static_cast<int>(blockIdx.y) * part, end = min(from.k, begin + part);
  const T* data = from.data + x;
  Squares sum[2];
  int l = begin;
  for (; l + 8 <= end; l += 8) {
    T value[8];
#pragma unroll
    for (int q = 0; q < 8; ++q) value[q] = data[(l + q) * from.ld];
#pragma unroll
    for (int q = 0; q < 8; ++q) sum[q % 2].add(static_cast<double>(value[q]));
  }
  for (; l < end; ++l) sum[0].add(static_cast<double>(data[l * from.ld]));
  sum[0].add(sum[1]);
  to += 3 * lines * blockIdx.y + x;
  to[0] = sum[0].large, to[lines] = sum[0].usual, to[2 * lines] = sum[0].small;
}

/// Sums squares of a line along memory per block.
template <class T>
__global__ void __launch_bounds__(128) squares_along(const Lines<T> from, std::size_t lines, double* to) {
  const int x = static_cast<int>(blockIdx.x);
  const T* data = from.data + x * from.ld;
  Squares sum;
#pragma unroll 4
  for (int l = static_cast<int>(threadIdx.x); l < from.k; l += 128) sum.add(static_cast<double>(data[l]));
  __shared__ Squares parts[4];
  for (int d = 16; d > 0; d /= 2)
    sum.add(Squares{__shfl_xor_sync(~0u, sum.large, d), __shfl_xor_sync(~0u, sum.usual, d),
                    __shfl_xor_sync(~0u, sum.small, d)});
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < 4; ++w) sum.add(parts[w]);
  to[x] = sum.large, to[x + lines] = sum.usual, to[x + 2 * lines] = sum.small;
}

__global__ void choose_exponents(int lines, int parts, const double* squares, double most, int of_zeros, int* exponents,
                                 int* found) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= lines) return;
  Squares sum;
  for (int c = 0; c < parts; ++c, squares += 3 * static_cast<std::size_t>(lines))
    sum.add(Squares{squares[x], squares[x + lines], squares[x + 2 * static_cast<std::size_t>(lines)]});
  exponents[x] = sum.exponent(most, of_zeros);
  if (found != nullptr && exponents[x] == not_finite) *found = 1;
}

/// Multiplies by 2^e exactly; e may lie outside the exponents of double.
struct Scale {
  double first, second;
  __device__ explicit Scale(int exponent) {
    const int e = exponent == not_finite ? 0 : exponent;
    first = __hiloint2double((e / 2 + 1023) << 20, 0), second = __hiloint2double((e - e / 2 + 1023) << 20, 0);
  }
  template <class T>
  __device__ long long operator()(T x) const {
    return __double2ll_rn(static_cast<double>(x) * first * second);
  }
};

/// Writes four residues of each modulus as one word.
template <int N>
__device__ void write_residues(const Moduli& moduli, const long long (&x)[4], std::uint8_t* to, std::size_t plane) {
#pragma unroll
  for (int l = 0; l < N; ++l) {
    unsigned r[4];
#pragma unroll
    for (int q = 0; q < 4; ++q)
      r[q] = l == 0 ? static_cast<unsigned>(x[q]) : static_cast<unsigned>(residue(moduli.at[l], x[q]));
    *reinterpret_cast<unsigned*>(to + l * plane) =
        __byte_perm(__byte_perm(r[0], r[1], 0x0040), __byte_perm(r[2], r[3], 0x0040), 0x5410);
  }
}

template <class T, int N>
__global__ void __launch_bounds__(threads) convert_along(const Lines<T> from, const __grid_constant__ Moduli moduli,
                                                         int fill, int depth, int pieces, const Planes to) {
  const int x = static_cast<int>(blockIdx.x) / pieces;
  const int l = 4 * (static_cast<int>(blockIdx.x) % pieces * threads + static_cast<int>(threadIdx.x));
  if (l >= fill) return;
  const Scale scale(to.exponents[x]);
  const T* data = from.data + x * from.ld;
  long long value[4];
#pragma unroll
  for (int q = 0; q < 4; ++q) value[q] = l + q < from.k ? scale(data[l + q]) : 0;
  write_residues<N>(moduli, value, to.bytes + static_cast<std::size_t>(x) * depth + l,
                    static_cast<std::size_t>(to.lines) * depth);
}

template <class T, int N>
__global__ void __launch_bounds__(threads) convert_across(const Lines<T> from, const __grid_constant__ Moduli moduli,
                                                          int fill, int depth, int pieces, const Planes to) {
  __shared__ __align__(16) long long turned[part_lines][part_depth + 2];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int x0 = static_cast<int>(blockIdx.x) / pieces * part_lines,
            l0 = static_cast<int>(blockIdx.x) % pieces * part_depth;
  const bool inside = x0 + lane < from.lines;
  const Scale scale(inside ? to.exponents[x0 + lane] : 0);
  T value[16];
#pragma unroll
  for (int q = 0; q < 16; ++q) {
    const int l = l0 + warp * 16 + q;
    value[q] = inside && l < from.k ? from.data[x0 + lane + l * from.ld] : T(0);
  }
#pragma unroll
  for (int q = 0; q < 16; ++q) turned[lane][warp * 16 + q] = scale(value[q]);
  __syncthreads();
  const int l = l0 + 4 * lane;
  if (l >= fill) return;
#pragma unroll 1
  for (int row = warp; row < part_lines && x0 + row < from.lines; row += threads / 32) {
    long long four[4];
    *reinterpret_cast<longlong2*>(four) = *reinterpret_cast<const longlong2*>(&turned[row][4 * lane]);
    *reinterpret_cast<longlong2*>(four + 2) = *reinterpret_cast<const longlong2*>(&turned[row][4 * lane + 2]);
    write_residues<N>(moduli, four, to.bytes + static_cast<std::size_t>(x0 + row) * depth + l,
                      static_cast<std::size_t>(to.lines) * depth);
  }
}

/// Enqueues the conversion of a part, with zeros up to `fill`.
template <class T, int N>
int convert(CUstream_st* stream, const Lines<T>& from, int fill, int depth, const Planes& to) {
  Moduli all;
  for (int l = 0; l < N; ++l) all.at[l] = modulus(l);
  if (from.contiguous) {
    const int pieces = pieces_of(fill, 4 * threads);
    convert_along<T, N>
        <<<static_cast<unsigned>(from.lines * pieces), threads, 0, stream>>>(from, all, fill, depth, pieces, to);
  } else {
    const int pieces = pieces_of(fill, part_depth);
    convert_across<T, N><<<static_cast<unsigned>(pieces_of(from.lines, part_lines) * pieces), threads, 0, stream>>>(
        from, all, fill, depth, pieces, to);
  }
  return cudaGetLastError();
}

template <class T>
int convert(CUstream_st* stream, const Lines<T>& from, int count, int fill, int depth, const Planes& to) {
  if (count == 14) return convert<T, 14>(stream, from, fill, depth, to);
  if constexpr (sizeof(T) == sizeof(float))
    return count == 7 ? convert<T, 7>(stream, from, fill, depth, to) : cudaErrorInvalidValue;
  else
    return count == 15   ? convert<T, 15>(stream, from, fill, depth, to)
           : count == 16 ? convert<T, 16>(stream, from, fill, depth, to)
                         : cudaErrorInvalidValue;
}

/// Returns the number of sums of squares for each line of a part.
template <class T>
int sums_of(const Lines<T>& from) {
  return from.contiguous ? 1 : static_cast<int>(norm_parts(from.k));
}

/// Calls f(part, index of its first sum) for each part, and returns the number of sums for each line.
template <class T, class F>
int for_each_part(std::span<const OperandPart<T>> parts, const F& f) {
  int first = 0, next = 0, at = 0;
  for (const OperandPart<T>& part : parts) {
    if (part.at != at) first = next, at = part.at;
    f(part, first);
    next = std::max(next, first + sums_of(part.from));
  }
  return next;
}

}  // namespace

template <class T>
index_t squares_size(std::span<const OperandPart<T>> parts, int lines) {
  return index_t{3} * lines * for_each_part(parts, [](const auto&, int) {});
}

template <class T>
int scale_lines(CUstream_st* stream, std::span<const OperandPart<T>> parts, int lines_of_all, double most, int of_zeros,
                int* exponents, double* work, int* found) {
  const auto lines = static_cast<std::size_t>(lines_of_all);
  const int sums = for_each_part(parts, [&](const OperandPart<T>& part, int first) {
    const Lines<T>& from = part.from;
    double* const squares = work + 3 * lines * static_cast<std::size_t>(first) + part.line;
    if (from.contiguous)
      squares_along<<<static_cast<unsigned>(from.lines), 128, 0, stream>>>(from, lines, squares);
    else
      squares_across<<<dim3(static_cast<unsigned>(pieces_of(from.lines, 128)), static_cast<unsigned>(sums_of(from))),
                       128, 0, stream>>>(from, pieces_of(from.k, sums_of(from)), lines, squares);
  });
  if (const int status = cudaGetLastError()) return status;
  choose_exponents<<<static_cast<unsigned>(pieces_of(lines_of_all, 128)), 128, 0, stream>>>(
      lines_of_all, sums, work, most, of_zeros, exponents, found);
  return cudaGetLastError();
}

template <class T>
int make_planes(CUstream_st* stream, std::span<const OperandPart<T>> parts, int count, int depth, const Planes& to,
                double* work, int* found) {
  int k = 0;
  for (const OperandPart<T>& part : parts) k = std::max(k, part.at + part.from.k);
  if (const int status = scale_lines(stream, parts, to.lines, largest_norm(count, k), 0, to.exponents, work, found))
    return status;
  for (const OperandPart<T>& part : parts) {
    const Planes here{to.bytes + static_cast<std::size_t>(part.line) * depth + part.at, to.exponents + part.line,
                      to.lines};
    const int fill = part.at + part.from.k == k ? depth - part.at : part.from.k;
    if (const int status = convert(stream, part.from, count, fill, depth, here)) return status;
  }
  return cudaSuccess;
}

TESELA_FUNCTIONS_FOR_REALS(squares_size, scale_lines, make_planes)

}  // namespace tesela::kernels::int8
