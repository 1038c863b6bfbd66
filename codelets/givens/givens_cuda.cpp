#include <tesela/codelets/givens/givens.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/givens/internal/givens_launch.hpp>

namespace tesela::kernels {
namespace {

/// Processes columns col … of the tile, then applies the rotations to its later columns.
template <class T>
void factor_panel(CudaContext& context, const typename GivensPanel<T>::Args& args, const InOut<T>& a, T* l, index_t ldl,
                  index_t* info, const Scratch<T>& work, bool accumulate) {
  const index_t next = args.col + args.width;
  T* const panel = a.data + args.col * a.ld;
  auto* const reach = reinterpret_cast<unsigned long long*>(work.data);
  context.check(givens_panel<T>(context.stream(), {args.pivot, args.row, a.rows, args.width, panel, a.ld, l, ldl, info,
                                                   reach, accumulate}),
                "givens_panel");
  context.check(givens_apply<T>(context.stream(), {args.pivot,
                                                   Side::left,
                                                   false,
                                                   true,
                                                   args.row,
                                                   a.rows,
                                                   args.width,
                                                   args.width,
                                                   {panel, 1, a.ld},
                                                   info,
                                                   {a.data + next * a.ld, 1, a.ld},
                                                   a.cols - next,
                                                   args.block}),
                "givens_apply");
}

}  // namespace

template <class T>
void GivensPanel<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, Out<index_t> info, Scratch<T> work) {
  factor_panel<T>(context, args, a, nullptr, 1, info.data, work, false);
}

template <class T>
void GivensChainPanel<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> l, Out<index_t> info,
                               Scratch<T> work) {
  factor_panel<T>(context, args, a, l.data, l.ld, info.data, work, false);
}

template <class T>
void GivensApply<T>::cuda(CudaContext& context, const Args& args, In<T> source, In<index_t> info, InOut<T> c,
                          Scratch<T>) {
  const bool left = args.side == Side::left, band = args.diagonal >= 0;
  const index_t stride = band ? source.ld - 1 : source.ld;
  GivensApplyProblem<T> p{args.pivot, args.side,   args.chain, args.forward(), args.row, left ? c.rows : c.cols,
                          args.width, args.window, {},         info.data,      {},       left ? c.cols : c.rows,
                          args.block};
  p.source = {source.data + (band ? args.diagonal : 0) + args.col * stride, 1, stride};
  p.c = left ? Strided<T>{c.data, 1, c.ld} : Strided<T>{c.data, c.ld, 1};
  context.check(givens_apply<T>(context.stream(), p), "givens_apply");
}

template <class T>
void GivensSweep<T>::cuda(CudaContext& context, const Args& args, Out<index_t> info, Scratch<T> work,
                          std::span<const InOut<T>> tiles) {
  index_t begin = 0;
  for (std::size_t p = 0; p < tiles.size(); ++p) {
    const InOut<T>& a = tiles[p];
    for (index_t col = 0; col < a.cols && begin < a.rows - 1;) {
      const index_t width = std::min(max_givens_window, a.cols - col);
      factor_panel<T>(context, {Pivot::adjacent, begin, col, width, a.rows - begin, args.block}, a, nullptr, 1,
                      info.data, work, begin > 0);
      for (const InOut<T>& c : tiles.subspan(p + 1))
        context.check(givens_apply<T>(context.stream(), {Pivot::adjacent,
                                                         Side::left,
                                                         false,
                                                         true,
                                                         begin,
                                                         a.rows,
                                                         width,
                                                         width,
                                                         {a.data + col * a.ld, 1, a.ld},
                                                         info.data,
                                                         {c.data, 1, c.ld},
                                                         c.cols,
                                                         args.block}),
                      "givens_apply");
      col += width;
      begin += width;
    }
  }
}

template <class T>
void GivensBand<T>::cuda(CudaContext& context, const Args& args, InOut<T> ab, Out<index_t> info) {
  context.check(givens_band<T>(context.stream(), args.m, ab.cols, args.kl, args.ku, ab.data, ab.ld, info.data),
                "givens_band");
}

#define TESELA_GIVENS(T)                                                                                              \
  template void GivensPanel<T>::cuda(CudaContext&, const Args&, InOut<T>, Out<index_t>, Scratch<T>);                  \
  template void GivensChainPanel<T>::cuda(CudaContext&, const Args&, InOut<T>, Out<T>, Out<index_t>, Scratch<T>);     \
  template void GivensApply<T>::cuda(CudaContext&, const Args&, In<T>, In<index_t>, InOut<T>, Scratch<T>);            \
  template void GivensSweep<T>::cuda(CudaContext&, const Args&, Out<index_t>, Scratch<T>, std::span<const InOut<T>>); \
  template void GivensBand<T>::cuda(CudaContext&, const Args&, InOut<T>, Out<index_t>);
TESELA_FOR_NUMBERS(TESELA_GIVENS)

}  // namespace tesela::kernels

#endif
