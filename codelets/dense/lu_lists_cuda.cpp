#include <tesela/codelets/dense/lu_lists.hpp>

#if TESELA_HAVE_CUDA

namespace tesela::kernels {

template <class T>
void LaswpList<T>::cuda(CudaContext& context, const Args& args, In<int> swaps, std::span<const InOut<T>> c) {
  for (const InOut<T>& tile : c) Laswp<T>::cuda(context, args, tile, swaps);
}

template <class T>
void LuUpdateList<T>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> v, Scratch<T> work,
                           std::span<const InOut<T>> c) {
  for (const InOut<T>& tile : c) LuUpdate<T>::cuda(context, {args.row, Pivoting::none, args.end}, a, v, {}, tile, work);
}

TESELA_CUDA_FOR_REALS(LaswpList, LuUpdateList)

}  // namespace tesela::kernels

#endif
