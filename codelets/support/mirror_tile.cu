#include <tesela/codelets/support/internal/mirror.cuh>
#include <tesela/codelets/support/tile_kernels.hpp>

namespace tesela::kernels {

template <class T>
void MirrorTile<T>::cuda(CudaContext& context, const Args& args, InOut<T> a) {
  mirror(context, a.cols, &a(args.row, 0), a.ld);
}

template void MirrorTile<float>::cuda(CudaContext&, const Args&, InOut<float>);
template void MirrorTile<double>::cuda(CudaContext&, const Args&, InOut<double>);

}  // namespace tesela::kernels
