#pragma once

#include <tesela/codelets/mimo/internal/ordered_qr_body.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>
#include <tesela/codelets/mimo/ordered_search.hpp>

// One signal of OrderedSearch and of GradientOrder. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// A real H with the interface of a channel for searches.
struct RealChannel {
  static constexpr index_t most_labels = OrderedQrs::most;

  index_t antennas, streams;
  const double* h;
  index_t ld;
  const SearchColumn* columns;
  const SearchPoint* points;

  TESELA_INLINE index_t label_count() const { return streams; }
  template <class F>
  TESELA_INLINE index_t rows() const {
    return antennas;
  }
  template <class F>
  TESELA_INLINE index_t cols() const {
    return streams;
  }
  template <class F, class P>
  TESELA_INLINE void split(double x, index_t i, P z) const {
    z[i] = x;
  }
};

template <class P>
TESELA_BOTH double leaf_of(const RealChannel& view, const Tree<double, P>& tree, const double* y,
                           const Scale<double>& scale, int* labels) {
  double s[RealChannel::most_labels];
  for (index_t i = 0; i < tree.n; ++i) {
    const int j = tree.order[i];
    const SearchColumn& c = tree.columns[j];
    s[j] = c.low + tree.at[i] * c.step;
    labels[j] = tree.points[c.first + tree.at[i]].label;
  }
  double sum = 0;
  for (index_t i = 0; i < view.antennas; ++i) {
    double left = scale(y[i]);
    for (index_t j = 0; j < view.streams; ++j) left -= scale(view.h[i + j * view.ld]) * s[j];
    sum += left * left;
  }
  return std::sqrt(sum);
}

/// Replaces z by Q^T z with a packed factorization.
template <class P>
TESELA_BOTH void apply_packed(OrderingBuild build, index_t n, P a, double* z) {
  if (build == OrderingBuild::neighbour) {
    double y[OrderedQrs::most];
    for (index_t i = 0; i < n; ++i) {
      y[i] = 0;
      for (index_t j = 0; j < n; ++j) y[i] += a[n * n + i + j * n] * z[j];
    }
    for (index_t i = 0; i < n; ++i) z[i] = y[i];
    return;
  }
  for (index_t k = 0; k + 1 < n; ++k) {
    double square = 0, sum = z[k];
    for (index_t i = k + 1; i < n; ++i) {
      const double v = a[i + k * n];
      square += v * v, sum += v * z[i];
    }
    if (!(square > 0)) continue;
    sum *= 2 / (1 + square);
    z[k] -= sum;
    for (index_t i = k + 1; i < n; ++i) z[i] -= a[i + k * n] * sum;
  }
}

struct OrderedSignals {
  OrderedSearch::Args args;
  Block<const double> h, base, packed, x;
  Block<const int> picks;
  const SearchColumn* columns;
  const SearchPoint* points;
  Block<int> labels;
  Block<SearchReport> reports;

  TESELA_BOTH void operator()(index_t k) const {
    const index_t n = h.rows;
    const RealChannel view{n, n, h.data, h.ld, columns, points};
    const ChannelFacts facts{args.exponent, args.zero ? 1 : 0, args.reach};
    double numbers[OrderedQrs::most];
    const Interleaved<double> z{numbers, 1};
    const int* const pick = picks.data + k * picks.ld;
    const Interleaved<const double> a = place_of(packed, args.in_order ? k : *pick);
    const double *const y = x.data + k * x.ld, *const q = base.data;
    const Reception reception = receive<double>(view, facts, y, z, [&](const Interleaved<double>&) {
      apply_adjoint(n, n, q, q + n * n, &numbers[0]);
      apply_packed(args.build, n, a, numbers);
    });
    const OrderOf order{const_cast<int*>(pick + 1), 1};
    Search<double, Interleaved<double>, RealChannel> one;
    const Interleaved<double> r{const_cast<double*>(a.first), a.step};
    one.begin(view, facts, n, r, order, z, reception, {});
    while (one.step(view, y, reception, {})) {
    }
    reports.data[k * reports.ld] = one.end(view, reception, labels.data + k * labels.ld);
  }
};

/// Computes the number of the order and the order of one signal.
TESELA_BOTH inline void gradient_order(index_t n, const double* products, int* pick) {
  double keys[OrderedQrs::most];
  for (index_t j = 0; j < n; ++j) keys[j] = std::fabs(products[j]);
  int* const order = pick + 1;
  sort_by(n, &keys[0], OrderOf{order, 1}, true);
  int rank = 0;
  for (index_t k = 0; k < n; ++k) {
    int smaller = 0;
    for (index_t l = k + 1; l < n; ++l) smaller += order[l] < order[k] ? 1 : 0;
    rank = rank * static_cast<int>(n - k) + smaller;
  }
  pick[0] = rank;
}

}  // namespace tesela::kernels::mimo
