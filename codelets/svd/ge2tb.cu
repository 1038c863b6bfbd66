#include <tesela/codelets/support/internal/panel_products.cuh>
#include <tesela/codelets/svd/ge2tb.hpp>

namespace tesela::kernels {
namespace {

using internal::each, internal::gather, internal::Products, internal::UnitLower;

/// Copies the triangle R of a panel to the band, or R^H if `transpose`.
template <class T, bool transpose>
struct TriangleToBand {
  const T* r;
  index_t ldr;
  T* band;  // of the triangle's first column
  index_t ld, half_width;
  __device__ void operator()(index_t i, index_t j) const {
    if (i > j) return;
    const index_t column = transpose ? i : j, row = transpose ? half_width - 1 + j - i : 2 * half_width - 1 + i - j;
    const T x = r[i + j * ldr];
    band[row + column * ld] = transpose ? conj(x) : x;
  }
};

}  // namespace

template <class T>
void Ge2tbColumns<T>::cuda(CudaContext& context, const Args& args, In<T> a, InOut<T> v, Out<T> g, InOut<T> band,
                           Out<T> t, Scratch<T> work) {
  const TriangularPanel& p = args.panel;
  const index_t m = a.rows - p.column, b = p.half_width;
  const InOut<T> mine{&v(p.column - args.top, p.at), m, p.width, v.ld};
  gather<false>(context, m, p.width, &a(p.column, args.column), a.ld, mine.data, v.ld);
  Geqrt<T>::cuda(context, {0, 0, p.width, b, m}, mine, t, work);
  each(context, p.width, p.width,
       TriangleToBand<device_t<T>, false>{device_pointer(mine.data), v.ld, device_pointer(&band(0, args.band_column)),
                                          band.ld, b});
  each(context, p.width, p.width, UnitLower<device_t<T>>{device_pointer(mine.data), v.ld});
  gather<false>(context, m, p.width, mine.data, v.ld, &g(p.column, 0), g.ld);
}

template <class T>
void Ge2tbRows<T>::cuda(CudaContext& context, const Args& args, In<T> g, In<T> t, In<T> a, Out<T> h, Out<T> p) {
  const index_t c = args.panel.column, b = args.panel.half_width, m = a.rows - c, width = a.cols - args.first;
  const Products<T> products{context};
  T *const y = &h(0, args.first), *const rows = &p(args.first, 0);
  products.gemm(adjoint<T>, Op::none, b, width, m, 1, &g(c, 0), g.ld, &a(c, args.first), a.ld, 0, y, h.ld);
  products.trmm(Side::left, adjoint<T>, b, width, t.data, t.ld, y, h.ld);
  products.transpose(width, b, &a(c, args.first), a.ld, rows, p.ld);
  products.gemm(adjoint<T>, adjoint<T>, width, b, b, -1, y, h.ld, &g(c, 0), g.ld, 1, rows, p.ld);
}

template <class T>
void Ge2tbFactorRows<T>::cuda(CudaContext& context, const Args& args, InOut<T> v, Out<T> t, InOut<T> band,
                              Scratch<T> work, std::span<const In<T>> p) {
  const TriangularPanel& panel = args.panel;
  const index_t b = panel.half_width, first = panel.next() - args.top;
  const InOut<T> mine{&v(first, panel.at), v.rows - first, b, v.ld};
  index_t row = 0, skip = panel.next() % args.tile_width;
  for (const In<T>& part : p) {
    gather<false>(context, part.rows - skip, b, &part(skip, 0), part.ld, &mine(row, 0), v.ld);
    row += part.rows - skip, skip = 0;
  }
  Geqrt<T>::cuda(context, {0, 0, b, b, mine.rows}, mine, t, work);
  each(context, std::min(b, mine.rows), b,
       TriangleToBand<device_t<T>, true>{device_pointer(mine.data), v.ld, device_pointer(&band(0, args.band_column)),
                                         band.ld, b});
  each(context, panel.vectors, panel.vectors, UnitLower<device_t<T>>{device_pointer(mine.data), v.ld});
}

template <class T>
void Ge2tbProduct<T>::cuda(CudaContext& context, const Args& args, In<T> v, In<T> g, Out<T> x, Scratch<T> work,
                           std::span<const In<T>> tiles) {
  const TriangularPanel& p = args.panel;
  const Products<T> products{context};
  const index_t next = p.next(), b = p.half_width, k = p.vectors, m = x.rows - next;
  T* const sum = &x(next, 0);
  T beta = 0;
  for (std::size_t i = 0; i < tiles.size(); i += 2) {
    const In<T>&a = tiles[i], &h = tiles[i + 1];
    const index_t begin = (args.first + static_cast<index_t>(i / 2) * args.stride) * args.tile_width,
                  left = std::max(begin, next), columns = begin + a.cols - left;
    const T* const factor = &v(left - args.top, p.at);
    products.gemm(Op::none, Op::none, m, k, columns, 1, &a(next, left - begin), a.ld, factor, v.ld, beta, sum, x.ld);
    products.gemm(Op::none, Op::none, b, k, columns, 1, &h(0, left - begin), h.ld, factor, v.ld, beta, work.data,
                  work.ld);
    beta = 1;
  }
  products.gemm(Op::none, Op::none, m, k, b, -1, &g(next, 0), g.ld, work.data, work.ld, 1, sum, x.ld);
}

template <class T>
void Ge2tbJoin<T>::cuda(CudaContext& context, const Args& args, In<T> t, InOut<T> g, std::span<const In<T>> parts) {
  const index_t next = args.panel.next(), b = args.panel.half_width, k = args.panel.vectors, m = g.rows - next;
  T* const sum = &g(next, b);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (const In<T>& part = parts[i]; i == 0)
      gather<false>(context, m, k, &part(next, 0), part.ld, sum, g.ld);
    else
      gather<true>(context, m, k, &part(next, 0), part.ld, sum, g.ld);
  Products<T>{context}.trmm(Side::right, Op::none, m, k, t.data, t.ld, sum, g.ld);
}

template <class T>
void Ge2tbUpdate<T>::cuda(CudaContext& context, const Args& args, In<T> g, In<T> v, InOut<T> h, InOut<T> a) {
  const TriangularPanel& p = args.panel;
  const Products<T> products{context};
  const index_t next = p.next(), b = p.half_width, width = a.cols - args.first,
                row = args.tile_column + args.first - args.top;
  products.transpose(p.vectors, width, &v(row, p.at), v.ld, &h(b, args.first), h.ld);
  products.gemm(Op::none, Op::none, a.rows - next, width, b + p.vectors, -1, &g(next, 0), g.ld, &h(0, args.first), h.ld,
                1, &a(next, args.first), a.ld);
}

TESELA_CUDA_FOR_NUMBERS(Ge2tbColumns, Ge2tbRows, Ge2tbFactorRows, Ge2tbProduct, Ge2tbJoin, Ge2tbUpdate)

}  // namespace tesela::kernels
