#pragma once

#include <tesela/codelets/mimo/internal/sphere_body.hpp>

#include <cstdint>

// Search without limits for a lane of a GPU: real form, at most 16 columns and amplitudes, at least as many rows, no
// pivot that is nearly zero. Everything is in the lane's part of shared memory. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Every Step-th number: the lanes of a block are side by side.
template <class T, int Step>
struct Strided {
  T* first;
  TESELA_INLINE T& operator[](int i) const { return first[i * Step]; }
};

inline constexpr int most_quick_columns = 16, most_quick_amplitudes = 16;

/// Returns whether groups of lanes can prepare such matrices.
TESELA_BOTH inline bool fits_shared_memory_search(index_t m, index_t n) { return m >= n && m <= most_quick_columns; }
/// Returns the numbers of shared memory per lane.
TESELA_BOTH inline int numbers_per_lane(int n) { return n * (n - 1) / 2 + 5 * n + 1; }

/// Computes ||y - H s|| and the labels of a path whose amplitudes have four bits per level.
template <class T, class Order>
TESELA_BOTH __attribute__((noinline)) double distance_of_path(const ChannelView<T>& view, const Order& order, int n,
                                                              const Complex<T>* y, int exponent, std::uint64_t path,
                                                              int* labels) {
  const int streams = static_cast<int>(view.streams);
  Complex<double> s[most_quick_columns / 2] = {};
  for (int j = 0; j < streams; ++j) labels[j] = 0;
  for (int i = 0; i < n; ++i) {
    const int j = order[i], k = static_cast<int>(path >> (4 * i) & 15);
    const SearchColumn& c = view.columns[j];
    const double value = c.low + k * c.step;
    if (j < streams)
      s[j].re = value;
    else
      s[j - streams].im = value;
    labels[j < streams ? j : j - streams] |= view.points[c.first + k].label;
  }
  return distance_of(view, y, Scale<double>(exponent), s);
}

/// Leaves that a search has visited. They are compared by the tree's distances if rounding allows, else by ||y - H s||,
/// which exactly(path, labels) returns.
template <class T>
struct BestLeaf {
  T radius, clear;  ///< squared: of the sphere, and the limit below which a leaf is certainly nearer
  T wide;           ///< bound of the rounding errors of two roots together
  double tie;
  bool exact;  ///< found.distance is known
  Found found;
  std::uint64_t best;

  static constexpr T no_radius = sizeof(T) == 4 ? T(1e38) : T(1e300);

  /// reach: ||y|| plus the largest ||H s||, in the tree's units; within: the square radius of a sphere, or 0.
  TESELA_INLINE void begin_leaves(int n, double reach, double within) {
    const double steps = 2.0 * (n + 4);
    tie = steps * 2.3e-16 * reach;
    // Amplitudes counted from 0 and divided rows have three times the rounding error of Search.
    wide = static_cast<T>(2 * 3 * steps * (sizeof(T) == 4 ? 1.2e-7 : 2.3e-16) * reach + tie);
    radius = within > 0 && within < static_cast<double>(no_radius) ? static_cast<T>(within) : no_radius;
    clear = 0, exact = false, found = {}, best = 0;
  }

  template <class Exactly>
  TESELA_INLINE void meet(T reached, std::uint64_t path, int streams, const Exactly& exactly) {
    if (!found.any || reached < clear)
      found = {true, false, 0}, best = path, exact = false, shrink(reached);
    else
      compare(reached, path, streams, exactly);
  }

  template <class Exactly>
  TESELA_BOTH void compare(T reached, std::uint64_t path, int streams, const Exactly& exactly) {
    int labels[most_quick_columns / 2], old[most_quick_columns / 2];
    if (path == best) return;
    const double known = exactly(best, old);
    if (!exact) found.distance = known, exact = true;
    const double other = exactly(path, labels);
    Found now = found;
    const bool nearer = update_best(now, other, tie, streams, labels, old);
    bool taken = true;
    for (int j = 0; j < streams; ++j) taken = taken && labels[j] == old[j];
    found = now;
    if (taken) best = path;
    if (nearer) shrink(reached);
  }

  TESELA_INLINE void shrink(T reached) {
    const T root = std::sqrt(reached), inside = root > wide ? root - wide : T(0), outside = root + wide;
    radius = outside * outside < radius ? outside * outside : radius;
    clear = inside * inside;
  }
};

/// Searches as Search does, with amplitudes counted from 0 and each row of R divided by its pivot: level i adds
/// weight_i (c_i - k)^2 with c_i = z_i - sum r_ij k_j.
template <class T, int Step>
struct SharedMemorySearch : BestLeaf<T> {
  using Numbers = Strided<T, Step>;
  using BestLeaf<T>::radius, BestLeaf<T>::exact, BestLeaf<T>::found, BestLeaf<T>::best;

  int n, level;
  int top;  ///< levels from there on are decided already
  Numbers r, weight, z, c, k, distance;
  Strided<int, Step> next;  ///< of a level: next lower amplitude + 1, next higher one, and the number of amplitudes
  int nodes;

  TESELA_INLINE SharedMemorySearch(int columns, T* numbers, int* integers)
      : n(columns), level(columns - 1), top(columns) {
    T* at = numbers;
    const auto take = [&at](int count) {
      T* const first = at;
      at += count * Step;
      return Numbers{first};
    };
    r = take(n * (n - 1) / 2), weight = take(n), z = take(n), c = take(n), k = take(n), distance = take(n + 1);
    next = {integers};
  }

  TESELA_INLINE int row(int i) const { return i * (2 * n - i - 1) / 2 - i - 1; }

  /// Starts a search; returns false if a pivot is too small. a: R of leading dimension m, received: receive()'s z.
  /// `within`: the square radius of a sphere that is known to contain a point, or 0.
  template <class P, class Order>
  TESELA_BOTH bool begin(const ChannelView<T>& view, const ChannelFacts& facts, int m, const P& a, const Order& order,
                         const P& received, const Reception& y, double within) {
    constexpr T least = sizeof(T) == 4 ? T(1e-14) : T(1e-120);
    if (facts.zero != 0) return false;
    const T unit = static_cast<T>(std::ldexp(1.0, facts.exponent - y.exponent));
    for (int i = 0; i < n; ++i) {
      const SearchColumn& own = view.columns[order[i]];
      const T pivot = unit * T(a[i + i * m]) * static_cast<T>(own.step);
      if (!(std::fabs(pivot) > least) || own.count > most_quick_amplitudes) return false;
      const T inverse = 1 / pivot;
      T left = received[i] - unit * T(a[i + i * m]) * static_cast<T>(own.low);
      for (int j = i + 1; j < n; ++j) {
        const SearchColumn& column = view.columns[order[j]];
        const T element = unit * T(a[i + j * m]);
        r[row(i) + j] = element * static_cast<T>(column.step) * inverse;
        left -= element * static_cast<T>(column.low);
      }
      z[i] = left * inverse;
      weight[i] = pivot * pivot;
      next[i] = own.count << 16;
    }
    this->begin_leaves(n, y.size + static_cast<double>(unit) * facts.reach, within);
    nodes = 0;
    distance[n] = 0;
    open();
    return true;
  }

  TESELA_INLINE void open() {
    T left = z[level];
    const int from = row(level);
    for (int j = level + 1; j < n; ++j) left -= r[from + j] * k[j];
    const int count = next[level] >> 16;
    const T last = static_cast<T>(count - 1);
    const int low = left > 0 ? static_cast<int>(left < last ? left : last) : 0;
    c[level] = left;
    next[level] = count << 16 | (low + 1) << 8 | (low + 1);
  }

  /// Visits one child; returns false when the search is complete. exactly(path, labels) is ||y - H s||.
  template <class Exactly>
  TESELA_INLINE bool step(const Exactly& exactly) {
    const int there = next[level], low = (there & 255) - 1, high = there >> 8 & 255, count = there >> 16;
    const T at = c[level];
    const bool below = low >= 0, above = high < count;
    const bool down = below && (!above || at - static_cast<T>(low) <= static_cast<T>(high) - at);
    const T amplitude = static_cast<T>(down ? low : high), off = at - amplitude;
    const T reached = distance[level + 1] + weight[level] * off * off;
    if (!(below || above) || !(reached <= radius)) return ++level < top;
    ++nodes;
    next[level] = down ? there - 1 : there + 256;
    k[level] = amplitude;
    if (level > 0) {
      distance[level] = reached;
      --level;
      open();
    } else {
      std::uint64_t path = 0;
      for (int i = 0; i < n; ++i) path |= static_cast<std::uint64_t>(k[i]) << (4 * i);
      this->meet(reached, path, n / 2, exactly);
    }
    return true;
  }

  /// Descends to the path of this number among all paths of the levels from `until` on, whose subtree is to be
  /// searched. Returns false if it leaves the sphere.
  TESELA_INLINE bool descend(int until, int number) {
    for (level = n - 1; level >= until; --level) {
      open();
      const int count = next[level] >> 16;
      const T amplitude = static_cast<T>(number % count), off = c[level] - amplitude;
      number /= count;
      const T reached = distance[level + 1] + weight[level] * off * off;
      if (!(reached <= radius)) return false;
      k[level] = amplitude, distance[level] = reached;
      ++nodes;
    }
    top = until;
    open();
    return true;
  }

  /// Returns the result of a complete search.
  template <class Exactly>
  TESELA_BOTH SearchReport end(int exponent, const Exactly& exactly, int* labels) const {
    const double known = exactly(best, labels);
    SearchReport report;
    report.nodes = nodes;
    report.flags = found.tie ? SearchReport::tie : 0;
    report.distance = std::ldexp(exact ? found.distance : known, exponent);
    return report;
  }
};

}  // namespace tesela::kernels::mimo
