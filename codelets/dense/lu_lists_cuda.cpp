#include <tesela/codelets/dense/lu_lists.hpp>

#if TESELA_HAVE_CUDA

#include <limits>

namespace tesela::kernels {
namespace {

/// Joins consecutive tiles that adjoin in memory, up to `most` columns, and calls f(C) for each joined tile.
template <class T, class F>
void for_each_joined(std::span<const InOut<T>> tiles, index_t most, const F& f) {
  for (std::size_t next = 0; next < tiles.size();) {
    InOut<T> joined = tiles[next++];
    const auto adjoins = [&](const InOut<T>& c) {
      return c.ld == joined.ld && c.rows == joined.rows && c.data == joined.data + joined.cols * joined.ld &&
             joined.cols + c.cols <= most;
    };
    while (next < tiles.size() && adjoins(tiles[next])) joined.cols += tiles[next++].cols;
    f(joined);
  }
}

}  // namespace

template <class T>
void LaswpList<T>::cuda(CudaContext& context, const Args& args, In<int> swaps, std::span<const InOut<T>> c) {
  for_each_joined(c, std::numeric_limits<index_t>::max(),
                  [&](const InOut<T>& joined) { Laswp<T>::cuda(context, args, joined, swaps); });
}

template <class T>
void LuUpdateList<T>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> v, In<int> swaps, Scratch<T> work,
                           std::span<const InOut<T>> c) {
  for_each_joined(c, work.cols,
                  [&](const InOut<T>& joined) { LuUpdate<T>::cuda(context, args, a, v, swaps, joined, work); });
}

TESELA_CUDA_FOR_NUMBERS(LaswpList, LuUpdateList)

}  // namespace tesela::kernels

#endif
