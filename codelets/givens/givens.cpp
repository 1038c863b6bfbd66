#include <tesela/codelets/givens/givens.hpp>
#include <tesela/codelets/givens/internal/givens_pass.hpp>

#include <algorithm>
#include <type_traits>

// The CPU variants. GivensWindow explains how rotations are applied.

namespace tesela::kernels {
namespace {

constexpr index_t chunk = givens_chunk;

/// Applies a window to columns. rotations(from, to, x) writes the rotations of steps from … to - 1 to x, `width` per
/// step; it is called in the order in which they are applied.
template <class T, class Rotations>
void apply_window(const GivensWindow& w, bool forward, Rotations rotations, Strided<T> c, index_t columns, T* work) {
  static_assert(sizeof(Rotation<T>) <= 2 * sizeof(T) && std::is_trivially_copyable_v<Rotation<T>>);
  auto* const x = reinterpret_cast<Rotation<T>*>(work);
  T* const saved = work + 2 * chunk * w.width;
  const index_t chunks = ceil_div(w.steps(), chunk);
  for (index_t n = 0; n < chunks; ++n) {
    const index_t from = (forward ? n : chunks - 1 - n) * chunk, to = std::min(from + chunk, w.steps());
    rotations(from, to, x);
    internal::pass_columns(w, forward, from, to, x, c, columns, saved);
  }
}

/// Unpacks the rotations of a window, for the rows of C or for its columns, from the scalars in v's first columns.
template <class T>
struct Unpacked {
  const GivensWindow& w;
  Strided<const T> v;
  Side side = Side::left;
  void operator()(index_t from, index_t to, Rotation<T>* x) const {
    for (index_t e = from; e < to; ++e, x += w.width)
      for (index_t t = 0; t < w.cells(e); ++t) x[t] = for_side(side, unpack(v(w.zero_row(e, t), t)));
  }
};

/// Computes the rotations of a window from the columns that a GivensChainPanel copied: each column's chain upwards from
/// its end.
template <class T>
struct Recomputed {
  const GivensWindow& w;
  Strided<const T> l;
  Side side;
  T carried[max_givens_window] = {};
  void operator()(index_t from, index_t to, Rotation<T>* x) {
    for (index_t t = 0; from == 0 && t < w.first_cells(); ++t) carried[t] = l(w.first_row(t), t);
    for (index_t e = from; e < to; ++e, x += w.width) {
      const index_t cells = w.cells(e);
      for (index_t t = 0; t < cells; ++t) {
        const Annihilation<T> y = givens(l(w.in_row(e) + t, t), carried[t]);
        x[t] = for_side(side, y.rotation);
        carried[t] = y.r;
      }
      if (cells < w.width) carried[cells] = l(w.in_row(e) + cells, cells);
    }
  }
};

struct Reach {
  index_t distance = 0, rotations = 0;
};

/// Annihilates one column below row `begin`.
template <class T>
Reach factor_column(Pivot pivot, index_t begin, index_t m, T* a) {
  if (begin >= m) return {};
  if (pivot == Pivot::diagonal) {
    for (index_t i = begin + 1; i < m; ++i) {
      const Annihilation<T> x = givens(a[begin], a[i]);
      a[begin] = x.r;
      a[i] = x.rho;
    }
    return {m - 1 - begin, m - 1 - begin};
  }
  index_t last = m - 1;
  while (last > begin && a[last] == T(0)) --last;
  for (index_t i = last; i > begin; --i) {
    const Annihilation<T> x = givens(a[i - 1], a[i]);
    a[i - 1] = x.r;
    a[i] = x.rho;
  }
  return {last - begin, last - begin};
}

/// Annihilates `width` columns by halves, so that passes do most of the work.
template <class T>
Reach factor_columns(Pivot pivot, index_t begin, index_t m, index_t width, Strided<T> a, Strided<T>* l, T* work) {
  if (width == 1) {
    for (index_t i = begin; l != nullptr && i < m; ++i) (*l)(i, 0) = a(i, 0);
    return factor_column(pivot, begin, m, a.data);
  }
  const index_t half = width / 2;
  const auto right = [half](const Strided<T>& x) {
    return Strided<T>{x.data + half * x.column_stride, x.row_stride, x.column_stride};
  };
  Strided<T> rest = right(a), rest_of_l = l != nullptr ? right(*l) : rest;
  const Reach x = factor_columns(pivot, begin, m, half, a, l, work);
  const auto w = GivensWindow::make(pivot, begin, m, half, x.distance);
  apply_window(w, true, Unpacked<T>{w, {a.data, a.row_stride, a.column_stride}}, rest, width - half, work);
  const Reach y = factor_columns(pivot, begin + half, m, width - half, rest, l != nullptr ? &rest_of_l : nullptr, work);
  return {std::max(x.distance, y.distance), x.rotations + y.rotations};
}

template <class T>
void factor_panel(const typename GivensPanel<T>::Args& args, const InOut<T>& a, Strided<T>* l, const Out<index_t>& info,
                  const Scratch<T>& work) {
  const Strided<T> panel{a.data + args.col * a.ld, 1, a.ld};
  const Reach x = factor_columns(args.pivot, args.row, a.rows, args.width, panel, l, work.data);
  info(0, 0) = x.distance;
  info(1, 0) = x.rotations;
  const index_t next = args.col + args.width;
  if (next == a.cols) return;
  const auto w = GivensWindow::make(args.pivot, args.row, a.rows, args.width, x.distance);
  apply_window(w, true, Unpacked<T>{w, {panel.data, 1, a.ld}}, Strided<T>{a.data + next * a.ld, 1, a.ld}, a.cols - next,
               work.data);
}

}  // namespace

template <class T>
void GivensPanel<T>::cpu(const Args& args, InOut<T> a, Out<index_t> info, Scratch<T> work) {
  factor_panel<T>(args, a, nullptr, info, work);
}

template <class T>
void GivensChainPanel<T>::cpu(const Args& args, InOut<T> a, Out<T> l, Out<index_t> info, Scratch<T> work) {
  Strided<T> copies{l.data, 1, l.ld};
  factor_panel<T>(args, a, &copies, info, work);
}

template <class T>
void GivensApply<T>::cpu(const Args& args, In<T> source, In<index_t> info, InOut<T> c, Scratch<T> work) {
  const bool left = args.side == Side::left;
  const index_t m = left ? c.rows : c.cols, columns = left ? c.cols : c.rows;
  const Strided<T> rows = left ? Strided<T>{c.data, 1, c.ld} : Strided<T>{c.data, c.ld, 1};
  const index_t windows = ceil_div(args.width, args.window);
  for (index_t n = 0; n < windows; ++n) {
    const index_t from = (args.forward() ? n : windows - 1 - n) * args.window, col = args.col + from;
    const auto w =
        GivensWindow::make(args.pivot, args.row + from, m, std::min(args.window, args.width - from), info(0, 0));
    const Strided<const T> v =
        args.diagonal < 0 ? Strided<const T>{source.data + col * source.ld, 1, source.ld}
                          : Strided<const T>{source.data + args.diagonal + col * (source.ld - 1), 1, source.ld - 1};
    if (args.chain)
      apply_window(w, args.forward(), Recomputed<T>{w, v, args.side}, rows, columns, work.data);
    else
      apply_window(w, args.forward(), Unpacked<T>{w, v, args.side}, rows, columns, work.data);
  }
}

template <class T>
void GivensSweep<T>::cpu(const Args& args, Out<index_t> info, Scratch<T> work, std::span<const InOut<T>> tiles) {
  Reach total;
  auto* const rotations = reinterpret_cast<Rotation<T>*>(work.data);
  index_t n = 0;
  for (const InOut<T>& tile : tiles) n += tile.cols;
  const index_t m = tiles.empty() ? 0 : tiles.front().rows;
  const auto column = [&](index_t j) {
    const InOut<T>& tile = tiles[static_cast<std::size_t>(j / args.nb)];
    return tile.data + j % args.nb * tile.ld;
  };
  for (index_t j = 0; j < std::min(m - 1, n); ++j) {
    T* const a = column(j);
    const Reach x = factor_column(Pivot::adjacent, j, m, a);
    for (index_t i = j + 1; i <= j + x.distance; ++i) rotations[i] = unpack(a[i]);
    for (index_t u = j + 1; u < n; ++u) {
      T* const b = column(u);
      for (index_t i = j + x.distance; i > j; --i) rotate(rotations[i], b[i - 1], b[i]);
    }
    total = {std::max(total.distance, x.distance), total.rotations + x.rotations};
  }
  info(0, 0) = total.distance;
  info(1, 0) = total.rotations;
}

template <class T>
void GivensBand<T>::cpu(const Args& args, InOut<T> ab, Out<index_t> info) {
  const index_t n = ab.cols, above = args.kl + args.ku;
  const Strided<T> a{ab.data + above, 1, ab.ld - 1};
  for (index_t j = 0; j < n; ++j) std::fill_n(ab.data + j * ab.ld, args.kl, T(0));
  index_t rotations = 0;
  for (index_t j = 0; j < std::min(args.m - 1, n); ++j) {
    index_t last = std::min(args.m - 1, j + args.kl);
    while (last > j && a(last, j) == T(0)) --last;
    rotations += last - j;
    for (index_t i = last; i > j; --i) {
      const Annihilation<T> x = givens(a(i - 1, j), a(i, j));
      a(i - 1, j) = x.r;
      a(i, j) = x.rho;
      for (index_t u = j + 1; u <= std::min(n - 1, j + above); ++u) rotate(x.rotation, a(i - 1, u), a(i, u));
    }
  }
  info(0, 0) = args.kl;
  info(1, 0) = rotations;
}

TESELA_STRUCTS_FOR_NUMBERS(GivensPanel, GivensChainPanel, GivensApply, GivensSweep, GivensBand)

}  // namespace tesela::kernels
