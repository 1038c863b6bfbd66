#include <tesela/codelets/dense/row_gram.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/support/internal/cublas.hpp>

#include <cuda_runtime.h>

namespace tesela::kernels {

template <class T>
void RowGram<T>::cuda(CudaContext& context, const Args& args, Out<T> c, std::span<const In<T>> a) {
  context.check(cudaMemset2DAsync(c.data, static_cast<std::size_t>(c.ld) * sizeof(T), 0,
                                  static_cast<std::size_t>(c.rows) * sizeof(T), static_cast<std::size_t>(c.cols),
                                  context.stream()),
                "cudaMemset2D");
  for (const In<T>& tile : a)
    for_each_strip(args, c.shape(), [&](index_t row, index_t rows, index_t column, index_t columns) {
      context.check(cublas::gemm<T>(context.cublas(), Op::none, Op::transpose, rows, columns, tile.cols, 1,
                                    &tile(args.row + row, 0), tile.ld, &tile(args.other_row + column - args.column, 0),
                                    tile.ld, 1, &c(row, column), c.ld),
                    "cublas gemm");
    });
}

template void RowGram<float>::cuda(CudaContext&, const Args&, Out<float>, std::span<const In<float>>);
template void RowGram<double>::cuda(CudaContext&, const Args&, Out<double>, std::span<const In<double>>);

}  // namespace tesela::kernels

#endif
