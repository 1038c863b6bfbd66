#pragma once

#include <tesela/codelets/mimo/internal/nway_tree_body.hpp>
#include <tesela/codelets/mimo/internal/shared_memory_search_body.hpp>

// Search in single precision for a few streams of square QAM: as SharedMemorySearch, but a stream's two parts are
// neighbours, so that one complex row serves two levels, and one thread orders and factors a channel. Internal to
// codelets/mimo.

namespace tesela::kernels::mimo {

inline constexpr index_t fewest_paired_streams = 2, most_pairs = 6;

/// Returns whether pairs can be searched in this order; they are always ordered as by sqrd, which gives about as many
/// nodes.
TESELA_BOTH inline bool pairs_search(ColumnOrder order, index_t streams) {
  return streams >= fewest_paired_streams && streams <= most_pairs &&
         (order == ColumnOrder::sqrd || order == ColumnOrder::mmse_sqrd || order == ColumnOrder::vblast ||
          order == ColumnOrder::mmse_vblast);
}

/// Returns whether these columns, real parts first, have two equal parts per stream.
TESELA_BOTH inline bool have_equal_parts(const SearchColumn* columns, int n) {
  for (int j = 0; j < n; ++j) {
    const SearchColumn &re = columns[j], &im = columns[n + j];
    if (re.low != im.low || re.step != im.step || re.count != im.count || re.count > most_quick_amplitudes)
      return false;
  }
  return true;
}

/// Factors for one signal's search: level 2 t + 1 decides the real part of stream order[t], level 2 t the imaginary
/// part.
template <int N, class T>
struct PairedLevelFactors {
  static constexpr int numbers = N * (N - 1) + 3 * N + 1;
  Complex<T> r[N * (N - 1) / 2 + 1], z[N];  ///< rows divided by their pivots, for amplitudes counted from 0
  T weight[N], reach;
  int order, counts;  ///< four bits per place: the stream; its number of amplitudes minus one, 0 if not usable
  int exponent;       ///< of distances, as in receive()

  TESELA_INLINE static constexpr int place(int i, int j) { return i * (2 * N - i - 1) / 2 + j - i - 1; }

  /// Computes R of [H] by Cholesky's factorization in double, shortest residual column first: its rounding error is far
  /// below single precision. Not usable if a pivot is lost.
  TESELA_INLINE void prepare(const ChannelView<T>& view, const Complex<T>* y) {
    double diagonal[N], largest = 0, size = 0;
    T largest_h = 0, largest_y = 0;
    Complex<double> g[N * (N - 1) / 2 + 1], b[N];
    int streams[N];
    TESELA_FLAT
    for (int i = 0; i < N; ++i) {
      streams[i] = i, diagonal[i] = 0, b[i] = {0, 0};
      TESELA_FLAT
      for (int j = i + 1; j < N; ++j) g[place(i, j)] = {0, 0};
    }
    TESELA_ROLLED
    for (index_t row = 0; row < view.antennas; ++row) {
      const Complex<double> heard{y[row].re, y[row].im};
      size += norm(heard);
      largest_y = size_of(y[row]) > largest_y ? size_of(y[row]) : largest_y;
      Complex<double> x[N];
      TESELA_FLAT
      for (int i = N - 1; i >= 0; --i) {
        const Complex<T> h = view.h[row + i * view.ld];
        largest_h = size_of(h) > largest_h ? size_of(h) : largest_h;
        x[i] = {h.re, h.im};
        diagonal[i] += norm(x[i]);
        b[i] = plus_dot(b[i], x[i], heard);
        TESELA_FLAT
        for (int j = i + 1; j < N; ++j) g[place(i, j)] = plus_dot(g[place(i, j)], x[i], x[j]);
      }
    }
    double most = 0;
    TESELA_FLAT
    for (int i = 0; i < N; ++i) {
      largest = diagonal[i] > largest ? diagonal[i] : largest;
      most += 2 * std::sqrt(diagonal[i]) * view.columns[i].largest;
    }
    bool usable = have_equal_parts(view.columns, N);
    exponent = exponent_of(largest_y > largest_h ? largest_y : largest_h);
    TESELA_FLAT
    for (int k = 0; k < N; ++k) {
      int next = k;
      double least = diagonal[k];
      TESELA_FLAT
      for (int c = k + 1; c < N; ++c)
        if (diagonal[c] < least) next = c, least = diagonal[c];
      TESELA_FLAT
      for (int c = k + 1; c < N; ++c) exchange(k, c, next == c, diagonal, b, streams, g);
      const bool lost = !(diagonal[k] > 1e-12 * N * largest);
      usable = usable && !lost;
      const double inverse = lost ? 0 : inverse_root(diagonal[k]);
      diagonal[k] = lost ? 0 : diagonal[k] * inverse;
      b[k] = inverse * b[k];
      TESELA_FLAT
      for (int c = k + 1; c < N; ++c) g[place(k, c)] = inverse * g[place(k, c)];
      TESELA_FLAT
      for (int c = k + 1; c < N; ++c) {
        const Complex<double> x = g[place(k, c)];
        diagonal[c] -= norm(x);
        b[c] -= conj(x) * b[k];
        TESELA_FLAT
        for (int d = c + 1; d < N; ++d) g[place(c, d)] -= conj(x) * g[place(k, d)];
      }
    }
    const double unit = std::ldexp(1.0, -exponent);
    order = counts = 0;
    TESELA_FLAT
    for (int i = 0; i < N; ++i) {
      const SearchColumn& own = view.columns[streams[i]];
      const double pivot = diagonal[i] * own.step, inverse = pivot > 0 ? 1 / pivot : 0;
      const double offset = pivot > 0 ? own.low / own.step : 0;
      Complex<double> c = inverse * b[i] - Complex<double>{offset, offset};
      TESELA_FLAT
      for (int j = i + 1; j < N; ++j) {
        const SearchColumn& other = view.columns[streams[j]];
        const Complex<double> x = inverse * g[place(i, j)];
        c -= x * Complex<double>{other.low, other.low};
        r[place(i, j)] = rounded<Complex<T>>(other.step * x);
      }
      z[i] = rounded<Complex<T>>(c);
      weight[i] = static_cast<T>(pivot * unit * (pivot * unit));
      order |= streams[i] << (4 * i), counts |= (own.count - 1) << (4 * i);
    }
    reach = static_cast<T>(unit * (std::sqrt(size) + most));
    if (!(usable && reach < T(1e15))) counts = 0;
  }

  /// Calls give(place, number) for all numbers.
  template <class Give>
  TESELA_INLINE void each(const Give& give) {
    int at = 0;
    TESELA_FLAT
    for (int e = 0; e < N * (N - 1) / 2; ++e) give(at, r[e].re), give(at + 1, r[e].im), at += 2;
    TESELA_FLAT
    for (int i = 0; i < N; ++i) give(at, z[i].re), give(at + 1, z[i].im), give(at + 2, weight[i]), at += 3;
    give(at, reach);
  }

 private:
  /// Exchanges columns k and c if `here`.
  TESELA_INLINE static void exchange(int k, int c, bool here, double* diagonal, Complex<double>* b, int* streams,
                                     Complex<double>* g) {
    swap_if(here, diagonal[k], diagonal[c]), swap_if(here, b[k], b[c]), swap_if(here, streams[k], streams[c]);
    g[place(k, c)].im = here ? -g[place(k, c)].im : g[place(k, c)].im;
    TESELA_FLAT
    for (int i = 0; i < N; ++i) {
      if (i < k) swap_if(here, g[place(i, k)], g[place(i, c)]);
      if (i > c) swap_if(here, g[place(k, i)], g[place(c, i)]);
      if (i <= k || i >= c) continue;
      swap_if(here, g[place(k, i)], g[place(i, c)]);
      g[place(k, i)].im = here ? -g[place(k, i)].im : g[place(k, i)].im;
      g[place(i, c)].im = here ? -g[place(i, c)].im : g[place(i, c)].im;
    }
  }
};

/// Step: as in SharedMemorySearch.
template <int N, class T, int Step>
struct PairedLevelSearch : BestLeaf<T> {
  using Factors = PairedLevelFactors<N, T>;
  static constexpr int levels = 2 * N;
  /// Numbers and integers of shared memory per lane.
  static constexpr int numbers = Factors::numbers + 3 * levels, integers = levels;

  Strided<T, Step> factors, c, k, distance;  ///< distance of level i: of the path above it
  Strided<int, Step> next;                   ///< as in SharedMemorySearch
  int level, nodes, counts;
  std::uint64_t path;  ///< four bits per level

  TESELA_INLINE PairedLevelSearch(T* first, int* ints) {
    factors = {first}, c = {first + Factors::numbers * Step}, k = {c.first + levels * Step};
    distance = {k.first + levels * Step}, next = {ints};
  }
  TESELA_INLINE T& row(int i, int j, int part) const { return factors[2 * Factors::place(i, j) + part]; }
  TESELA_INLINE T& z(int i, int part) const { return factors[N * (N - 1) + 3 * i + part]; }
  TESELA_INLINE T weight(int i) const { return factors[N * (N - 1) + 3 * i + 2]; }

  /// Starts a search; the lane's memory must hold `factors`.
  TESELA_INLINE void begin(int of_counts) {
    this->begin_leaves(levels, static_cast<double>(factors[Factors::numbers - 1]), 0);
    counts = of_counts, nodes = 0, path = 0, level = levels - 1;
    distance[level] = 0;
    center(N - 1);
    open();
  }

  /// Computes the point with the least distance for the next stream, in amplitudes.
  TESELA_INLINE void center(int t) {
    T re = z(t, 0), im = z(t, 1);
    TESELA_ROLLED
    for (int j = t + 1; j < N; ++j) {
      const T x = row(t, j, 0), y = row(t, j, 1), a = k[2 * j + 1], b = k[2 * j];
      re -= x * a, re += y * b;
      im -= x * b, im -= y * a;
    }
    c[2 * t + 1] = re, c[2 * t] = im;
  }
  TESELA_INLINE void open() {
    const int last = counts >> (4 * (level / 2)) & 15;
    const T left = c[level], end = static_cast<T>(last);
    const int low = left > 0 ? static_cast<int>(left < end ? left : end) : 0;
    next[level] = (last + 1) << 16 | (low + 1) << 8 | (low + 1);
  }

  /// Visits one child; returns false when the search is complete.
  template <class Exactly>
  TESELA_INLINE bool step(const Exactly& exactly) {
    const int there = next[level], low = (there & 255) - 1, high = there >> 8 & 255, count = there >> 16;
    const T at = c[level];
    const bool below = low >= 0, above = high < count;
    const bool down = below && (!above || at - static_cast<T>(low) <= static_cast<T>(high) - at);
    const int chosen = down ? low : high;
    const T amplitude = static_cast<T>(chosen), off = at - amplitude;
    const T reached = distance[level] + weight(level / 2) * off * off;
    if (!(below || above) || !(reached <= this->radius)) return ++level < levels;
    ++nodes;
    next[level] = down ? there - 1 : there + 256;
    path = (path & ~(std::uint64_t{15} << (4 * level))) | static_cast<std::uint64_t>(chosen) << (4 * level);
    if (level > 0) {
      k[level] = amplitude;
      distance[--level] = reached;
      if (level % 2 != 0) center(level / 2);
      open();
    } else {
      this->meet(reached, path, N, exactly);
    }
    return true;
  }
};

/// Columns of levels in pairs, in the form that distance_of_path() needs.
struct PairedLevelOrder {
  int streams, n;
  TESELA_INLINE int operator[](int i) const { return (streams >> (4 * (i / 2)) & 15) + (i % 2 != 0 ? 0 : n); }
};

}  // namespace tesela::kernels::mimo
