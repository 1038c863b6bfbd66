#include <tesela/codelets/eigen/mirror_tile.hpp>
#include <tesela/codelets/support/internal/mirror.cuh>

namespace tesela::kernels {

template <class T>
void MirrorTile<T>::cuda(CudaContext& context, const Args&, InOut<T> a) {
  mirror(context, a.cols, a.data, a.ld);
}

template void MirrorTile<float>::cuda(CudaContext&, const Args&, InOut<float>);
template void MirrorTile<double>::cuda(CudaContext&, const Args&, InOut<double>);

}  // namespace tesela::kernels
