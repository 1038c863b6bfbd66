#include <tesela/codelets/support/mirror_tile.hpp>

namespace tesela::kernels {

template <class T>
void MirrorTile<T>::cpu(const Args& args, InOut<T> a) {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < j; ++i) a(args.row + i, j) = a(args.row + j, i);
}

template struct MirrorTile<float>;
template struct MirrorTile<double>;

}  // namespace tesela::kernels
