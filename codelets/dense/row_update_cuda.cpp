#include <tesela/codelets/dense/row_update.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/support/internal/cublas.hpp>

namespace tesela::kernels {

template <class T>
void RowUpdate<T>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, InOut<T> c) {
  const index_t columns = c.cols - args.column, inner = args.op == Op::transpose ? a.rows : b.rows;
  if (c.rows == 0 || columns <= 0 || inner == 0) return;
  context.check(cublas::gemm<T>(context.cublas(), args.op, Op::none, c.rows, columns, inner, -1, &a(0, args.a_column),
                                a.ld, &b(0, args.column), b.ld, 1, &c(0, args.column), c.ld),
                "cublas gemm");
}

template void RowUpdate<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, InOut<float>);
template void RowUpdate<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, InOut<double>);

}  // namespace tesela::kernels

#endif
