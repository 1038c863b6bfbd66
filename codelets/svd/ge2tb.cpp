#include <tesela/codelets/svd/ge2tb.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>

namespace tesela::kernels {

using blas::Triangle;
namespace {

/// Replaces the triangle of R above the first `columns` reflectors in v by their zeros and ones.
template <class T>
void complete(const InOut<T>& v, index_t columns) {
  for (index_t j = 0; j < columns; ++j) {
    std::fill_n(&v(0, j), std::min(j, v.rows), T(0));
    v(j, j) = 1;
  }
}

}  // namespace

template <class T>
void Ge2tbColumns<T>::cpu(const Args& args, In<T> a, InOut<T> v, Out<T> g, InOut<T> band, Out<T> t, Scratch<T> work) {
  const TriangularPanel& p = args.panel;
  const index_t m = a.rows - p.column, b = p.half_width;
  const InOut<T> mine{&v(p.column - args.top, p.at), m, p.width, v.ld};
  for (index_t j = 0; j < p.width; ++j) std::copy_n(&a(p.column, args.column + j), m, &mine(0, j));
  Geqrt<T>::cpu({0, 0, p.width, b, m}, mine, t, work);
  for (index_t j = 0; j < p.width; ++j)
    for (index_t i = 0; i <= j; ++i) band(i - j + 2 * b - 1, args.band_column + j) = mine(i, j);
  complete(mine, p.width);
  for (index_t j = 0; j < p.width; ++j) std::copy_n(&mine(0, j), m, &g(p.column, j));
}

template <class T>
void Ge2tbRows<T>::cpu(const Args& args, In<T> g, In<T> t, In<T> a, Out<T> h, Out<T> p) {
  const index_t c = args.panel.column, b = args.panel.half_width, m = a.rows - c, width = a.cols - args.first;
  T* const y = &h(0, args.first);
  blas::gemm<T>(adjoint<T>, Op::none, b, width, m, 1, &g(c, 0), g.ld, &a(c, args.first), a.ld, 0, y, h.ld);
  blas::trmm<T>(Side::left, Triangle::upper, adjoint<T>, b, width, 1, t.data, t.ld, y, h.ld);
  for (index_t j = 0; j < b; ++j)
    for (index_t i = 0; i < width; ++i) p(args.first + i, j) = conj(a(c + j, args.first + i));
  blas::gemm<T>(adjoint<T>, adjoint<T>, width, b, b, -1, y, h.ld, &g(c, 0), g.ld, 1, &p(args.first, 0), p.ld);
}

template <class T>
void Ge2tbFactorRows<T>::cpu(const Args& args, InOut<T> v, Out<T> t, InOut<T> band, Scratch<T> work,
                             std::span<const In<T>> p) {
  const TriangularPanel& panel = args.panel;
  const index_t b = panel.half_width, first = panel.next() - args.top;
  const InOut<T> mine{&v(first, panel.at), v.rows - first, b, v.ld};
  index_t row = 0, skip = panel.next() % args.tile_width;
  for (const In<T>& part : p) {
    const index_t rows = part.rows - skip;
    for (index_t j = 0; j < b; ++j) std::copy_n(&part(skip, j), rows, &mine(row, j));
    row += rows, skip = 0;
  }
  Geqrt<T>::cpu({0, 0, b, b, mine.rows}, mine, t, work);
  for (index_t i = 0; i < b; ++i)
    for (index_t j = 0; j <= std::min(i, mine.rows - 1); ++j)
      band(b - 1 + i - j, args.band_column + j) = conj(mine(j, i));
  complete(mine, panel.vectors);
}

template <class T>
void Ge2tbProduct<T>::cpu(const Args& args, In<T> v, In<T> g, Out<T> x, Scratch<T> work, std::span<const In<T>> tiles) {
  const TriangularPanel& p = args.panel;
  const index_t next = p.next(), b = p.half_width, k = p.vectors, m = x.rows - next;
  T* const sum = &x(next, 0);
  T beta = 0;
  for (std::size_t i = 0; i < tiles.size(); i += 2) {
    const In<T>&a = tiles[i], &h = tiles[i + 1];
    const index_t begin = (args.first + static_cast<index_t>(i / 2) * args.stride) * args.tile_width,
                  left = std::max(begin, next), columns = begin + a.cols - left;
    const T* const factor = &v(left - args.top, p.at);
    blas::gemm<T>(Op::none, Op::none, m, k, columns, 1, &a(next, left - begin), a.ld, factor, v.ld, beta, sum, x.ld);
    blas::gemm<T>(Op::none, Op::none, b, k, columns, 1, &h(0, left - begin), h.ld, factor, v.ld, beta, work.data,
                  work.ld);
    beta = 1;
  }
  blas::gemm<T>(Op::none, Op::none, m, k, b, -1, &g(next, 0), g.ld, work.data, work.ld, 1, sum, x.ld);
}

template <class T>
void Ge2tbJoin<T>::cpu(const Args& args, In<T> t, InOut<T> g, std::span<const In<T>> parts) {
  const index_t next = args.panel.next(), b = args.panel.half_width, k = args.panel.vectors, m = g.rows - next;
  for (index_t j = 0; j < k; ++j) {
    T* const column = &g(next, b + j);
    std::copy_n(&parts[0](next, j), m, column);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const T* const part = &parts[i](next, j);
      for (index_t l = 0; l < m; ++l) column[l] += part[l];
    }
  }
  blas::trmm<T>(Side::right, Triangle::upper, Op::none, m, k, 1, t.data, t.ld, &g(next, b), g.ld);
}

template <class T>
void Ge2tbUpdate<T>::cpu(const Args& args, In<T> g, In<T> v, InOut<T> h, InOut<T> a) {
  const TriangularPanel& p = args.panel;
  const index_t next = p.next(), b = p.half_width, width = a.cols - args.first,
                row = args.tile_column + args.first - args.top;
  for (index_t i = 0; i < width; ++i)
    for (index_t l = 0; l < p.vectors; ++l) h(b + l, args.first + i) = conj(v(row + i, p.at + l));
  blas::gemm<T>(Op::none, Op::none, a.rows - next, width, b + p.vectors, -1, &g(next, 0), g.ld, &h(0, args.first), h.ld,
                1, &a(next, args.first), a.ld);
}

TESELA_STRUCTS_FOR_NUMBERS(Ge2tbColumns, Ge2tbRows, Ge2tbFactorRows, Ge2tbProduct, Ge2tbJoin, Ge2tbUpdate)

}  // namespace tesela::kernels
