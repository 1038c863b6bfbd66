#pragma once

#include <tesela/codelets/mimo/internal/channel_body.hpp>

// Orders that need the signal. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

template <class F, class T>
TESELA_BOTH F amplitude_of(const ChannelView<T>& view, const SearchColumn& c, int k) {
  if constexpr (NumberOf<F>::complex)
    return rounded<F>(Complex<double>{view.points[c.first + k].re, view.points[c.first + k].im});
  else
    return static_cast<F>(c.low + k * c.step);
}

/// Returns the amplitude a of a column with the least |left - r a|.
template <class F, class T>
TESELA_BOTH F nearest_amplitude(const ChannelView<T>& view, const SearchColumn& c, F left, F r) {
  F best = number<F>(0);
  RealOf<F> least = 0;
  for (int k = 0; k < c.count; ++k) {
    const F a = amplitude_of<F>(view, c, k);
    const RealOf<F> d = norm(left - r * a);
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
  using E = RealOf<F>;
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

}  // namespace tesela::kernels::mimo
