#pragma once

#include <tesela/codelets/mimo/internal/channel_body.hpp>

// The tree of a search, and the nearest H s, depth first, one signal per thread. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// A tree whose level i decides column order[i]; level n - 1 belongs to the root.
template <class F, class P>
struct Tree {
  using T = real_t<F>;
  static constexpr int most_levels = is_complex<F> ? most_streams : 2 * most_streams;

  index_t m, n;
  P a;
  OrderOf order;
  const SearchColumn* columns;
  const SearchPoint* points;
  bool plain = false;  ///< children in their stored order, not by distance
  bool every = false;  ///< also for a column on which nothing depends
  T unit;              ///< 2^(channel's exponent - exponent of the signal's numbers); z has this factor as well
  P z;

  F e[most_levels];                         ///< residual of z[i] for level i's column
  T distance[most_levels + 1];              ///< of the path down to level i
  T step[most_levels];                      ///< of the present child only
  int at[most_levels];                      ///< the present child
  int low[most_levels], high[most_levels];  ///< in real form: the next children on either side
  int only[most_levels];                    ///< for a free column the only child that is tried, then `tried`
  static constexpr int not_free = -1, tried = -2;

  TESELA_INLINE const SearchColumn& column(index_t i) const { return columns[order[i]]; }
  TESELA_INLINE F r(index_t i, index_t j) const { return i < m ? F(a[i + j * m]) : number<F>(0); }
  TESELA_INLINE F amplitude(const SearchColumn& c, int k) const {
    if constexpr (is_complex<F>) {
      const SearchPoint& p = points[c.first + k];
      return {unit * static_cast<T>(p.re), unit * static_cast<T>(p.im)};
    } else {
      return unit * static_cast<T>(c.low + k * c.step);
    }
  }
  TESELA_INLINE T away(index_t i, int k) const { return norm(e[i] - r(i, i) * amplitude(column(i), k)); }

  /// Returns whether nothing depends on this column.
  TESELA_BOTH bool free(index_t i) const {
    if (!(norm(r(i, i)) == 0)) return false;
    for (index_t k = 0; k < i && k < m; ++k)
      if (!(size_of(r(k, i)) == 0)) return false;
    return true;
  }

  /// Returns the number of children of level i after open().
  TESELA_INLINE int children(index_t i) const { return only[i] == not_free ? column(i).count : 1; }

  TESELA_BOTH int lowest_label(const SearchColumn& c) const {
    int lowest = 0;
    for (int k = 1; k < c.count; ++k)
      if (points[c.first + k].label < points[c.first + lowest].label) lowest = k;
    return lowest;
  }

  /// Opens level i, with none of its children visited.
  TESELA_BOTH void open(index_t i) {
    F left = i < m ? F(z[i]) : number<F>(0);
    for (index_t j = i + 1; j < n && i < m; ++j) left -= r(i, j) * amplitude(column(j), at[j]);
    e[i] = left;
    at[i] = -1;
    const SearchColumn& c = column(i);
    only[i] = !every && free(i) ? lowest_label(c) : not_free;
    if constexpr (!is_complex<F>) {
      const double place = (static_cast<double>(left / (r(i, i) * unit)) - c.low) / c.step;
      const double last = c.count - 1;
      low[i] = place > 0 ? static_cast<int>(place < last ? place : last) : 0;  // 0 for NaN
      high[i] = low[i] + 1;
    }
  }

  /// Moves to the next child, in order of distance. Returns false if there is none.
  TESELA_BOTH bool next(index_t i) {
    const SearchColumn& c = column(i);
    if (only[i] != not_free) {
      if (only[i] == tried) return false;
      at[i] = only[i], step[i] = norm(e[i]), only[i] = tried;
      return true;
    }
    if (plain) {
      if (++at[i] >= c.count) return false;
      step[i] = away(i, at[i]);
      return true;
    }
    if constexpr (is_complex<F>) {
      return next_point(i, c);
    } else {
      const bool below = low[i] >= 0, above = high[i] < c.count;
      if (!below && !above) return false;
      const T down = below ? away(i, low[i]) : T(0), up = above ? away(i, high[i]) : T(0);
      if (below && (!above || down <= up))
        at[i] = low[i]--, step[i] = down;
      else
        at[i] = high[i]++, step[i] = up;
      return true;
    }
  }

  /// Moves to the next point in order of (distance, index), found by a comparison of all points: no list is stored.
  TESELA_BOTH bool next_point(index_t i, const SearchColumn& c) {
    int best = -1;
    T least = 0;
    for (int k = 0; k < c.count; ++k) {
      const T d = away(i, k);
      if (at[i] >= 0 && !(d > step[i] || (d == step[i] && k > at[i]))) continue;
      if (best < 0 || d < least) best = k, least = d;
    }
    if (best < 0) return false;
    at[i] = best, step[i] = least;
    return true;
  }
};

/// Best leaf of a search and its distance.
struct Found {
  bool any = false, tie = false;
  double distance = 0;  ///< ||y - H s||
};

/// Returns ||y - H s||, scaled, for given symbols; summed in double, always in the same order.
template <class T>
TESELA_BOTH double distance_of(const ChannelView<T>& view, const Complex<T>* y, const Scale<double>& scale,
                               const Complex<double>* s) {
  double sum = 0;
  for (index_t i = 0; i < view.antennas; ++i) {
    Complex<double> left = scale(Complex<double>{y[i].re, y[i].im});
    for (index_t j = 0; j < view.streams; ++j) {
      const Complex<T> h = view.h[i + j * view.ld];
      left = left - scale(Complex<double>{h.re, h.im}) * s[j];
    }
    sum += norm(left);
  }
  return std::sqrt(sum);
}

/// Returns the symbols and labels on the path of a tree's leaf, by streams.
template <class F, class P>
TESELA_BOTH void read_path(const Tree<F, P>& tree, Complex<double>* s, int* labels) {
  const index_t streams = is_complex<F> ? tree.n : tree.n / 2;
  for (index_t j = 0; j < streams; ++j) labels[j] = 0;
  for (index_t i = 0; i < tree.n; ++i) {
    const int j = tree.order[i];
    const SearchColumn& c = tree.columns[j];
    const SearchPoint& p = tree.points[c.first + tree.at[i]];
    if constexpr (is_complex<F>) {
      s[j] = {p.re, p.im};
      labels[j] = p.label;
    } else {
      const double value = c.low + tree.at[i] * c.step;
      if (j < streams)
        s[j].re = value;
      else
        s[j - streams].im = value;
      labels[j < streams ? j : j - streams] |= p.label;
    }
  }
}

/// Computes ||y - H s|| of the path down to a leaf, and its labels.
template <class F, class P, class T>
TESELA_BOTH double leaf_of(const ChannelView<T>& view, const Tree<F, P>& tree, const Complex<T>* y,
                           const Scale<double>& scale, int* labels) {
  Complex<double> s[most_streams] = {};
  read_path(tree, s, labels);
  return distance_of(view, y, scale, s);
}

/// Updates the result by a leaf that is nearer, or equally near with lower labels (stream 0's first). Returns true if
/// it is nearer.
TESELA_BOTH inline bool update_best(Found& found, double distance, double tie, index_t streams, const int* labels,
                                    int* best) {
  const bool nearer = !found.any || distance < found.distance - tie;
  if (!nearer) {
    if (!(distance <= found.distance + tie)) return false;
    found.tie = true;
    if (distance < found.distance) found.distance = distance;
    index_t j = 0;
    while (j < streams && labels[j] == best[j]) ++j;
    if (j == streams || labels[j] > best[j]) return false;
  } else {
    found = {true, false, distance};
  }
  for (index_t j = 0; j < streams; ++j) best[j] = labels[j];
  return nearer;
}

/// Updates the result by another search's of other leaves.
TESELA_BOTH inline void merge_best(Found& found, const Found& other, double tie, index_t streams, const int* labels,
                                   int* best) {
  if (other.any && update_best(found, other.distance, tie, streams, labels, best)) found.tie = other.tie;
}

struct SearchLimits {
  double radius = 0;        ///< of the first sphere, 0: no limit
  long long max_nodes = 0;  ///< 0: no limit
  bool plain = false;       ///< children in their stored order, in a fixed sphere
  bool listing = false;     ///< sorted children in a fixed sphere, even if it is empty
};

struct NoListener {
  TESELA_INLINE void operator()(double, const int*) const {}
};

/// A signal's data for its search, in addition to z = Q^H y 2^-exponent.
struct Reception {
  int exponent = 0;
  double size = 0, outside = 0;  ///< ||y||, and the part of ||y||^2 that no s reaches, scaled
};

/// Scales y and writes z, m numbers, which `rotate` multiplies by Q^H.
template <class F, class View, class P, class Y, class Rotate>
TESELA_BOTH __attribute__((noinline)) Reception receive(const View& view, const ChannelFacts& facts, const Y* y, P z,
                                                        const Rotate& rotate) {
  using T = real_t<F>;
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  T largest = 0;
  for (index_t i = 0; i < view.antennas; ++i) {
    const T size = size_of(y[i]);
    largest = size > largest ? size : largest;
  }
  Reception made;
  made.exponent = exponent_of(largest);
  if (facts.zero == 0 && (facts.exponent > made.exponent || !(largest > 0))) made.exponent = facts.exponent;
  const Scale<T> scale(made.exponent);
  for (index_t i = 0; i < view.antennas; ++i) view.template split<F>(scale(y[i]), i, z);
  T size = 0;
  for (index_t i = 0; i < m; ++i) size += norm(F(z[i]));
  made.size = static_cast<double>(std::sqrt(size));
  rotate(z);
  T outside = 0;
  for (index_t i = n; i < m; ++i) outside += norm(F(z[i]));
  made.outside = static_cast<double>(outside);
  return made;
}

/// Finds s with the least ||y - H s||, step by step; the lowest labels in a tie. Children have Schnorr and Euchner's
/// order, so the first leaf is Babai's point. Distances in the tree have T's rounding errors, so the sphere includes
/// points that could be equally near, and a leaf's own distance is computed from H, in double.
template <class F, class P, class View>
struct Search {
  using T = real_t<F>;

  Tree<F, P> tree;
  double slack, tie;  ///< bounds of rounding errors of a distance: in T on the way down, in double at a leaf
  double first, outside;
  bool bounded;
  T radius;            ///< of the sphere, squared
  index_t level, top;  ///< the present level, and the number of levels below those decided already
  Found found;
  long long nodes;
  bool uncertified;
  int best[View::most_labels];

  /// a: R, with leading dimension m; z: receive()'s.
  TESELA_BOTH void begin(const View& view, const ChannelFacts& facts, index_t m, P a, const OrderOf& order, P z,
                         const Reception& y, const SearchLimits& limits) {
    const index_t n = view.template cols<F>();
    tree.m = m, tree.n = n, tree.a = a, tree.order = order, tree.z = z;
    tree.columns = view.columns, tree.points = view.points;
    tree.plain = limits.plain, tree.every = limits.listing;
    tree.unit = static_cast<T>(std::ldexp(1.0, facts.zero != 0 ? 0 : facts.exponent - y.exponent));
    const double reach = y.size + static_cast<double>(tree.unit) * facts.reach;
    const double steps = 2.0 * static_cast<double>(n + 4);
    tie = steps * 2.3e-16 * reach;
    slack = steps * (sizeof(T) == 4 ? 1.2e-7 : 2.3e-16) * reach;
    outside = y.outside;
    first = Scale<double>(y.exponent)(limits.radius);
    bounded = limits.radius > 0;
    radius = bounded ? limit() : T(0);
    nodes = 0, uncertified = false, found = {};
    tree.distance[n] = 0;
    tree.open(level = n - 1);
    top = n;
  }

  /// Descends to the path of this number among all paths of the last levels, from level `until` up, whose subtree is to
  /// be searched. Returns false if it leaves the sphere.
  TESELA_BOTH bool descend(index_t until, index_t number) {
    for (index_t i = tree.n - 1; i >= until; --i) {
      tree.open(i);
      const int count = tree.children(i), k = static_cast<int>(number % count);
      number /= count;
      if (tree.only[i] == Tree<F, P>::not_free)
        tree.at[i] = k, tree.step[i] = tree.away(i, k);
      else
        tree.at[i] = tree.only[i], tree.step[i] = norm(tree.e[i]);
      const T distance = tree.distance[i + 1] + tree.step[i];
      if (bounded && !(distance <= radius)) return false;
      tree.distance[i] = distance;
      ++nodes;
    }
    top = until;
    if (until > 0) tree.open(level = until - 1);
    return true;
  }

  /// Visits one child. Returns false when the search is complete. Calls listen(||y - H s||, labels) for each leaf.
  template <class Y, class Listener = NoListener>
  TESELA_BOTH bool step(const View& view, const Y* y, const Reception& reception, const SearchLimits& limits,
                        const Listener& listen = {}) {
    const bool there = tree.next(level);
    const T distance = tree.distance[level + 1] + (there ? tree.step[level] : T(0));
    if (!there || (bounded && !(distance <= radius))) {
      if (there && tree.plain) return true;  // a later child may be nearer
      if (++level < top) return true;
      if (found.any || top < tree.n || limits.listing) return false;
      first *= 2;  // the sphere was empty
      radius = limit();
      bounded = first > 0 && first < 1e15;
      tree.open(level = tree.n - 1);
      return true;
    }
    tree.distance[level] = distance;
    ++nodes;
    if (level > 0) {
      tree.open(--level);
    } else {
      int leaf[View::most_labels];
      const double exact = leaf_of(view, tree, y, Scale<double>(reception.exponent), leaf);
      listen(exact, leaf);
      const bool nearer = update_best(found, exact, tie, view.label_count(), leaf, best);
      if (nearer && (!(tree.plain || limits.listing) || !bounded)) {
        const T smaller = sphere(std::sqrt(static_cast<double>(distance)));
        radius = bounded && radius < smaller ? radius : smaller;
        bounded = true;
      }
    }
    uncertified = limits.max_nodes > 0 && nodes >= limits.max_nodes && found.any;
    return !uncertified;
  }

  TESELA_BOTH SearchReport end(const View& view, const Reception& reception, int* labels) const {
    SearchReport report;
    report.nodes = nodes;
    for (index_t j = 0; j < view.label_count(); ++j) labels[j] = best[j];
    bool same = found.tie;
    for (index_t k = 0; k < tree.n && !same; ++k)
      same = tree.column(k).count > 1 && size_of(tree.r(k, k)) == 0 && tree.free(k);
    report.flags = (uncertified ? SearchReport::uncertified : 0) | (same ? SearchReport::tie : 0);
    report.distance = std::ldexp(found.distance, reception.exponent);
    return report;
  }

  TESELA_BOTH T sphere(double root) const {
    const double wide = root + 2 * slack + tie;
    return static_cast<T>(wide * wide);
  }
  TESELA_BOTH T limit() const {
    const double inside = first * first - outside;
    return sphere(inside > 0 ? std::sqrt(inside) : 0.0);
  }
};

/// Runs a complete search.
template <class F, class P, class T>
TESELA_BOTH __attribute__((noinline)) SearchReport search(const ChannelView<T>& view, const ChannelFacts& facts, P a,
                                                          P tau, const OrderOf& order, const Complex<T>* y, P z,
                                                          const SearchLimits& limits, int* labels) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  const Reception reception = receive<F>(view, facts, y, z, [&](P x) { apply_adjoint(m, n, a, tau, x); });
  Search<F, P, ChannelView<T>> one;
  one.begin(view, facts, m, a, order, z, reception, limits);
  while (one.step(view, y, reception, limits)) {
  }
  return one.end(view, reception, labels);
}

}  // namespace tesela::kernels::mimo
