#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_product.cuh>
#include <tesela/codelets/toeplitz/lanczos/ritz.hpp>

namespace tesela::kernels {
namespace {

/// Normalizes each part of each column, unless it is zero.
template <class T>
__global__ void normalise(index_t n, T* x, index_t ld) {
  const int part = static_cast<int>(blockIdx.y);
  const index_t rows = cauchy_rows(n, part);
  T* const v = x + blockIdx.x * ld + part * cauchy_rows(n, 0);
  T squares = 0;
  for (index_t a = threadIdx.x; a < rows; a += threads) squares += v[a] * v[a];
  const T norm = sqrt(sum_over_block(squares));
  for (index_t a = threadIdx.x; norm > 0 && a < rows; a += threads) v[a] /= norm;
}

/// Computes lambda = x' y and ||y - lambda x|| of both parts of each column.
template <class T>
__global__ void measure(index_t n, const T* x, index_t ld, const T* y, double* pairs, index_t ld_pairs) {
  const int part = static_cast<int>(blockIdx.y);
  const index_t rows = cauchy_rows(n, part), first = part * cauchy_rows(n, 0);
  const T *const v = x + blockIdx.x * ld + first, *const w = y + blockIdx.x * n + first;
  double sum = 0;
  for (index_t a = threadIdx.x; a < rows; a += threads) sum += static_cast<double>(v[a]) * static_cast<double>(w[a]);
  const double value = sum_over_block(sum);
  double squares = 0;
  for (index_t a = threadIdx.x; a < rows; a += threads) {
    const double d = static_cast<double>(w[a]) - value * static_cast<double>(v[a]);
    squares += d * d;
  }
  squares = sum_over_block(squares);
  if (threadIdx.x == 0) {
    pairs[blockIdx.x * ld_pairs + 2 * part] = value;
    pairs[blockIdx.x * ld_pairs + 2 * part + 1] = sqrt(squares);
  }
}

}  // namespace

template <class T>
void RitzPairs<T>::cuda(CudaContext& context, const Args& args, In<T> c, In<T> tables, In<T> z, Out<T> x,
                        Out<double> pairs, Scratch<T> work, std::span<const In<T>> basis) {
  const index_t n = c.rows, length = cauchy_length(n), count = x.cols;
  CUstream_st* const stream = context.stream();
  for_each_piece(n, basis, [&](int part, const In<T>& piece, index_t row, index_t at, index_t rows) {
    context.check(cublas::gemm<T>(context.cublas(), Op::none, Op::none, rows, count, z.rows, 1,
                                  piece.data + args.column * piece.ld + row, piece.ld, z.data + part * count * z.ld,
                                  z.ld, 0, x.data + at, x.ld),
                  "cublas gemm");
  });
  normalise<<<dim3(static_cast<unsigned>(count), 2), threads, 0, stream>>>(n, x.data, x.ld);
  const index_t room = std::min<index_t>(work.cols, most);
  for (index_t j = 0; j < count; j += room) {
    const auto some = static_cast<int>(std::min(room, count - j));
    Vectors<T> v{n, length, tables.ld, tables.data, work.data, work.data + 4 * length * work.cols, {}, {}, {}};
    for (int i = 0; i < some; ++i) {
      v.c[i] = c.data;
      v.ldc[i] = c.ld;
      v.x[i] = x.data + (j + i) * x.ld;
    }
    product_begin<<<by_element(v, some), threads, 0, stream>>>(v);
    transform(context, v, some, static_cast<int>(room));
    product_end<<<by_share(v, some), threads, 0, stream>>>(v);
    measure<<<dim3(static_cast<unsigned>(some), 2), threads, 0, stream>>>(n, v.x[0], x.ld, v.y,
                                                                          pairs.data + j * pairs.ld, pairs.ld);
  }
  context.check(cudaGetLastError(), "ritz_pairs");
}

template void RitzPairs<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, In<float>, Out<float>,
                                     Out<double>, Scratch<float>, std::span<const In<float>>);
template void RitzPairs<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, In<double>, Out<double>,
                                      Out<double>, Scratch<double>, std::span<const In<double>>);

}  // namespace tesela::kernels
