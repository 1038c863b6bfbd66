#pragma once

#include <tesela/codelets/mimo/internal/channel_body.hpp>

// The tree of a search, its leaves, and its result. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// A tree whose level i decides column order[i]; level n - 1 belongs to the root.
template <class F, class P>
struct Tree {
  using T = RealOf<F>;
  static constexpr int most_levels = NumberOf<F>::complex ? most_streams : 2 * most_streams;

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
    if constexpr (NumberOf<F>::complex) {
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
    if constexpr (!NumberOf<F>::complex) {
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

/// Computes ||y - H s|| of the path down to a leaf, and its labels.
template <class F, class P, class T>
TESELA_BOTH double leaf_of(const ChannelView<T>& view, const Tree<F, P>& tree, const Complex<T>* y,
                           const Scale<double>& scale, int* labels) {
  Complex<double> s[most_streams];
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

}  // namespace tesela::kernels::mimo
