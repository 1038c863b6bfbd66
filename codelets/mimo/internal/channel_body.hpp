#pragma once

#include <tesela/codelets/mimo/internal/reflectors_body.hpp>
#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/host/all_finite.hpp>
#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>

#include <complex>

// Orders of columns, and the preparation of a channel for searches, in an order that may depend on the signal. A search
// finds the same vector in every order, so no order must be accurate; but none may access other memory, whatever the
// input is. The end tests the numbers of a task, where they are: on one of many cores, or on the GPU that searches
// them. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Indices of an order, with a step between them.
struct OrderOf {
  int* first;
  index_t step;
  TESELA_INLINE int& operator[](index_t k) const { return first[k * step]; }
};

/// Returns the numbers of work space for order_columns().
TESELA_BOTH inline index_t order_work(index_t m, index_t n) { return (m + n) * (n + 1) + 3 * n; }

/// Sorts 0 … n - 1 by their keys, ascending or descending; the sort is stable.
template <class P>
TESELA_BOTH void sort_by(index_t n, P keys, const OrderOf& order, bool up) {
  for (index_t k = 0; k < n; ++k) {
    const auto key = real(keys[k]);
    index_t to = k;
    for (; to > 0; --to) {
      const auto before = real(keys[order[to - 1]]);
      if (!(up ? before > key : before < key)) break;
      order[to] = order[to - 1];
    }
    order[to] = static_cast<int>(k);
  }
}

/// Computes (A^H A + alpha2 I)^-1 in c, n x n, by Gauss-Jordan elimination in c's precision; a pivot lost to rounding
/// is replaced.
template <class P, class Q>
TESELA_BOTH void inverse_gram(index_t m, index_t n, P a, real_t<Element<Q>> alpha2, Q c) {
  using F = Element<Q>;
  using T = real_t<F>;
  T trace = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      F sum = number<F>(i == j ? alpha2 : T(0));
      for (index_t k = 0; k < m; ++k) sum += conj(rounded<F>(a[k + i * m])) * rounded<F>(a[k + j * m]);
      c[i + j * n] = sum;
      if (i == j) trace += real(sum);
    }
  const T floor = (trace > 0 ? trace : T(1)) * (sizeof(T) == 4 ? T(1e-7) : T(1e-15));
  for (index_t k = 0; k < n; ++k) {
    const T found = real(F(c[k + k * n])), pivot = found > floor ? found : floor;
    c[k + k * n] = number<F>(1);
    for (index_t j = 0; j < n; ++j) c[k + j * n] = F(c[k + j * n]) / pivot;
    for (index_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const F factor = c[i + k * n];
      c[i + k * n] = number<F>(0);
      for (index_t j = 0; j < n; ++j) c[i + j * n] -= factor * F(c[k + j * n]);
    }
  }
}

/// Removes one column from the inverse of the Gram matrix, for the first `left` columns of the order.
template <class Q>
TESELA_BOTH void remove_column(index_t n, index_t left, index_t gone, Q c, const OrderOf& order) {
  using F = Element<Q>;
  const auto pivot = real(F(c[gone * (n + 1)]));
  for (index_t p = 0; p < left; ++p)
    for (index_t q = 0; q < left; ++q) {
      const index_t i = order[p], j = order[q];
      c[i + j * n] -= F(c[i + gone * n]) * F(c[gone + j * n]) / pivot;
    }
}

/// Puts the column that noise affects least last, then the best of the remaining columns once it is known (V-BLAST:
/// Wolniansky et al., 1998): the column with the smallest diagonal element of the inverse. Its removal subtracts a
/// rank-one term.
template <class P, class Q>
TESELA_BOTH void vblast_order(index_t m, index_t n, P a, real_t<Element<P>> alpha2, Q c, const OrderOf& order) {
  using F = Element<P>;
  inverse_gram(m, n, a, alpha2, c);
  for (index_t k = 0; k < n; ++k) order[k] = static_cast<int>(k);
  for (index_t left = n; left > 0; --left) {
    index_t best = 0;
    for (index_t q = 1; q < left; ++q)
      if (real(F(c[order[q] * (n + 1)])) < real(F(c[order[best] * (n + 1)]))) best = q;
    const int taken = order[best];
    for (index_t q = best; q + 1 < left; ++q) order[q] = order[q + 1];
    order[left - 1] = taken;
    remove_column(n, left - 1, taken, c, order);
  }
}

/// Computes all orders that need only the channel a, m x n, which is not changed; alpha2 is N0 in its units.
template <class P>
TESELA_BOTH void order_columns(ColumnOrder kind, bool up, index_t m, index_t n, P a, real_t<Element<P>> alpha2, P work,
                               const OrderOf& order) {
  using F = Element<P>;
  using T = real_t<F>;
  for (index_t k = 0; k < n; ++k) order[k] = static_cast<int>(k);
  switch (kind) {
    case ColumnOrder::natural:
    case ColumnOrder::gradient:
    case ColumnOrder::su_wassell: break;
    case ColumnOrder::norm: {
      for (index_t j = 0; j < n; ++j) {
        T sum = 0;
        for (index_t i = 0; i < m; ++i) sum += norm(F(a[i + j * m]));
        work[j] = number<F>(sum);
      }
      sort_by(n, work, order, up);
      break;
    }
    case ColumnOrder::vblast:
    case ColumnOrder::mmse_vblast:
      vblast_order(m, n, a, kind == ColumnOrder::vblast ? T(0) : alpha2, work, order);
      break;
    case ColumnOrder::sqrd:
    case ColumnOrder::mmse_sqrd: {
      const index_t rows = kind == ColumnOrder::sqrd ? m : m + n;
      const T alpha = std::sqrt(alpha2);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < rows; ++i)
          work[i + j * rows] = i < m ? F(a[i + j * m]) : number<F>(i - m == j ? alpha : T(0));
      reflect(rows, n, work, work + rows * n, order.first, order.step, true);
      break;
    }
  }
}

inline constexpr index_t most_streams = 32, most_antennas = 128;

/// The original H, and the values of the streams' columns. In real form there are two columns per stream, real parts
/// first.
template <class T>
struct ChannelView {
  static constexpr index_t most_labels = most_streams;

  index_t antennas, streams;
  const Complex<T>* h;
  index_t ld;
  const SearchColumn* columns;
  const SearchPoint* points;

  TESELA_INLINE index_t label_count() const { return streams; }
  template <class F>
  TESELA_INLINE index_t rows() const {
    return is_complex<F> ? antennas : 2 * antennas;
  }
  template <class F>
  TESELA_INLINE index_t cols() const {
    return is_complex<F> ? streams : 2 * streams;
  }
  /// Returns element (i, j) of H, or of [Re H, -Im H; Im H, Re H].
  template <class F>
  TESELA_INLINE F element(index_t i, index_t j) const {
    if constexpr (is_complex<F>) {
      return h[i + j * ld];
    } else {
      const Complex<T> x = h[(i < antennas ? i : i - antennas) + (j < streams ? j : j - streams) * ld];
      if (i < antennas) return j < streams ? x.re : -x.im;
      return j < streams ? x.im : x.re;
    }
  }
  /// Writes the signal of antenna i to its rows of z.
  template <class F, class P>
  TESELA_INLINE void split(Complex<T> x, index_t i, P z) const {
    if constexpr (is_complex<F>)
      z[i] = x;
    else
      z[i] = x.re, z[i + antennas] = x.im;
  }
};

/// Returns the exponent of x; 0 for 0.
template <class T>
TESELA_INLINE int exponent_of(T x) {
  return x > 0 ? std::ilogb(x) : 0;
}

/// Computes x 2^-exponent, even if that power exceeds T.
template <class T>
struct Scale {
  T first, second;
  TESELA_BOTH explicit Scale(int exponent)
      : first(std::ldexp(T(1), -exponent / 2)), second(std::ldexp(T(1), -(exponent - exponent / 2))) {}
  TESELA_INLINE T operator()(T x) const { return x * first * second; }
  TESELA_INLINE Complex<T> operator()(Complex<T> x) const { return {x.re * first * second, x.im * first * second}; }
};

/// Data that a channel's signals share; Q R = H 2^-exponent P, packed as by reflect().
struct ChannelFacts {
  int exponent;
  int zero;      ///< H is zero
  double reach;  ///< sum over columns of their norm times their largest amplitude, scaled as R
};

/// Returns the numbers of a prepared channel: a, then tau.
TESELA_BOTH inline index_t channel_numbers(index_t m, index_t n) { return m * n + n; }

struct OrderChoice {
  ColumnOrder kind;
  bool up;
  double n0;
};

/// Loads H, scaled, and sets its exponent.
template <class F, class P, class T>
TESELA_BOTH ChannelFacts load_channel(const ChannelView<T>& view, P a) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  T largest = 0;
  for (index_t j = 0; j < view.streams; ++j)
    for (index_t i = 0; i < view.antennas; ++i) {
      const T size = size_of(view.h[i + j * view.ld]);
      largest = size > largest ? size : largest;
    }
  const ChannelFacts facts{exponent_of(largest), largest > 0 ? 0 : 1, 0};
  const Scale<T> scale(facts.exponent);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a[i + j * m] = scale(view.template element<F>(i, j));
  return facts;
}

/// Returns N0 in the units of the scaled channel.
template <class T>
TESELA_BOTH T scaled_noise(double n0, int exponent) {
  const Scale<double> scale(exponent);
  return static_cast<T>(scale(scale(n0)));
}

/// Factors the matrix of load_channel() with its columns in this order.
template <class F, class P, class T>
TESELA_BOTH void factor_channel(const ChannelView<T>& view, ChannelFacts& facts, P a, P tau, const OrderOf& order) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  const Scale<T> scale(facts.exponent);
  facts.reach = 0;
  for (index_t k = 0; k < n; ++k) {
    T sum = 0;
    for (index_t i = 0; i < m; ++i) {
      const F x = scale(view.template element<F>(i, order[k]));
      a[i + k * m] = x;
      sum += norm(x);
    }
    facts.reach += std::sqrt(static_cast<double>(sum)) * view.columns[order[k]].largest;
  }
  reflect(m, n, a, tau, order.first, order.step, false);
}

/// Prepares a channel completely, for an order that needs no signal.
template <class F, class P, class T>
TESELA_BOTH ChannelFacts prepare_channel(const ChannelView<T>& view, const OrderChoice& choice, P a, P tau, P work,
                                         const OrderOf& order) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  ChannelFacts facts = load_channel<F>(view, a);
  order_columns(choice.kind, choice.up, m, n, a, scaled_noise<T>(choice.n0, facts.exponent), work, order);
  factor_channel<F>(view, facts, a, tau, order);
  return facts;
}

template <class F, class T>
TESELA_BOTH F amplitude_of(const ChannelView<T>& view, const SearchColumn& c, int k) {
  if constexpr (is_complex<F>)
    return rounded<F>(Complex<double>{view.points[c.first + k].re, view.points[c.first + k].im});
  else
    return static_cast<F>(c.low + k * c.step);
}

/// Returns the amplitude a of a column with the least |left - r a|.
template <class F, class T>
TESELA_BOTH F nearest_amplitude(const ChannelView<T>& view, const SearchColumn& c, F left, F r) {
  F best = number<F>(0);
  real_t<F> least = 0;
  for (int k = 0; k < c.count; ++k) {
    const F a = amplitude_of<F>(view, c, k);
    const real_t<F> d = norm(left - r * a);
    if (k == 0 || d < least) best = a, least = d;
  }
  return best;
}

/// Computes Su and Wassell's order (2005): the column whose second nearest hyperplane is farthest from y comes last;
/// its nearest amplitude is subtracted from y, and the other columns follow in the same way. y: scaled as a, H. exact:
/// n n + n numbers, whose precision is used.
template <class P, class Q, class T>
TESELA_BOTH void su_wassell_order(const ChannelView<T>& view, index_t m, index_t n, P a, P y, Q exact,
                                  const OrderOf& order) {
  using F = Element<Q>;
  using E = real_t<F>;
  const Q c = exact, b = exact + n * n;
  inverse_gram(m, n, a, E(0), c);
  const auto product = [&](index_t i, P x) {
    F sum = number<F>(0);
    for (index_t k = 0; k < m; ++k) sum += conj(rounded<F>(a[k + i * m])) * rounded<F>(x[k]);
    return sum;
  };
  for (index_t j = 0; j < n; ++j) b[j] = product(j, y), order[j] = static_cast<int>(j);
  for (index_t left = n; left > 0; --left) {
    index_t best = 0;
    E farthest = -1;
    F taken = number<F>(0);
    for (index_t q = 0; q < left; ++q) {
      const int j = order[q];
      F x = number<F>(0);
      for (index_t p = 0; p < left; ++p) x += F(c[j + order[p] * n]) * F(b[order[p]]);
      const SearchColumn& column = view.columns[j];
      const F nearest = nearest_amplitude(view, column, x, number<F>(1));
      const E least = norm(x - nearest);
      E second = -1;
      for (int k = 0; k < column.count; ++k) {
        const E d = norm(x - amplitude_of<F>(view, column, k));
        if (d > least && (second < 0 || d < second)) second = d;
      }
      const E distance = second / real(F(c[j * (n + 1)]));
      if (distance > farthest) best = q, farthest = distance, taken = nearest;
    }
    const int t = order[best];
    for (index_t q = best; q + 1 < left; ++q) order[q] = order[q + 1];
    order[left - 1] = t;
    remove_column(n, left - 1, t, c, order);
    for (index_t q = 0; q + 1 < left; ++q) b[order[q]] -= product(order[q], a + t * m) * taken;
  }
}

/// Prepares as prepare_channel(), for an order that depends on the signal. work: order_work() numbers. exact: as in
/// su_wassell_order(); may be `work` if its precision suffices.
template <class F, class P, class Q, class T>
TESELA_BOTH ChannelFacts prepare_for_signal(const ChannelView<T>& view, const OrderChoice& choice, const Complex<T>* y,
                                            P a, P tau, P work, Q exact, const OrderOf& order) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  ChannelFacts facts = load_channel<F>(view, a);
  const Scale<T> scale(facts.exponent);
  const P left = work + (m + n) * n + n, s = left + m;
  for (index_t i = 0; i < view.antennas; ++i) view.template split<F>(scale(y[i]), i, left);
  if (choice.kind == ColumnOrder::su_wassell) {
    su_wassell_order(view, m, n, a, left, exact, order);
    factor_channel<F>(view, facts, a, tau, order);
    return facts;
  }
  for (index_t j = 0; j < n; ++j) {
    F slope = number<F>(0);
    for (index_t i = 0; i < m; ++i) slope += conj(F(a[i + j * m])) * F(left[i]);
    s[j] = number<F>(norm(slope));
  }
  sort_by(n, s, order, choice.up);
  factor_channel<F>(view, facts, a, tau, order);
  return facts;
}

/// Returns false if a number of h or y is not finite; the first report then has the flag, and nothing else is to be
/// done.
template <class T>
bool finite_batch(const Block<const std::complex<T>>& h, const Block<const std::complex<T>>& y,
                  const Block<SearchReport>& reports) {
  const auto finite = [](const Block<const std::complex<T>>& a) {
    const bool dense = a.ld == a.rows;
    const index_t columns = dense && a.cols > 0 ? 1 : a.cols, rows = dense ? a.rows * a.cols : a.rows;
    for (index_t j = 0; j < columns; ++j)
      if (!all_finite(reinterpret_cast<const T*>(a.data + j * a.ld), 2 * rows)) return false;
    return true;
  };
  if (y.cols == 0 || (finite(h) && finite(y))) return true;
  reports(0, 0) = {0, 0, SearchReport::not_finite};
  return false;
}

/// Does the same on a GPU's stream; the later kernels call batch_not_finite().
template <class T>
void find_not_finite(CUstream_st* stream, const Block<const std::complex<T>>& h, const Block<const std::complex<T>>& y,
                     const Block<SearchReport>& reports);

TESELA_BOTH inline bool batch_not_finite(const SearchReport* reports) {
  return (reports->flags & SearchReport::not_finite) != 0;
}

}  // namespace tesela::kernels::mimo
