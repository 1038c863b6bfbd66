#include <tesela/codelets/eigen/tridiagonal/merge.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>
#include <vector>

namespace tesela::kernels {
namespace {

/// Appends the address of each column of tiles side by side.
template <class T>
void append_columns(std::span<const In<T>> tiles, std::vector<const T*>& columns) {
  for (const In<T>& tile : tiles)
    for (index_t j = 0; j < tile.cols; ++j) columns.push_back(&tile(0, j));
}

}  // namespace

template <class T>
void MergeColumns<T>::cpu(const Args& args, In<index_t> plan, In<T> rotations, Out<T> kept, Out<T> deflated,
                          std::span<const In<T>> sources) {
  const auto column = [&](index_t j) { return j < args.kept ? &kept(0, j) : &deflated(0, j - args.kept); };
  const std::size_t each = sources.size() / static_cast<std::size_t>(args.blocks);
  std::vector<const T*> from;
  index_t first = 0;
  for (std::size_t block = 0; block < sources.size(); block += each) {
    const auto tiles = sources.subspan(block, each);
    const index_t rows = tiles[0].rows;
    from.clear();
    append_columns(tiles, from);
    for (index_t j = 0; j < args.kept + args.deflated; ++j)
      if (const index_t source = plan.data[j]; source >= 0)
        std::copy_n(from[static_cast<std::size_t>(source)], rows, column(j) + first);
      else
        std::fill_n(column(j) + first, rows, T(0));
    first += rows;
  }
  const index_t* const pairs = plan.data + args.kept + args.deflated;
  for (index_t r = 0; r < args.rotations; ++r) {
    T* const x = column(pairs[2 * r]);
    T* const y = column(pairs[2 * r + 1]);
    const T c = rotations(r, 0), s = rotations(r, 1);
    for (index_t i = 0; i < first; ++i) {
      const T old = x[i];
      x[i] = c * old + s * y[i];
      y[i] = c * y[i] - s * old;
    }
  }
}

template <class T>
void MergeProduct<T>::cpu(const Args& args, In<T> a, In<T> b, Out<T> c, Scratch<double>) {
  if (args.inner == 0)
    for (index_t j = 0; j < c.cols; ++j) std::fill_n(&c(0, j), c.rows, T(0));
  else
    blas::gemm<T>(Op::none, Op::none, c.rows, c.cols, args.inner, 1, a.data, a.ld, &b(args.first, 0), b.ld, 0, c.data,
                  c.ld);
}

template <class T>
void CopyRow<T>::cpu(const Args& args, Out<T> row, std::span<const In<T>> sources) {
  index_t j = 0;
  for (const In<T>& tile : sources)
    for (index_t k = 0; k < tile.cols; ++k) row(j++, 0) = tile(args.row, k);
}

template <class T, template <class> class X>
void PlaceColumns<T, X>::cpu(const Args& args, In<index_t> map, X<T> x, std::span<const In<T>> sources) {
  std::vector<const T*> from;
  append_columns(sources, from);
  for (index_t j = 0; j < x.cols; ++j) {
    T* const to = &x(0, j);
    const index_t source = map.data[j];
    const index_t begin = source >= 0 ? args.to : 0, end = source >= 0 ? args.to + args.rows : 0;
    if (source >= 0) std::copy_n(from[static_cast<std::size_t>(source)] + args.from, args.rows, to + args.to);
    if constexpr (X<T>::mode == Mode::out) {
      std::fill(to, to + begin, T(0));
      std::fill(to + end, to + x.rows, T(0));
    }
  }
}

TESELA_STRUCTS_FOR_REALS(MergeColumns, MergeProduct, CopyRow)
#define TESELA_INSTANTIATE(T)             \
  template struct PlaceColumns<T, InOut>; \
  template struct PlaceColumns<T, Out>;
TESELA_FOR_REALS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels
