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
void CholeskyDiagonal<T>::cuda(CudaContext& context, const Args& args, In<T> r, In<T> v, In<T> a, InOut<T> d,
                               Out<T> inverse, InOut<double> minor, Scratch<T> s, Scratch<T> work) {
  const HighPriorityStream urgently(context);
  const index_t n = r.rows, w = d.rows;
  const auto gemm = [&](index_t m, const T* x, index_t ldx, const T* y, index_t ldy, T alpha, T beta, T* z,
                        index_t ldz) {
    context.check(cublas::gemm<T>(context.cublas(), adjoint<T>, Op::none, m, w, n, alpha, x, ldx, y, ldy, beta, z, ldz),
                  "cublas gemm");
  };
  if (n <= inverted_block) {
    gemm(n, v.data, v.ld, a.data, a.ld, 1, 0, s.data, n);
  } else {
    const InOut<T> part{{s.data, n, w, n}};
    context.check(lacpy<T>(context.stream(), Part::all, 0, {a.data, n, w, a.ld}, part), "lacpy");
    BlockTrsm<T>::cuda(context, {adjoint<T>}, r, v, part, work);
  }
  gemm(w, s.data, n, s.data, n, -1, 1, d.data, d.ld);
  Potrf<T>::cuda(context, args, {{d.data, w, w, d.ld}}, minor);  // d may be wider
  InvertBlocks<T>::cuda(context, {}, {{d.data, w, w, d.ld}}, inverse);
}

template <class T>
void RowUpdateList<T>::cuda(CudaContext& context, const Args& args, In<T> a, std::span<const InOut<T>> c) {
  index_t column = args.column, skipped = args.skipped;
  for (const InOut<T>& row : c) {
    const index_t first = column + skipped;
    if (first < a.cols)
      context.check(cublas::gemm<T>(context.cublas(), adjoint<T>, Op::none, row.rows, a.cols - first, a.rows, -1,
                                    &a(0, column), a.ld, &a(0, first), a.ld, 1, &row(0, first), row.ld),
                    "cublas gemm");
    column += a.rows;
    skipped = 0;
  }
}

template <class T>
void CholeskyAhead<T>::cuda(CudaContext& context, const Args& args, In<T> a, Out<T> above, Out<T> diagonal,
                            std::span<const InOut<T>> c) {
  RowUpdateList<T>::cuda(context, args, a, c);
  const index_t column = args.column + a.rows, w = c[1].rows;
  const auto copy = [&](const InOut<T>& row, const Out<T>& to) {
    context.check(
        lacpy<T>(context.stream(), Part::all, 0, {&row(0, column), row.rows, w, row.ld}, {to.data, row.rows, w, to.ld}),
        "lacpy");
  };
  copy(c[0], above);
  copy(c[1], diagonal);
}

TESELA_CUDA_FOR_NUMBERS(Potrf, Trsm, RowUpdate, RowGram)
TESELA_CUDA_FOR_NUMBERS(CholeskyDiagonal, RowUpdateList, CholeskyAhead)

}  // namespace tesela::kernels
