#include <tesela/codelets/tridiagonal/gather_rows.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/support/lacpy.hpp>

namespace tesela::kernels {

template <class T>
void GatherRows<T>::cuda(CudaContext& context, const Args&, Out<T> a, std::span<const In<T>> tiles) {
  index_t first = 0;
  for (const In<T>& tile : tiles) {
    const Block<T> to{a.data + first, tile.rows, a.cols, a.ld};
    context.check(lacpy<T>(context.stream(), Part::all, 0, {tile.data, tile.rows, tile.cols, tile.ld}, to), name);
    first += tile.rows;
  }
}

template <class T>
void ExtractRows<T>::cuda(CudaContext& context, const Args& args, In<T> a, Out<T> tile) {
  const Block<const T> rows{a.data + args.first, tile.rows, tile.cols, a.ld};
  context.check(lacpy<T>(context.stream(), Part::all, 0, rows, tile), name);
}

TESELA_CUDA_FOR_NUMBERS(GatherRows, ExtractRows)

}  // namespace tesela::kernels

#endif
