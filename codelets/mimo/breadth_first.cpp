#include <tesela/codelets/mimo/internal/channel_paths.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>
#include <vector>

namespace tesela::kernels::mimo {
namespace {

/// Levels that one product subtracts from all rows above them, and most columns of such a product.
constexpr index_t block_levels = 4, most_columns = 4096;

std::size_t size(index_t k) { return static_cast<std::size_t>(k); }

/// Paths of some signals, `each` paths per signal, side by side. For the present block of levels: the residuals of its
/// rows and its symbols, both 2 block_levels x paths, and the path before the block from which each path comes.
template <class T>
struct Kept {
  Kept(index_t n, index_t paths, index_t of_each)
      : each(of_each),
        distance(size(paths)),
        inner(size(2 * block_levels * paths)),
        x(inner.size()),
        at(size(n * paths)),
        start(size(paths)) {}
  index_t each;
  std::vector<T> distance, inner, x;
  std::vector<int> at;  ///< indices of points by levels, n x paths
  std::vector<index_t> start;
  index_t paths() const { return static_cast<index_t>(distance.size()); }
};

/// Data of one channel: rows and columns 2 i and 2 i + 1 of r are the parts of level i.
template <class T>
class Breadth {
 public:
  using Number = Complex<T>;
  Breadth(const typename Detector<T>::Args& args, const ChannelView<T>& view) : args_(args), tree_(view) {}

  void channel(const Number* h) {
    tree_.channel(h);
    const index_t n = tree_.view().streams;
    f_ = tree_.factor(tree_.ordered(args_.order, args_.up, args_.n0), 0, false);
    r_.assign(size(4 * n * n), 0);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i <= j; ++i) {
        const Number x = f_.r(i, j);
        T* const at = &r_[size(2 * i + 4 * n * j)];
        at[0] = x.re, at[1] = x.im, at[2 * n] = -x.im, at[2 * n + 1] = x.re;
      }
  }

  void detect(const Block<const std::complex<T>>& y, index_t first, index_t count, const Block<int>& labels,
              const Block<SearchReport>& reports) {
    const auto signal = [&](index_t g) { return reinterpret_cast<const Number*>(&y(0, first + g)); };
    const index_t n = tree_.view().streams;
    Kept<T> kept(n, count, 1);
    above_.assign(size(2 * n * count), 0);
    for (index_t g = 0; g < count; ++g) {
      tree_.receive(signal(g));
      const std::vector<Number> z = tree_.rotated(f_);
      for (index_t i = 0; i < n; ++i)
        above_[size(2 * (i + n * g))] = z[size(i)].re, above_[size(2 * (i + n * g) + 1)] = z[size(i)].im;
    }
    long long nodes = 0;
    for (index_t open = n; open > 0; open -= block_levels) {
      const index_t low = std::max<index_t>(0, open - block_levels);
      for (index_t p = 0; p < kept.paths(); ++p) {
        std::copy_n(&above_[size(2 * (low + n * p))], 2 * (open - low), &kept.inner[size(2 * block_levels * p)]);
        kept.start[size(p)] = p;
      }
      for (index_t level = open; level-- > low;) {
        nodes += kept.each * tree_.view().columns[f_.order[size(level)]].count;
        kept = children(kept, level, low);
      }
      subtract_symbols(kept, low, open);
    }
    for (index_t g = 0; g < count; ++g) {
      reports(0, first + g) = answer(signal(g), kept, g, nodes, &labels(0, first + g));
    }
  }

 private:
  /// Returns the nearest children of each signal's paths.
  Kept<T> children(const Kept<T>& now, index_t level, index_t low) const {
    const index_t n = tree_.view().streams, stream = f_.order[size(level)], b = 2 * block_levels;
    const index_t points = tree_.view().columns[stream].count, all = now.each * points,
                  each = std::min(all, args_.keep), signals = now.paths() / now.each;
    std::vector<Number> a, gone;  // points, and their contributions to this level
    for (int k = 0; k < points; ++k) a.push_back(tree_.value(stream, k)), gone.push_back(f_.r(level, level) * a.back());
    Kept<T> next(n, signals * each, each);
    std::vector<Child<T>> children(size(all));
    for (index_t g = 0; g < signals; ++g) {
      std::size_t s = 0;
      for (index_t from = g * now.each; from < (g + 1) * now.each; ++from) {
        const T* const e = &now.inner[size(2 * (level - low) + b * from)];
        for (int k = 0; k < points; ++k)
          children[s++] = {now.distance[size(from)] + norm(Number{e[0], e[1]} - gone[size(k)]), from, k};
      }
      if (each < all) std::nth_element(children.begin(), children.begin() + (each - 1), children.end());
      for (index_t c = 0; c < each; ++c) {
        const auto& [distance, from, k] = children[size(c)];
        const index_t to = g * each + c;
        next.distance[size(to)] = distance;
        next.start[size(to)] = now.start[size(from)];
        std::copy_n(&now.at[size(n * from)], n, &next.at[size(n * to)]);
        std::copy_n(&now.x[size(b * from)], b, &next.x[size(b * to)]);
        next.at[size(level + n * to)] = k;
        T* const x = &next.x[size(2 * (level - low) + b * to)];
        x[0] = a[size(k)].re, x[1] = a[size(k)].im;
        for (index_t i = low; i < level; ++i) {
          const Number part = f_.r(i, level) * a[size(k)];
          const T* const e = &now.inner[size(2 * (i - low) + b * from)];
          T* const left = &next.inner[size(2 * (i - low) + b * to)];
          left[0] = e[0] - part.re, left[1] = e[1] - part.im;
        }
      }
    }
    return next;
  }

  /// Subtracts the block's symbols from all rows above it.
  void subtract_symbols(const Kept<T>& kept, index_t low, index_t open) {
    const index_t n = tree_.view().streams;
    std::vector<T> above(size(2 * n * kept.paths()));
    if (low > 0) {
      for (index_t p = 0; p < kept.paths(); ++p)
        std::copy_n(&above_[size(2 * n * kept.start[size(p)])], 2 * low, &above[size(2 * n * p)]);
      blas::gemm(Op::none, Op::none, 2 * low, kept.paths(), 2 * (open - low), T(-1), &r_[size(4 * n * low)], 2 * n,
                 kept.x.data(), 2 * block_levels, T(1), above.data(), 2 * n);
    }
    above_.swap(above);
  }

  /// Reports the nearest path; paths that rounding cannot distinguish are compared in double.
  SearchReport answer(const Number* y, const Kept<T>& kept, index_t g, long long nodes, int* labels) {
    const index_t n = tree_.view().streams;
    tree_.receive(y);
    PathChoice<T> choice(tree_, y);
    const auto first = kept.distance.begin() + g * kept.each;
    const T least = *std::min_element(first, first + kept.each);
    std::vector<int> at(size(n));
    for (index_t c = 0; c < kept.each; ++c) {
      const index_t p = g * kept.each + c;
      if (!choice.near(least, kept.distance[size(p)])) continue;
      for (index_t i = 0; i < n; ++i) at[size(f_.order[size(i)])] = kept.at[size(i + n * p)];
      choice.take(at);
    }
    return choice.give(nodes, labels);
  }

  typename Detector<T>::Args args_;
  Paths<T> tree_;
  Factors<T> f_;
  std::vector<T> r_, above_;
};

}  // namespace

template <class T>
void detect_breadth_first(const typename Detector<T>::Args& args, const Block<const std::complex<T>>& h,
                          const Block<const std::complex<T>>& y, const ChannelView<T>& view, const Block<int>& labels,
                          const Block<SearchReport>& reports) {
  Breadth<T> breadth(args, view);
  const index_t most = std::max<index_t>(1, most_columns / args.keep);
  for (index_t k = 0, count = 0; k < y.cols; k += count) {
    const index_t of_channel = k % args.coherence;
    if (of_channel == 0) breadth.channel(reinterpret_cast<const Complex<T>*>(&h(0, k / args.coherence * args.streams)));
    count = std::min({most, args.coherence - of_channel, y.cols - k});
    breadth.detect(y, k, count, labels, reports);
  }
}

template void detect_breadth_first(const Detector<float>::Args&, const Block<const std::complex<float>>&,
                                   const Block<const std::complex<float>>&, const ChannelView<float>&,
                                   const Block<int>&, const Block<SearchReport>&);
template void detect_breadth_first(const Detector<double>::Args&, const Block<const std::complex<double>>&,
                                   const Block<const std::complex<double>>&, const ChannelView<double>&,
                                   const Block<int>&, const Block<SearchReport>&);

}  // namespace tesela::kernels::mimo
