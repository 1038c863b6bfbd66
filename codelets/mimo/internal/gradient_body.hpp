#pragma once

#include <tesela/codelets/mimo/internal/channel_body.hpp>

// The order by the gradient of ||H s - y||^2 / 2, which needs the signal. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// The amplitude a of a column for which |left - r a| is least.
template <class F, class T>
TESELA_BOTH F nearest_amplitude(const ChannelView<T>& view, const SearchColumn& c, F left, F r) {
  F best = number<F>(0);
  T least = 0;
  for (int k = 0; k < c.count; ++k) {
    F a;
    if constexpr (NumberOf<F>::complex)
      a = {static_cast<T>(view.points[c.first + k].re), static_cast<T>(view.points[c.first + k].im)};
    else
      a = static_cast<T>(c.low + k * c.step);
    const T d = norm(left - r * a);
    if (k == 0 || d < least) best = a, least = d;
  }
  return best;
}

/// A guess s0: nothing, Babai's point (each column sliced in turn), or the linear estimate of least mean square error,
/// sliced. a: H, scaled; y likewise, and lost; q: (m + n) (n + 1) numbers.
template <class F, class P, class T>
TESELA_BOTH void guess(const ChannelView<T>& view, GradientAt at, index_t m, index_t n, P a, T alpha, P y, P q, P s) {
  if (at == GradientAt::zero) {
    for (index_t j = 0; j < n; ++j) s[j] = number<F>(0);
    return;
  }
  const bool babai = at == GradientAt::babai;
  const index_t rows = babai ? m : m + n;
  const P tau = q + rows * n;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < rows; ++i) q[i + j * rows] = i < m ? F(a[i + j * m]) : number<F>(i - m == j ? alpha : T(0));
  for (index_t i = m; i < rows; ++i) y[i] = number<F>(0);
  reflect(rows, n, q, tau, nullptr, 0, false);
  apply_adjoint(rows, n, q, tau, y);
  for (index_t i = n - 1; i >= 0; --i) {
    F left = i < rows ? F(y[i]) : number<F>(0);
    for (index_t j = i + 1; j < n && i < rows; ++j) left -= F(q[i + j * rows]) * F(s[j]);
    const F r = i < rows ? F(q[i + i * rows]) : number<F>(0);
    if (babai)
      s[i] = nearest_amplitude(view, view.columns[i], left, r);
    else
      s[i] = norm(r) > 0 ? left * conj(r) / norm(r) : number<F>(0);
  }
  for (index_t j = 0; j < n && !babai; ++j) s[j] = nearest_amplitude(view, view.columns[j], F(s[j]), number<F>(1));
}

/// As prepare_channel(), for the order of |H^H (H s0 - y)|. work: order_work() numbers.
template <class F, class P, class T>
TESELA_BOTH ChannelFacts prepare_for_signal(const ChannelView<T>& view, const OrderChoice& choice, const Complex<T>* y,
                                            P a, P tau, P work, const OrderOf& order) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  ChannelFacts facts = load_channel<F>(view, a);
  const Scale<T> scale(facts.exponent);
  const P q = work, left = work + (m + n) * n + n, s = left + (m + n);
  const auto receive = [&] {
    for (index_t i = 0; i < view.antennas; ++i) {
      const Complex<T> x = scale(y[i]);
      if constexpr (NumberOf<F>::complex)
        left[i] = x;
      else
        left[i] = x.re, left[i + view.antennas] = x.im;
    }
  };
  receive();
  guess<F>(view, choice.at, m, n, a, std::sqrt(scaled_noise<T>(choice.n0, facts.exponent)), left, q, s);
  receive();
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) left[i] -= F(a[i + j * m]) * F(s[j]);
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
