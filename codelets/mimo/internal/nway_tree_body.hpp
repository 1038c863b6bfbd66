#pragma once

#include <tesela/codelets/mimo/internal/lane_reflectors_body.hpp>
#include <tesela/codelets/mimo/internal/linear_bits_body.hpp>

// One tree of nway by one thread: all points of a stream, the other ones sliced. Square QAM. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// The whole number next to x, 0 <= x < 64, and as an integer: without a conversion, which takes a GPU long.
TESELA_INLINE float nearest_whole(float x, int& whole) {
  constexpr float shift = 12582912;  // 1.5 2^23: the sum's last bit is worth 1
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

/// Places S - n … S - 1 of a tree of n streams; the last one's stream is enumerated. As in QuickSearch amplitudes are
/// counted from 0 and rows of R divided by their pivots: place i adds weight (c - k)^2 with c = z - sum r k.
template <class T, int S>
struct NwayTree {
  int first;  ///< place
  T weight[S], last[S];
  Complex<T> z[S], r[S * (S - 1) / 2 + 1];
  int cell[S];  ///< of the stream's first amplitude among all cells

  TESELA_INLINE static constexpr int place(int i, int j) { return i * (2 * S - i - 1) / 2 + j - i - 1; }

  /// R by Cholesky's factorization in double, the residual column of least length next, but stream j last. A pivot that
  /// is lost to rounding takes its row along: it tells candidates apart by no more than rounding.
  template <class U>
  TESELA_BOTH void prepare(const ChannelView<U>& view, int exponent, const Complex<U>* y, const BitLists& lists,
                           int enumerated) {
    const int n = lists.n, m = static_cast<int>(view.antennas);
    first = S - n;
    Complex<double> g[S * S], b[S];
    int order[S];
    const Scale<double> scale(exponent);
    const auto element = [&](int i, int j) {
      const Complex<U> x = view.h[i + j * view.ld];
      return scale(Complex<double>{static_cast<double>(x.re), static_cast<double>(x.im)});
    };
    double largest = 0;
    for (int p = 0; p < n; ++p) {
      order[p] = p;
      for (int q = 0; q <= p; ++q) {
        Complex<double> sum{0, 0};
        for (int i = 0; i < m; ++i) sum += conj(element(i, q)) * element(i, p);
        g[q * S + p] = sum, g[p * S + q] = conj(sum);
      }
      b[p] = {0, 0};
      for (int i = 0; i < m; ++i)
        b[p] +=
            conj(element(i, p)) * scale(Complex<double>{static_cast<double>(y[i].re), static_cast<double>(y[i].im)});
      largest = g[p * S + p].re > largest ? g[p * S + p].re : largest;
    }
    order[enumerated] = n - 1, order[n - 1] = enumerated;
    double pivots[S];
    for (int k = 0; k < n; ++k) {
      int next = k;
      for (int c = k + 1; c < n - 1; ++c) {
        const double here = g[order[c] * S + order[c]].re, least = g[order[next] * S + order[next]].re;
        if (here < least || (here == least && order[c] < order[next])) next = c;
      }
      const int p = order[next];
      order[next] = order[k], order[k] = p;
      const double square = g[p * S + p].re;
      const bool lost = !(square > 1e-15 * n * largest);
      const double inverse = lost ? 0 : inverse_root(square);
      pivots[k] = lost ? 0 : square * inverse;
      b[p] = inverse * b[p];
      for (int c = k + 1; c < n; ++c) {
        Complex<double>& x = g[p * S + order[c]];
        x = inverse * x;
      }
      for (int c = k + 1; c < n && !lost; ++c) {
        const int q = order[c];
        const Complex<double> factor = conj(g[p * S + q]);
        b[q] -= factor * b[p];
        for (int d = k + 1; d < n; ++d) g[q * S + order[d]] -= factor * g[p * S + order[d]];
      }
    }
    TESELA_SMALL_LOOP
    for (int i = 0; i < S; ++i) {
      weight[i] = 0, last[i] = 0, z[i] = {0, 0}, cell[i] = 0;
      if (i < first) continue;
      const int k = i - first, p = order[k];
      const SearchColumn& own = lists.axis(p, false);
      const double pivot = pivots[k] * own.step, inverse = pivot > 0 ? 1 / pivot : 0;
      weight[i] = static_cast<T>(pivot * pivot);
      last[i] = static_cast<T>(own.count - 1);
      cell[i] = own.first - lists.columns[n].first;
      const double offset = pivot > 0 ? own.low / own.step : 0;
      Complex<double> c = inverse * b[p] - Complex<double>{offset, offset};
      TESELA_SMALL_LOOP
      for (int j = i + 1; j < S; ++j) {
        const int q = order[j - first];
        const SearchColumn& other = lists.axis(q, false);
        const Complex<double> x = inverse * g[p * S + q];
        c -= x * Complex<double>{other.low, other.low};
        r[place(i, j)] = rounded<Complex<T>>(other.step * x);
      }
      z[i] = rounded<Complex<T>>(c);
    }
  }

  /// All candidates: meet(distance, cells), cells[2 i] and cells[2 i + 1] being those of place i's parts.
  template <class Meet>
  TESELA_INLINE void run(const Meet& meet) const {
    const int count = static_cast<int>(last[S - 1]) + 1;
    TESELA_ROLLED
    for (int a = 0; a < count; ++a) {
      Complex<T> c[S];
      const T ka = static_cast<T>(a);
      TESELA_SMALL_LOOP
      for (int i = 0; i < S - 1; ++i) {
        const Complex<T> x = r[place(i, S - 1)];
        c[i] = {z[i].re - x.re * ka, z[i].im - x.im * ka};
      }
      const T off = z[S - 1].re - ka, part = weight[S - 1] * off * off;
      TESELA_ROLLED
      for (int b = 0; b < count; ++b) {
        const T kb = static_cast<T>(b), other = z[S - 1].im - kb;
        T distance = part + weight[S - 1] * other * other;
        int cells[2 * S];
        cells[2 * S - 2] = cell[S - 1] + a, cells[2 * S - 1] = cell[S - 1] + count + b;
        Complex<T> k[S];
        TESELA_SMALL_LOOP
        for (int i = S - 2; i >= 0; --i) {
          if (i < first) continue;
          const Complex<T> x = r[place(i, S - 1)];
          Complex<T> left{c[i].re + x.im * kb, c[i].im - x.re * kb};
          TESELA_SMALL_LOOP
          for (int j = i + 1; j < S - 1; ++j) left = minus_product(left, r[place(i, j)], k[j]);
          const auto inside = [&](T v) { return v > 0 ? (v < last[i] ? v : last[i]) : T(0); };
          int re, im;
          k[i] = {nearest_whole(inside(left.re), re), nearest_whole(inside(left.im), im)};
          const Complex<T> far = left - k[i];
          distance += weight[i] * norm(far);
          cells[2 * i] = cell[i] + re, cells[2 * i + 1] = cell[i] + static_cast<int>(last[i]) + 1 + im;
        }
        meet(distance, cells);
      }
    }
  }
};

}  // namespace tesela::kernels::mimo
