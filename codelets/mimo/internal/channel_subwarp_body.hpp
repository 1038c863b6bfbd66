#pragma once

#include <tesela/codelets/mimo/internal/orders_subwarp_body.hpp>

// prepare_channel() and prepare_for_signal() by a group of lanes, in real form. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

TESELA_BOTH inline bool lanes_prepare(ColumnOrder order, index_t m, index_t n) {
  return m <= 16 && n <= 16 &&
         (order == ColumnOrder::natural || order == ColumnOrder::sqrd || order == ColumnOrder::vblast ||
          order == ColumnOrder::mmse_vblast || order == ColumnOrder::su_wassell);
}

/// Returns the column x of the scaled matrix that comes to this lane's place. Su and Wassell's order is computed in
/// double, because its channels are so ill conditioned that single precision loses their Gram matrix.
template <int S, class T, class Warp>
TESELA_INLINE int lane_order(Warp& warp, bool there, const ChannelView<T>& view, ColumnOrder kind, double n0,
                             const Complex<T>* y, int exponent, const T* x, const SearchColumn& column) {
  const int m = static_cast<int>(view.template rows<T>()), n = static_cast<int>(view.template cols<T>());
  if (kind != ColumnOrder::su_wassell) {
    SubwarpOrder<T, S, Warp> sorted(warp, n);
    sorted.vblast(m, x, kind == ColumnOrder::vblast ? T(0) : scaled_noise<T>(n0, exponent));
    return sorted.source();
  }
  const Scale<T> scale(exponent);
  double exact[S], b = 0;
  TESELA_FLAT
  for (int i = 0; i < S; ++i) {
    exact[i] = static_cast<double>(x[i]);
    if (!there || i >= m) continue;
    const int antennas = static_cast<int>(view.antennas);
    const Complex<T> heard = scale(y[i < antennas ? i : i - antennas]);
    b += exact[i] * static_cast<double>(i < antennas ? heard.re : heard.im);
  }
  SubwarpOrder<double, S, Warp> sorted(warp, n);
  sorted.su_wassell(m, exact, b, column);
  return sorted.source();
}

/// Prepares a channel. All lanes of a warp must call it; a group with `there` false writes nothing. y: for su_wassell.
template <int S, class T, class Warp, class P>
TESELA_INLINE void lane_channel(Warp& warp, bool there, const ChannelView<T>& view, ColumnOrder kind, double n0,
                                const Complex<T>* y, const P& a, const P& tau, const OrderOf& order,
                                ChannelFacts* facts) {
  const int m = static_cast<int>(view.template rows<T>()), n = static_cast<int>(view.template cols<T>());
  const int steps = m < n ? m : n;
  SubwarpColumns<T, S, Warp> own(warp);
  const int j = own.group.j;
  const bool mine = there && j < n;
  T largest = 0;
  TESELA_FLAT
  for (int i = 0; i < S; ++i) {
    own.x[i] = mine && i < m ? view.template element<T>(i, j) : T(0);
    largest = std::fabs(own.x[i]) > largest ? std::fabs(own.x[i]) : largest;
  }
  largest = own.group.largest(largest);
  const int exponent = exponent_of(largest);
  const Scale<T> scale(exponent);
  T sum = 0;
  TESELA_FLAT
  for (int i = 0; i < S; ++i) own.x[i] = scale(own.x[i]), sum += own.x[i] * own.x[i];
  const SearchColumn column = view.columns[j < n ? j : 0];
  const double reach = own.group.sum(mine ? std::sqrt(static_cast<double>(sum)) * column.largest : 0.0);
  if (kind != ColumnOrder::natural && kind != ColumnOrder::sqrd) {
    const int source = lane_order<S>(warp, there, view, kind, n0, y, exponent, own.x, column);
    TESELA_FLAT
    for (int i = 0; i < S; ++i) own.x[i] = own.group.from(own.x[i], source);
    own.from = own.group.from(own.from, source);
  }
  TESELA_FLAT
  for (int k = 0; k < S; ++k)
    if (k < steps) {
      if (kind == ColumnOrder::sqrd) own.sort(k, n);
      own.reflect(k);
    }
  own.finish();
  if (there && j == 0) *facts = {exponent, largest > 0 ? 0 : 1, reach};
  if (!mine) return;
  TESELA_FLAT
  for (int i = 0; i < S; ++i)
    if (i < m) a[i + j * m] = own.x[i];
  order[j] = own.from;
  if (j < steps) tau[j] = own.tau;
}

}  // namespace tesela::kernels::mimo
