#pragma once

#include <tesela/codelets/mimo/internal/reflectors_body.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>
#include <tesela/codelets/mimo/ordered_search.hpp>

// QR factorizations of one matrix in many orders of its columns, and searches from them. Sizes are known at compile
// time, so that a matrix is kept in registers. Internal to codelets/mimo.

#ifdef __CUDA_ARCH__
#define TESELA_UNROLLED _Pragma("unroll")
#else
#define TESELA_UNROLLED
#endif

namespace tesela::kernels::mimo {

/// Returns the k-th of several packed factorizations.
template <class T>
TESELA_INLINE Interleaved<T> place_of(const Block<T>& packed, index_t k) {
  return {packed.data + k % OrderedQrs::together + k / OrderedQrs::together * packed.ld, OrderedQrs::together};
}

TESELA_BOTH constexpr index_t factorial(index_t n) { return n < 2 ? 1 : n * factorial(n - 1); }

/// Returns the permutation of that number in lexicographic order.
template <int N>
TESELA_BOTH void unrank(index_t rank, int* order) {
  unsigned left = (1u << N) - 1;  // unused columns
  index_t share = factorial(N - 1);
  for (int k = 0; k < N; ++k) {
    index_t skip = rank / share;
    rank %= share;
    if (k + 1 < N) share /= N - 1 - k;
    int c = 0;
    while ((left >> c & 1) == 0 || skip-- > 0) ++c;
    order[k] = c;
    left &= ~(1u << c);
  }
}

/// Replaces x, K numbers, by beta and v, as make_reflector(), for numbers that are not huge and negligible if tiny.
template <int K>
TESELA_INLINE double light_reflector(double* x) {
  double below = 0;
  TESELA_UNROLLED
  for (int i = 1; i < K; ++i) below += x[i] * x[i];
  const double all = below + x[0] * x[0];
  if (!(below > 0) || !(all > 1e-280)) {  // squares below this lose digits
    TESELA_UNROLLED
    for (int i = 1; i < K; ++i) x[i] = 0;
    return 0;
  }
  const double size = std::sqrt(all), beta = x[0] > 0 ? -size : size, inverse = 1 / (x[0] - beta);
  const double tau = (beta - x[0]) / beta;
  TESELA_UNROLLED
  for (int i = 1; i < K; ++i) x[i] *= inverse;
  x[0] = beta;
  return tau;
}

/// Applies column J's reflector to x, its rows from J on.
template <int N>
TESELA_INLINE void reflect_column(int j, const double* v, double tau, double* x) {
  double sum = x[j];
  TESELA_UNROLLED
  for (int i = 0; i < N; ++i)
    if (i > j) sum += v[i] * x[i];
  sum *= tau;
  x[j] -= sum;
  TESELA_UNROLLED
  for (int i = 0; i < N; ++i)
    if (i > j) x[i] -= v[i] * sum;
}

/// Computes columns K … N - 1 of the factorization of R P; the earlier columns exist.
template <int N, int K = 0>
TESELA_INLINE void factor_from(int from, const double* r, const int* order, double* a, double* tau) {
  if constexpr (K < N) {
    if (K >= from) {
      double* const x = a + K * N;
      TESELA_UNROLLED
      for (int i = 0; i < N; ++i) x[i] = r[i + order[K] * N];
      TESELA_UNROLLED
      for (int j = 0; j < K; ++j) reflect_column<N>(j, a + j * N, tau[j], x);
      tau[K] = light_reflector<N - K>(x + K);
    }
    factor_from<N, K + 1>(from, r, order, a, tau);
  }
}

template <int N>
TESELA_INLINE void store(const double* a, const Interleaved<double>& to) {
  TESELA_UNROLLED
  for (int e = 0; e < N * N; ++e) to[e] = a[e];
}

/// Computes the next permutation in lexicographic order; returns its first place that changes, or -1 after the last
/// one.
template <int N>
TESELA_BOTH int next_order(int* order) {
  int i = N - 1;
  while (i > 0 && order[i - 1] > order[i]) --i;
  if (i == 0) return -1;
  const int changed = i - 1;
  int j = N - 1;
  while (order[j] < order[changed]) --j;
  const int kept = order[changed];
  order[changed] = order[j], order[j] = kept;
  for (j = N - 1; i < j; ++i, --j) {
    const int low = order[i];
    order[i] = order[j], order[j] = low;
  }
  return changed;
}

/// Factors `count` permutations from number `first` on, each from the first place that differs from the previous one.
template <int N>
TESELA_BOTH void factor_run(const double* r, const Block<double>& packed, index_t first, index_t place, index_t count,
                            bool share) {
  double a[N * N] = {}, tau[N] = {};
  int order[N];
  unrank<N>(first, order);
  for (index_t k = 0; k < count; ++k) {
    int from = 0;
    if (k > 0) {
      from = next_order<N>(order);
      if (from < 0) return;
    }
    if (!share) from = 0;
    factor_from<N>(from, r, order, a, tau);
    store<N>(a, place_of(packed, place + k));
  }
}

/// Runs f<n>().
template <class F>
void with_size(index_t n, const F& f) {
  switch (n) {
#define TESELA_SIZE(N) \
  case N: return f.template operator()<N>();
    TESELA_SIZE(1)
    TESELA_SIZE(2)
    TESELA_SIZE(3)
    TESELA_SIZE(4)
    TESELA_SIZE(5)
    TESELA_SIZE(6)
    TESELA_SIZE(7)
    TESELA_SIZE(8)
    TESELA_SIZE(9)
    TESELA_SIZE(10)
    TESELA_SIZE(11)
#undef TESELA_SIZE
  }
}

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
TESELA_BOTH void apply_packed(index_t n, P a, double* z) {
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
      apply_packed(n, a, numbers);
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
