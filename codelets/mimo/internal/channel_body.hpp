#pragma once

#include <tesela/codelets/mimo/internal/order_body.hpp>

// Preparation of a channel for searches. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

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
    return NumberOf<F>::complex ? antennas : 2 * antennas;
  }
  template <class F>
  TESELA_INLINE index_t cols() const {
    return NumberOf<F>::complex ? streams : 2 * streams;
  }
  /// Returns element (i, j) of H, or of [Re H, -Im H; Im H, Re H].
  template <class F>
  TESELA_INLINE F element(index_t i, index_t j) const {
    if constexpr (NumberOf<F>::complex) {
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
    if constexpr (NumberOf<F>::complex)
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

}  // namespace tesela::kernels::mimo
