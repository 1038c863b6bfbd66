#pragma once

#include <tesela/codelets/mimo/internal/channel_body.hpp>

// The nearest H s, depth first, one signal a thread. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

inline constexpr index_t most_streams = 32, most_antennas = 128;

struct SearchLimits {
  double radius = 0;        ///< of the first sphere, 0: without end
  long long max_nodes = 0;  ///< 0: without end
};

/// A tree whose level i decides column order[i]; level n - 1 is the root's.
template <class F, class P>
struct Tree {
  using T = RealOf<F>;
  static constexpr int most_levels = NumberOf<F>::complex ? most_streams : 2 * most_streams;

  index_t m, n;
  P a;
  OrderOf order;
  const SearchColumn* columns;
  const SearchPoint* points;
  T unit;  ///< 2^ the channel's exponent less that of the signal's numbers, which z has as well
  P z;

  F e[most_levels];                         ///< what is left of z[i] for level i's column
  T distance[most_levels + 1];              ///< of the path down to level i
  T step[most_levels];                      ///< of the present child alone
  int at[most_levels];                      ///< the present child
  int low[most_levels], high[most_levels];  ///< in real form: the next ones on either side
  int only[most_levels];                    ///< of a free column the one child that is tried, then `tried`
  static constexpr int not_free = -1, tried = -2;

  TESELA_INLINE const SearchColumn& column(index_t i) const { return columns[order[i]]; }
  TESELA_INLINE F r(index_t i, index_t j) const { return i < m ? F(a[i + j * m]) : number<F>(0); }
  TESELA_INLINE F amplitude(const SearchColumn& c, int k) const {
    if constexpr (NumberOf<F>::complex) {
      const SearchPoint& p = points[c.first + k];
      return {unit * static_cast<T>(p.re), unit * static_cast<T>(p.im)};
    } else {
      return unit * static_cast<T>(c.low + k * c.step);
    }
  }
  TESELA_INLINE T away(index_t i, int k) const { return norm(e[i] - r(i, i) * amplitude(column(i), k)); }

  /// Whether nothing at all depends on this column.
  TESELA_BOTH bool free(index_t i) const {
    if (!(norm(r(i, i)) == 0)) return false;
    for (index_t k = 0; k < i && k < m; ++k)
      if (!(size_of(r(k, i)) == 0)) return false;
    return true;
  }

  TESELA_BOTH int lowest_label(const SearchColumn& c) const {
    int lowest = 0;
    for (int k = 1; k < c.count; ++k)
      if (points[c.first + k].label < points[c.first + lowest].label) lowest = k;
    return lowest;
  }

  /// The children of level i, of which none has been met yet.
  TESELA_BOTH void open(index_t i) {
    F left = i < m ? F(z[i]) : number<F>(0);
    for (index_t j = i + 1; j < n && i < m; ++j) left -= r(i, j) * amplitude(column(j), at[j]);
    e[i] = left;
    at[i] = -1;
    const SearchColumn& c = column(i);
    only[i] = free(i) ? lowest_label(c) : not_free;
    if constexpr (!NumberOf<F>::complex) {
      const T place = (left / (r(i, i) * unit) - static_cast<T>(c.low)) / static_cast<T>(c.step);
      const T last = static_cast<T>(c.count - 1);
      low[i] = place > 0 ? static_cast<int>(place < last ? place : last) : 0;  // of a NaN the first one
      high[i] = low[i] + 1;
    }
  }

  /// The next child, in order of distance. False where there is none.
  TESELA_BOTH bool next(index_t i) {
    const SearchColumn& c = column(i);
    if (only[i] != not_free) {
      if (only[i] == tried) return false;
      at[i] = only[i], step[i] = norm(e[i]), only[i] = tried;
      return true;
    }
    if constexpr (NumberOf<F>::complex) {
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

  /// Points in order of (distance, place), each found by a look at all of them: no list of them is kept.
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

/// What a search has found so far.
struct Found {
  bool any = false, tie = false;
  double distance = 0;  ///< ||y - H s||
};

/// ||y - H s||, scaled, of labels as they stand; summed in double, always in the same order.
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

/// The symbols and labels on the path of a tree's leaf, by streams.
template <class F, class P>
TESELA_BOTH void read_path(const Tree<F, P>& tree, Complex<double>* s, int* labels) {
  const index_t streams = NumberOf<F>::complex ? tree.n : tree.n / 2;
  for (index_t j = 0; j < streams; ++j) labels[j] = 0;
  for (index_t i = 0; i < tree.n; ++i) {
    const int j = tree.order[i];
    const SearchColumn& c = tree.columns[j];
    const SearchPoint& p = tree.points[c.first + tree.at[i]];
    if constexpr (NumberOf<F>::complex) {
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

/// Takes a leaf into account: it is nearer, or as near with lower labels (stream 0's count first). True where nearer.
TESELA_BOTH inline bool take_leaf(Found& found, double distance, double tie, index_t streams, const int* labels,
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

/// s of least ||y - H s||; among equals the lowest labels. z: m numbers to work with. Schnorr and Euchner's order of
/// children, so the first leaf is Babai's. Distances in the tree carry T's rounding, so the sphere keeps what could be
/// as near, and a leaf's own distance is computed from H, in double.
template <class F, class P, class T>
TESELA_BOTH __attribute__((noinline)) SearchReport search(const ChannelView<T>& view, const ChannelFacts& facts, P a,
                                                          P tau, const OrderOf& order, const Complex<T>* y, P z,
                                                          const SearchLimits& limits, int* labels) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  T largest = 0;
  for (index_t i = 0; i < view.antennas; ++i) {
    const T size = size_of(y[i]);
    largest = size > largest ? size : largest;
  }
  int exponent = exponent_of(largest);
  if (facts.zero == 0 && (facts.exponent > exponent || !(largest > 0))) exponent = facts.exponent;
  const Scale<T> scale(exponent);
  for (index_t i = 0; i < view.antennas; ++i) {
    const Complex<T> x = scale(y[i]);
    if constexpr (NumberOf<F>::complex)
      z[i] = x;
    else
      z[i] = x.re, z[i + view.antennas] = x.im;
  }
  T size = 0;
  for (index_t i = 0; i < m; ++i) size += norm(F(z[i]));
  size = std::sqrt(size);
  apply_adjoint(m, n, a, tau, z);

  Tree<F, P> tree;
  tree.m = m, tree.n = n, tree.a = a, tree.order = order, tree.z = z;
  tree.columns = view.columns, tree.points = view.points;
  tree.unit = static_cast<T>(std::ldexp(1.0, facts.zero != 0 ? 0 : facts.exponent - exponent));
  // What rounding may add to a distance: in T on the way down, in double at a leaf.
  const double reach = static_cast<double>(size) + static_cast<double>(tree.unit) * facts.reach;
  const double steps = 2.0 * static_cast<double>(n + 4), tie = steps * 2.3e-16 * reach;
  const double slack = steps * (sizeof(T) == 4 ? 1.2e-7 : 2.3e-16) * reach;
  const auto sphere = [&](double root) {
    const double wide = root + 2 * slack + tie;
    return static_cast<T>(wide * wide);
  };

  T outside = 0;  // of y, which no s reaches
  for (index_t i = n; i < m; ++i) outside += norm(F(z[i]));
  const Scale<double> exact(exponent);
  double first = exact(limits.radius);
  const auto limit = [&] {
    const double inside = first * first - static_cast<double>(outside);
    return sphere(inside > 0 ? std::sqrt(inside) : 0.0);
  };
  bool bounded = limits.radius > 0;
  T radius = bounded ? limit() : T(0);

  SearchReport report;
  Found found;
  Complex<double> s[most_streams];
  int leaf[most_streams], best[most_streams];
  tree.distance[n] = 0;
  index_t i = n - 1;
  if (n > 0) tree.open(i);
  while (n > 0) {
    const bool there = tree.next(i);
    const T distance = tree.distance[i + 1] + (there ? tree.step[i] : T(0));
    if (!there || (bounded && !(distance <= radius))) {
      if (++i < n) continue;
      if (found.any) break;
      first *= 2;  // the sphere was empty
      radius = limit();
      bounded = first > 0 && first < 1e15;
      tree.open(i = n - 1);
      continue;
    }
    tree.distance[i] = distance;
    ++report.nodes;
    if (i > 0) {
      tree.open(--i);
    } else {
      read_path(tree, s, leaf);
      if (take_leaf(found, distance_of(view, y, exact, s), tie, view.streams, leaf, best)) {
        const T smaller = sphere(std::sqrt(static_cast<double>(distance)));
        radius = bounded && radius < smaller ? radius : smaller;
        bounded = true;
      }
    }
    if (limits.max_nodes > 0 && report.nodes >= limits.max_nodes && found.any) {
      report.flags |= SearchReport::uncertified;
      break;
    }
  }
  for (index_t j = 0; j < view.streams; ++j) labels[j] = best[j];
  for (index_t k = 0; k < n && !found.tie; ++k)
    found.tie = tree.column(k).count > 1 && size_of(tree.r(k, k)) == 0 && tree.free(k);
  if (found.tie) report.flags |= SearchReport::tie;
  report.distance = std::ldexp(found.distance, exponent);
  return report;
}

/// The same in every order of at most 8 columns: the report of the one with the fewest nodes. a and tau are lost.
template <class F, class P, class T>
TESELA_BOTH SearchReport search_every_order(const ChannelView<T>& view, P a, P tau, const OrderOf& order,
                                            const Complex<T>* y, P z, const SearchLimits& limits, int* labels) {
  const index_t n = view.template cols<F>();
  for (index_t k = 0; k < n; ++k) order[k] = static_cast<int>(k);
  ChannelFacts facts = load_channel<F>(view, a);
  SearchReport best;
  for (bool first = true, more = true; more; first = false, more = next_order(n, order)) {
    factor_channel<F>(view, facts, a, tau, order);
    int found[most_streams];
    const SearchReport report = search<F>(view, facts, a, tau, order, y, z, limits, found);
    if (!first && report.nodes >= best.nodes) continue;
    best = report;
    for (index_t j = 0; j < view.streams; ++j) labels[j] = found[j];
  }
  return best;
}

}  // namespace tesela::kernels::mimo
