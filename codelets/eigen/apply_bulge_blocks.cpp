#include <tesela/codelets/eigen/bulge_blocks.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#define HWY_TARGET_INCLUDE "tesela/codelets/eigen/apply_bulge_blocks.cpp"
#include <tesela/codelets/eigen/internal/lanes_inl.hpp>

// A few columns of C pass through a bundle in a window of rows that stays in the cache. In the window the rows of a
// panel of columns are contiguous, each in a few vectors.

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::eigen::HWY_NAMESPACE {
namespace {

/// Hops whose blocks are applied between two moves of the window.
constexpr index_t hops_at_once = 4;

/// Columns of C in the widest panel, three vectors of 32 bytes; panels of shorter vectors divide it.
constexpr index_t widest_panel(std::size_t element_size) { return 96 / static_cast<index_t>(element_size); }

/// Rows of C that are in the window at once.
inline index_t window_rows(const BulgeBlocks& p) {
  return (p.blocks - 1) * p.width + (hops_at_once - 1) * p.chase.b + p.length();
}

/// Returns the widest panels that are in the window at once.
inline index_t window_panels(const BulgeBlocks& p) {
  constexpr index_t cache = 1 << 17, row_bytes = 96;
  return std::max<index_t>(cache / (window_rows(p) * row_bytes), 1);
}

/// Columns of a panel.
template <class T>
constexpr index_t panel = 3 * lanes<T>;

/// A row of a panel with named vectors, so that the compiler keeps it in registers.
template <class T>
struct PanelRow {
  Vec<T> a, b, c;
  HWY_INLINE PanelRow() : a(zeros<T>()), b(zeros<T>()), c(zeros<T>()) {}
  HWY_INLINE explicit PanelRow(const T* x) : a(load(x)), b(load(x + lanes<T>)), c(load(x + 2 * lanes<T>)) {}
  HWY_INLINE void store_to(T* x) const {
    store(x, a);
    store(x + lanes<T>, b);
    store(x + 2 * lanes<T>, c);
  }
  HWY_INLINE void add(const PanelRow& x, T factor) {
    const Vec<T> f = all(factor);
    a = hn::MulAdd(x.a, f, a);
    b = hn::MulAdd(x.b, f, b);
    c = hn::MulAdd(x.c, f, c);
  }
  HWY_INLINE void subtract_from(T* x) const {
    PanelRow y(x);
    y.a = hn::Sub(y.a, a);
    y.b = hn::Sub(y.b, b);
    y.c = hn::Sub(y.c, c);
    y.store_to(x);
  }
};

/// Four rows of a product: the sum over begin <= j < end of f(0 … 3, j) x(j), where f is a panel.
template <class T>
struct FourRows {
  PanelRow<T> s0, s1, s2, s3;
  HWY_INLINE FourRows(index_t begin, index_t end, const T* f, const T* x) {
    for (index_t j = begin; j < end; ++j) {
      const PanelRow<T> xj(x + j * panel<T>);
      s0.add(xj, f[4 * j]);
      s1.add(xj, f[4 * j + 1]);
      s2.add(xj, f[4 * j + 2]);
      s3.add(xj, f[4 * j + 3]);
    }
  }
};

/// Computes w(t .. t + 3) = sum over begin <= r < end of first(t …, r) x(r).
template <class T>
HWY_INLINE void project(index_t begin, index_t end, const T* panel_of_first, const T* x, T* w) {
  const FourRows<T> sum(begin, end, panel_of_first, x);
  sum.s0.store_to(w);
  sum.s1.store_to(w + panel<T>);
  sum.s2.store_to(w + 2 * panel<T>);
  sum.s3.store_to(w + 3 * panel<T>);
}

/// Computes x(0 .. 3) -= sum over begin <= t < end of second(0 …, t) w(t).
template <class T>
HWY_INLINE void correct(index_t begin, index_t end, const T* panel_of_second, const T* w, T* x) {
  const FourRows<T> sum(begin, end, panel_of_second, w);
  sum.s0.subtract_from(x);
  sum.s1.subtract_from(x + panel<T>);
  sum.s2.subtract_from(x + 2 * panel<T>);
  sum.s3.subtract_from(x + 3 * panel<T>);
}

/// Applies one block to one panel; x is the block's first row. Zeros of V and of V T are skipped.
template <class T>
HWY_INLINE void apply_block(const BulgeBlocks& p, Op op, const T* factors, T* x, T* w) {
  const index_t k = p.width, rows = p.length(), b = p.chase.b;
  const T* const second = factors + k * rows;
  for (index_t t = 0; t < k; t += 4)
    project(op == Op::none ? t : 0, std::min(rows, t + 3 + b), factors + t * rows, x, w + t * panel<T>);
  for (index_t r = 0; r < rows; r += 4)
    correct(std::max<index_t>(r - b + 1, 0), op == Op::none ? k : std::min(k, r + 4), second + r * k, w,
            x + r * panel<T>);
}

template <class T>
struct Bundle {
  const typename ApplyBulgeBlocks<T>::Args& args;
  const In<T>& factors;
  std::span<const InOut<T>> tiles;
  T *window, *w;
  index_t capacity;  // rows of a panel in the window

  /// Applies the bundle to columns column … column + count - 1 of C.
  HWY_INLINE void run(index_t column, index_t count) const {
    const BulgeBlocks& p = args.plan;
    const index_t hops = p.hops(args.bundle), chunks = ceil_div(hops, hops_at_once);
    index_t begin = 0, end = 0;  // rows that are in the window
    for (index_t c = 0; c < chunks; ++c) {
      const index_t first = (args.op == Op::none ? c : chunks - 1 - c) * hops_at_once,
                    last = std::min(first + hops_at_once, hops);
      const index_t from = p.chase.row(p.first_sweep(args.bundle), first), to = from + capacity;
      // Rows of both windows move within the buffer; the others are written back, or read.
      const index_t stays = std::max(from, begin), goes = std::min(to, end);
      if (stays >= goes) {
        exchange<false>(begin, end, begin, column, count);
        exchange<true>(from, to, from, column, count);
      } else {
        exchange<false>(begin, stays, begin, column, count);
        exchange<false>(goes, end, begin, column, count);
        for (index_t j = 0; j < count; j += panel<T>) {
          T* const x = window + j * capacity;
          std::memmove(x + (stays - from) * panel<T>, x + (stays - begin) * panel<T>,
                       static_cast<std::size_t>((goes - stays) * panel<T>) * sizeof(T));
        }
        exchange<true>(from, stays, from, column, count);
        exchange<true>(goes, to, from, column, count);
      }
      begin = from;
      end = to;
      for (index_t h = first; h < last; ++h)
        for (index_t q = 0; q < p.blocks; ++q)
          args.op == Op::none ? block(h, p.blocks - 1 - q, begin, count)
                              : block(last - 1 - (h - first), q, begin, count);
    }
    exchange<false>(begin, end, begin, column, count);
  }

 private:
  HWY_INLINE void block(index_t hop, index_t q, index_t begin, index_t count) const {
    const BulgeBlocks& p = args.plan;
    if (!p.exists(args.bundle, q, hop)) return;
    const index_t row = p.chase.row(p.first_sweep(args.bundle, q), hop) - begin;
    for (index_t j = 0; j < count; j += panel<T>)
      apply_block(p, args.op, &factors(0, p.column(q, hop)), window + j * capacity + row * panel<T>, w);
  }

  /// Columns that exchange() copies at once.
  static constexpr index_t some = lanes<T> < 4 ? lanes<T> : 4;

  /// Reads rows begin … end - 1 of C into the window, or writes them back; row `origin` is the window's first row. Rows
  /// outside of C are read as zeros, columns outside as copies.
  template <bool reads>
  HWY_INLINE void exchange(index_t begin, index_t end, index_t origin, index_t column, index_t count) const {
    const index_t n = args.plan.chase.n, columns = std::min(count, tiles.front().cols - column);
    for (index_t i = begin; i < std::min(end, n);) {
      const index_t tile = (i - args.row) / args.height, top = i - args.row - tile * args.height,
                    rows = std::min(std::min(end, n) - i, args.height - top);
      const InOut<T>& c = tiles[static_cast<std::size_t>(tile)];
      for (index_t j = 0; j < count; j += some) {
        T* const x = window + (j / panel<T> * capacity + i - origin) * panel<T> + j % panel<T>;
        const T* from[some];
        for (index_t l = 0; l < some; ++l) from[l] = &c(top, column + std::min(j + l, columns - 1));
        if constexpr (reads) {
          for (index_t r = 0; r < rows; ++r)
            for (index_t l = 0; l < some; ++l) x[r * panel<T> + l] = from[l][r];
        } else if (j + some <= columns) {
          T* to[some];
          for (index_t l = 0; l < some; ++l) to[l] = &c(top, column + j + l);
          for (index_t r = 0; r < rows; ++r)
            for (index_t l = 0; l < some; ++l) to[l][r] = x[r * panel<T> + l];
        } else {
          for (index_t l = 0; j + l < columns; ++l)
            for (index_t r = 0; r < rows; ++r) c(top + r, column + j + l) = x[r * panel<T> + l];
        }
      }
      i += rows;
    }
    if constexpr (reads)
      for (index_t j = 0; j < count && end > n; j += panel<T>)
        std::fill_n(window + (j * capacity) + (std::max(n, begin) - origin) * panel<T>,
                    (end - std::max(n, begin)) * panel<T>, T(0));
  }
};

template <class T>
void apply(const typename ApplyBulgeBlocks<T>::Args& args, const In<T>& blocks, const Scratch<T>& work,
           std::span<const InOut<T>> c) {
  static_assert(widest_panel(sizeof(T)) % panel<T> == 0);
  const index_t rows = window_rows(args.plan), columns = window_panels(args.plan) * widest_panel(sizeof(T));
  const Bundle<T> bundle{args, blocks, c, work.data, work.data + rows * columns, rows};
  const index_t panels = ceil_div(c.front().cols, panel<T>), parts = ceil_div(panels, columns / panel<T>);
  for (index_t part = 0; part < parts; ++part) {
    const index_t from = panels * part / parts, to = panels * (part + 1) / parts;
    bundle.run(from * panel<T>, (to - from) * panel<T>);
  }
}

}  // namespace
}  // namespace tesela::kernels::eigen::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace eigen {
namespace {

/// Returns complex numbers as twice as many rows of real numbers.
template <class T>
auto in_parts(const Block<T>& x) {
  using Part = std::conditional_t<std::is_const_v<T>, const real_t<T>, real_t<T>>;
  return Block<Part>{reinterpret_cast<Part*>(x.data), 2 * x.rows, x.cols, 2 * x.ld};
}

template <class T>
auto best_apply() {
  return TESELA_BEST_TARGET(apply<T>);
}

}  // namespace
}  // namespace eigen

Shape apply_bulge_blocks_work(const BulgeBlocks& plan, std::size_t element_size) {
  using namespace eigen::HWY_NAMESPACE;
  return {widest_panel(element_size), window_rows(plan) * window_panels(plan) + plan.width};
}

template <class T>
void ApplyBulgeBlocks<T>::cpu(const Args& args, In<T> blocks, Scratch<T> work, std::span<const InOut<T>> c) {
  if constexpr (is_complex<T>) {
    std::vector<InOut<real_t<T>>> tiles;
    for (const InOut<T>& tile : c) tiles.push_back({eigen::in_parts<T>(tile)});
    eigen::best_apply<real_t<T>>()(
        {plan_of_parts<T>(args.plan), args.bundle, args.op, 2 * args.row - 1, 2 * args.height},
        {eigen::in_parts<const T>(blocks)}, {eigen::in_parts<T>(work)}, tiles);
  } else {
    eigen::best_apply<T>()(args, blocks, work, c);
  }
}

TESELA_STRUCTS_FOR_NUMBERS(ApplyBulgeBlocks)

}  // namespace tesela::kernels
#endif
