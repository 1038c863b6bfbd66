#include <tesela/codelets/dense/trsm.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/support/internal/cublas.hpp>

namespace tesela::kernels {

template <class T>
void Trsm<T>::cuda(CudaContext& context, const Args& args, In<T> r, InOut<T> x) {
  context.check(
      cublas::trsm(context.cublas(), args.op, x.rows, x.cols - args.column, r.data, r.ld, &x(0, args.column), x.ld),
      "cublas trsm");
}

template void Trsm<float>::cuda(CudaContext&, const Args&, In<float>, InOut<float>);
template void Trsm<double>::cuda(CudaContext&, const Args&, In<double>, InOut<double>);

}  // namespace tesela::kernels

#endif
