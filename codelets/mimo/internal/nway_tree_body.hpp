#pragma once

#include <tesela/codelets/mimo/internal/linear_estimate_body.hpp>

// One tree of nway by one thread: all points of one stream, the others sliced. Square QAM. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Returns the integer nearest to x, 0 <= x < 64, without a conversion, which is slow on a GPU.
TESELA_INLINE float nearest_whole(float x, int& whole) {
  constexpr float shift = 12582912;  // 1.5 2^23: the sum's last bit has the value 1
  const float shifted = x + shift;
#if defined(__CUDA_ARCH__)
  whole = __float_as_int(shifted) & 63;
#else
  whole = static_cast<int>(shifted - shift);
#endif
  return shifted - shift;
}
TESELA_INLINE double nearest_whole(double x, int& whole) {
  constexpr double shift = 6755399441055744;  // 1.5 2^52
  const double shifted = x + shift;
#if defined(__CUDA_ARCH__)
  whole = __double2loint(shifted) & 63;
#else
  whole = static_cast<int>(shifted - shift);
#endif
  return shifted - shift;
}

/// Swaps without a branch, after which a compiler might not keep the values in registers.
template <class X>
TESELA_INLINE void swap_if(bool swapped, X& v, X& w) {
  const X one = swapped ? w : v, other = swapped ? v : w;
  v = one, w = other;
}
template <class X>
TESELA_INLINE void swap_if(bool swapped, Complex<X>& v, Complex<X>& w) {
  swap_if(swapped, v.re, w.re), swap_if(swapped, v.im, w.im);
}

/// Returns the square of a pivot of Cholesky's factorization, from the computed value, the column's own square and the
/// largest one. If rounding hides the pivot, it is replaced by the largest possible value: this changes no distance by
/// more than rounding does, and the row keeps its part of y. Returns 0 for columns that are negligible next to others
/// in type T, in whose units other numbers would overflow.
template <class T>
TESELA_INLINE double pivot_square(double found, double own, double largest, int n) {
  const double least = 1e-15 * n * own;
  if (!(own > (sizeof(T) == 4 ? 1e-20 : 1e-60) * largest)) return 0;
  return found > least ? found : least;
}

/// Places S - n … S - 1 of a tree of n streams; the stream of the last place is enumerated. As in SharedMemorySearch,
/// amplitudes are counted from 0 and rows of R divided by their pivots: place i adds weight (c - k)^2 with c = z - sum
/// r k to the tree's start.
template <class T, int S>
struct NwayTree {
  int first;         ///< first place
  double explained;  ///< square of the part of y that R explains; equal for all trees up to rounding
  T start;           ///< `explained` of a reference tree, minus this tree's
  T weight[S], last[S];
  Complex<T> z[S], r[S * (S - 1) / 2 + 1];
  int cell[S];  ///< of the stream's first amplitude among all cells

  /// Returns the start of loops over places, a compile-time constant like MmseEstimate' end.
  TESELA_INLINE int begin() const { return S <= 8 ? 0 : first; }
  TESELA_INLINE static constexpr int place(int i, int j) { return i * (2 * S - i - 1) / 2 + j - i - 1; }

  /// Computes R by Cholesky's factorization in double, with the shortest residual column next, but stream `enumerated`
  /// last. Returns the exponent: distances are in units of its power of 4.
  template <class U>
  TESELA_INLINE int prepare(const ChannelView<U>& view, const Complex<U>* y, const BitLists& lists, int enumerated) {
    const int n = lists.n;
    first = S - n;
    const Exact<U> exact(view);
    double diagonal[S], own_square[S], largest = 0;
    Complex<double> g[S * (S - 1) / 2 + 1], b[S];
    int order[S];
    TESELA_FLAT
    for (int i = begin(); i < S; ++i) {
      order[i] = i == S - 1 ? enumerated : i - first == enumerated ? n - 1 : i - first;
      diagonal[i] = 0, b[i] = {0, 0};
      TESELA_FLAT
      for (int j = i + 1; j < S; ++j) g[place(i, j)] = {0, 0};
    }
    TESELA_ROLLED
    for (index_t row = 0; row < view.antennas; ++row) {
      const Complex<double> heard = exact(y[row]);
      Complex<double> x[S];
      TESELA_FLAT
      for (int i = S - 1; i >= begin(); --i) {
        if (i < first) continue;
        x[i] = exact(view.h[row + order[i] * view.ld]);
        diagonal[i] += norm(x[i]);
        b[i] = plus_dot(b[i], x[i], heard);
        TESELA_FLAT
        for (int j = i + 1; j < S; ++j) g[place(i, j)] = plus_dot(g[place(i, j)], x[i], x[j]);
      }
    }
    TESELA_FLAT
    for (int i = begin(); i < S; ++i)
      own_square[i] = diagonal[i], largest = diagonal[i] > largest ? diagonal[i] : largest;
    const int exponent = exponent_of(largest) / 2;
    explained = 0;
    TESELA_FLAT
    for (int k = begin(); k < S; ++k) {
      if (k < first) continue;
      int next = k;
      double least = diagonal[k];
      int lowest = order[k];
      TESELA_FLAT
      for (int c = k + 1; c < S - 1; ++c)
        if (diagonal[c] < least || (diagonal[c] == least && order[c] < lowest))
          next = c, least = diagonal[c], lowest = order[c];
      TESELA_FLAT
      for (int c = k + 1; c < S - 1; ++c) {
        const bool here = next == c;
        swap_if(here, diagonal[k], diagonal[c]), swap_if(here, own_square[k], own_square[c]);
        swap_if(here, b[k], b[c]), swap_if(here, order[k], order[c]);
        g[place(k, c)].im = here ? -g[place(k, c)].im : g[place(k, c)].im;
        TESELA_FLAT
        for (int i = begin(); i < S; ++i) {
          if (i < k) swap_if(here, g[place(i, k)], g[place(i, c)]);
          if (i > c) swap_if(here, g[place(k, i)], g[place(c, i)]);
          if (i <= k || i >= c) continue;
          swap_if(here, g[place(k, i)], g[place(i, c)]);
          g[place(k, i)].im = here ? -g[place(k, i)].im : g[place(k, i)].im;
          g[place(i, c)].im = here ? -g[place(i, c)].im : g[place(i, c)].im;
        }
      }
      const double square = pivot_square<T>(diagonal[k], own_square[k], largest, n);
      const double inverse = square > 0 ? inverse_root(square) : 0;
      diagonal[k] = square * inverse;
      b[k] = inverse * b[k];
      explained += norm(b[k]);
      TESELA_FLAT
      for (int c = k + 1; c < S; ++c) g[place(k, c)] = inverse * g[place(k, c)];
      TESELA_FLAT
      for (int c = k + 1; c < S; ++c) {
        const Complex<double> x = g[place(k, c)];
        diagonal[c] -= norm(x);
        b[c] -= conj(x) * b[k];
        TESELA_FLAT
        for (int d = c + 1; d < S; ++d) g[place(c, d)] -= conj(x) * g[place(k, d)];
      }
    }
    TESELA_FLAT
    for (int i = S - 1; i >= begin(); --i) {
      weight[i] = 0, last[i] = 0, z[i] = {0, 0}, cell[i] = 0;
      if (i < first) continue;
      const SearchColumn& own = lists.axis(order[i], false);
      const double pivot = diagonal[i] * own.step, inverse = pivot > 0 ? 1 / pivot : 0;
      weight[i] = static_cast<T>(std::ldexp(pivot * pivot, -2 * exponent));
      last[i] = static_cast<T>(own.count - 1);
      cell[i] = own.first - lists.columns[n].first;
      const double offset = pivot > 0 ? own.low / own.step : 0;
      Complex<double> c = inverse * b[i] - Complex<double>{offset, offset};
      TESELA_FLAT
      for (int j = i + 1; j < S; ++j) {
        const SearchColumn& other = lists.axis(order[j], false);
        const Complex<double> x = inverse * g[place(i, j)];
        c -= x * Complex<double>{other.low, other.low};
        r[place(i, j)] = rounded<Complex<T>>(other.step * x);
      }
      z[i] = rounded<Complex<T>>(c);
    }
    explained = std::ldexp(explained, -2 * exponent);
    return exact.exponent + exponent;
  }

  /// Makes distances of trees of one signal comparable: `most` is `explained` of one of them. They differ by rounding
  /// if columns are nearly dependent.
  TESELA_INLINE void begin_at(double most) { start = static_cast<T>(most - explained); }

  TESELA_INLINE int amplitudes() const { return static_cast<int>(last[S - 1]) + 1; }

  /// Completes the path with amplitudes a and b of the last place's parts: calls meet(distance, cells), where cells[2
  /// i] and cells[2 i + 1] belong to place i's parts.
  template <class Meet>
  TESELA_INLINE void candidate(int a, int b, const Meet& meet) const {
    Complex<T> k[S];
    int cells[2 * S];
    k[S - 1] = {static_cast<T>(a), static_cast<T>(b)};
    cells[2 * S - 2] = cell[S - 1] + a, cells[2 * S - 1] = cell[S - 1] + amplitudes() + b;
    T distance = start + weight[S - 1] * norm(z[S - 1] - k[S - 1]);
    TESELA_FLAT
    for (int i = S - 2; i >= begin(); --i) {
      if (i < first) continue;
      Complex<T> left = z[i];
      TESELA_FLAT
      for (int j = S - 1; j > i; --j) left = minus_product(left, r[place(i, j)], k[j]);
      const auto inside = [&](T v) { return v > 0 ? (v < last[i] ? v : last[i]) : T(0); };
      int re, im;
      k[i] = {nearest_whole(inside(left.re), re), nearest_whole(inside(left.im), im)};
      distance += weight[i] * norm(left - k[i]);
      cells[2 * i] = cell[i] + re, cells[2 * i + 1] = cell[i] + static_cast<int>(last[i]) + 1 + im;
    }
    meet(distance, cells);
  }

  /// Visits all candidates, or every `step`-th from `from` on.
  template <class Meet>
  TESELA_INLINE void run(const Meet& meet, int from = 0, int step = 1) const {
    int a = 0;
    TESELA_ROLLED
    for (int b = from;; b += step) {
      for (; b >= amplitudes(); b -= amplitudes()) ++a;
      if (a >= amplitudes()) return;
      candidate(a, b, meet);
    }
  }
};

}  // namespace tesela::kernels::mimo
