#include <tesela/codelets/support/tile_kernels.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/support/internal/cublas.hpp>

namespace tesela::kernels {

template <class T>
void Transpose<T>::cuda(CudaContext& context, const Args&, In<T> a, Out<T> b) {
  context.check(cublas::transpose(context.cublas(), b.rows, b.cols, a.data, a.ld, b.data, b.ld), "cublas geam");
}

template void Transpose<float>::cuda(CudaContext&, const Args&, In<float>, Out<float>);
template void Transpose<double>::cuda(CudaContext&, const Args&, In<double>, Out<double>);

}  // namespace tesela::kernels

#endif
