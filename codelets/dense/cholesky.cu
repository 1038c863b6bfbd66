#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/factor_tile.cuh>
#include <tesela/codelets/support/internal/high_priority_stream.hpp>
#include <tesela/codelets/support/internal/mirror.cuh>
#include <tesela/codelets/support/lacpy.hpp>

#include <cuda_runtime.h>

namespace tesela::kernels {

template <class T>
void Potrf<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<double> minor) {
  const HighPriorityStream urgently(context);
  mirror_down(context, a.rows, a.data, a.ld);  // the factorization reads the lower triangle
  factor::tile<T, true>(context, a.rows, a.data, a.ld, args.first, minor.data);
  mirror<true>(context, a.rows, a.data, a.ld);
}

template <class T>
void Trsm<T>::cuda(CudaContext& context, const Args& args, In<T> r, InOut<T> x) {
  context.check(
      cublas::trsm(context.cublas(), args.op, x.rows, x.cols - args.column, r.data, r.ld, &x(0, args.column), x.ld),
      "cublas trsm");
}

template <class T>
void RowUpdate<T>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, InOut<T> c) {
  const index_t columns = c.cols - args.column, inner = args.op == Op::none ? b.rows : a.rows;
  if (c.rows == 0 || columns <= 0 || inner == 0) return;
  context.check(cublas::gemm<T>(context.cublas(), args.op, Op::none, c.rows, columns, inner, -1, &a(0, args.a_column),
                                a.ld, &b(0, args.column), b.ld, 1, &c(0, args.column), c.ld),
                "cublas gemm");
}

template <class T>
void RowGram<T>::cuda(CudaContext& context, const Args& args, Out<T> c, std::span<const In<T>> a) {
  context.check(cudaMemset2DAsync(c.data, static_cast<std::size_t>(c.ld) * sizeof(T), 0,
                                  static_cast<std::size_t>(c.rows) * sizeof(T), static_cast<std::size_t>(c.cols),
                                  context.stream()),
                "cudaMemset2D");
  for (const In<T>& tile : a)
    for_each_strip(args, c.shape(), [&](index_t row, index_t rows, index_t column, index_t columns) {
      context.check(
          cublas::gemm<T>(context.cublas(), Op::none, adjoint<T>, rows, columns, tile.cols, 1, &tile(args.row + row, 0),
                          tile.ld, &tile(args.other_row + column - args.column, 0), tile.ld, 1, &c(row, column), c.ld),
          "cublas gemm");
    });
}

template <class T>
void CholeskyNextDiagonal<T>::cuda(CudaContext& context, const Args& args, In<T> r, In<T> v, In<T> a, In<T> below,
                                   Out<T> next, Scratch<T> s, Scratch<T> work) {
  const HighPriorityStream urgently(context);
  const index_t n = r.rows, w = next.rows;
  const InOut<T> part{{s.data, n, w, n}}, square{{next.data, w, w, next.ld}};  // the last may be wider
  context.check(lacpy<T>(context.stream(), Part::all, 0, {&a(0, args.column), n, w, a.ld}, part), "lacpy");
  context.check(lacpy<T>(context.stream(), Part::all, 0, {&below(0, args.column), w, w, below.ld}, square), "lacpy");
  BlockTrsm<T>::cuda(context, {adjoint<T>}, r, v, part, work);
  context.check(
      cublas::gemm<T>(context.cublas(), adjoint<T>, Op::none, w, w, n, -1, s.data, n, s.data, n, 1, next.data, next.ld),
      "cublas gemm");
}

TESELA_CUDA_FOR_NUMBERS(Potrf, Trsm, RowUpdate, RowGram, CholeskyNextDiagonal)

}  // namespace tesela::kernels
