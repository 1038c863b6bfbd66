#pragma once

#include <tesela/codelets/mimo/internal/nway_tree_body.hpp>
#include <tesela/codelets/mimo/soft_detector.hpp>

// Signals of GpuSoftDetector: nway by one thread per tree, mmse by one thread or, with too few registers for
// MmseEstimate, by G lanes of a warp, in double. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

inline constexpr index_t most_quick_size = 16;

/// Shared memory of a block, which holds the least distance for each amplitude of each part, once per thread; a thread
/// has one tree, and a signal's trees are neighbours.
inline constexpr index_t nway_bytes = 48 * 1024, nway_threads = 128;
TESELA_BOTH inline index_t nway_signals(index_t streams, index_t amplitudes, index_t size) {
  const index_t room = nway_bytes / (amplitudes * size);
  return (room < nway_threads ? room : nway_threads) / streams;
}

/// Data that all signals share.
template <class T>
struct SoftBatch {
  ChannelView<T> view;  ///< of the first channel
  const Complex<T>* y;
  index_t ld_y, signals, coherence;
  T* llrs;
  index_t ld_llrs;
  double* nodes;
  index_t ld_nodes;
  BitLists lists;
  double n0, clip;

  TESELA_INLINE ChannelView<T> channel(index_t k) const {
    ChannelView<T> one = view;
    one.h += k / coherence * view.streams * view.ld;
    return one;
  }
  TESELA_INLINE T* of(index_t k) const { return llrs + k * ld_llrs; }
  TESELA_INLINE int bits() const {
    int sum = 0;
    for (int j = 0; j < lists.n; ++j) sum += lists.width(j);
    return sum;
  }
};

/// Computes mmse of signal k in llr, zeros without a result. ones: amplitudes_with() by streams and places of the
/// label.
template <int S, class T>
TESELA_INLINE void linear_signal(const SoftBatch<T>& all, index_t k, const std::uint32_t* ones, T* llr) {
  const ChannelView<T> view = all.channel(k);
  const Complex<T>* const y = all.y + k * all.ld_y;
  const int n = all.lists.n;
  const Exact<T> exact(view);
  const double n0 = scaled_noise<double>(all.n0, exact.exponent), inverse_n0 = 1 / n0;
  MmseEstimate<S> estimate(n, std::sqrt(n0));
  TESELA_ROLLED
  for (index_t i = 0; i < view.antennas; ++i) {
    Complex<double> row[S];
    TESELA_FLAT
    for (int j = 0; j < estimate.end(); ++j) row[j] = j < n ? exact(view.h[i + j * view.ld]) : Complex<double>{0, 0};
    estimate.take(row, exact(y[i]));
  }
  bool known = estimate.solve();
  T* const first = llr;
  TESELA_FLAT
  for (int j = 0; j < estimate.end(); ++j) {
    if (j >= n) continue;
    const int width = all.lists.width(j);
    const LinearEstimate one(estimate.z[j], 1 - n0 * estimate.spread[j], estimate.spread[j], n0, inverse_n0);
    known = known && !estimate.lost(j, one.bias * all.lists.columns[j].largest);
    T* const own = llr;
    const auto give = [&](int bit, double l) {
      own[width - 1 - bit] = cut_likelihood<T>(l, all.clip);
      known = known && l == l;
    };
    if (all.lists.square)
      one.square_bits(
          all.lists, j, width, [&](int bit) { return ones[j * most_bits + bit]; }, give);
    else
      one.bits(all.lists, j, width, give);
    llr += width;
  }
  all.nodes[k * all.ld_nodes] = known ? static_cast<double>(n) : SoftDetector<T>::no_answer;
  if (known) return;
  for (T* l = first; l < llr; ++l) *l = 0;
}

/// Computes stream j's bits of signal k from the least distances, cell(c) of all trees. Returns false if these are NaN.
template <class T, class Cell>
TESELA_INLINE bool bits_of_cells(const SoftBatch<T>& all, index_t k, int j, double n0, const Cell& cell) {
  const BitLists& lists = all.lists;
  const int width = lists.width(j);
  T* llr = all.of(k);
  for (int before = 0; before < j; ++before) llr += lists.width(before);
  bool known = true;
  for (int part = 0; part < 2; ++part) {
    const SearchColumn& axis = lists.axis(j, part == 1);
    T zero[most_bits / 2], one[most_bits / 2];
    TESELA_FLAT
    for (int b = 0; b < most_bits / 2; ++b) zero[b] = one[b] = endless<T>;
    for (int a = 0; a < axis.count; ++a) {
      const int label = lists.points[axis.first + a].label;
      const T distance = cell(axis.first - lists.columns[lists.n].first + a);
      TESELA_FLAT
      for (int b = 0; b < most_bits / 2; ++b) {
        const bool with = (label >> (2 * b + 1 - part) & 1) != 0;
        one[b] = with && distance < one[b] ? distance : one[b];
        zero[b] = !with && distance < zero[b] ? distance : zero[b];
      }
    }
    TESELA_FLAT
    for (int b = 0; b < most_bits / 2; ++b) {
      const int bit = 2 * b + 1 - part;
      if (bit >= width) continue;
      const double l = over_noise(static_cast<double>(one[b]) - static_cast<double>(zero[b]), n0);
      llr[width - 1 - bit] = cut_likelihood<T>(l, all.clip);
      known = known && l == l;
    }
  }
  return known;
}

/// Lane l has columns l, l + G, … of R, and these rows of z.
template <int S, int G, class Warp>
struct SubwarpRotations {
  using Number = Complex<double>;
  static constexpr int owned = S / G;

  Group<G, Warp> group;
  const int n;
  double diagonal[owned], spread[owned];
  Number r[owned * S], z[owned];             ///< r[c S + i] = R(i, column(c))
  double residual = 0, most = 0, reach = 0;  ///< as in MmseEstimate

  TESELA_INLINE SubwarpRotations(Warp& warp, int streams, double alpha) : group(warp), n(streams) {
    TESELA_FLAT
    for (int c = 0; c < owned; ++c) {
      diagonal[c] = alpha, spread[c] = 0, z[c] = {0, 0};
      TESELA_FLAT
      for (int i = 0; i < S; ++i) r[c * S + i] = {0, 0};
    }
  }
  TESELA_INLINE int column(int c) const { return group.j + c * G; }

  /// Adds one antenna: the lane's columns of its row of H, and its received number.
  TESELA_INLINE void take(Number* row, Number heard) {
    TESELA_FLAT
    for (int k = 0; k < S; ++k) {
      if (k >= n) continue;
      const Owner at(k);
      const double d = group.from(diagonal[at.slot], at.lane);
      const Number x = group.from(row[at.slot], at.lane), known = group.from(z[at.slot], at.lane);
      const double square = d * d + norm(x);
      if (!(square > 0)) continue;
      const double inverse = inverse_root(square), c = d * inverse;
      const Number s = inverse * x;
      const auto turn = [&](Number& above, Number& below) {
        const Number a = above, b = below;
        above = {c * a.re + s.re * b.re + s.im * b.im, c * a.im + s.re * b.im - s.im * b.re};
        below = {c * b.re - s.re * a.re + s.im * a.im, c * b.im - s.re * a.im - s.im * a.re};
      };
      TESELA_FLAT
      for (int e = 0; e < owned; ++e)
        if (column(e) > k) turn(r[e * S + k], row[e]);
      Number above = known;
      turn(above, heard);
      if (group.j == at.lane) z[at.slot] = above, diagonal[at.slot] = square * inverse;
    }
    residual += norm(heard);
  }

  /// Replaces z by the estimates of the lane's streams. Returns false if columns are dependent up to rounding.
  TESELA_INLINE bool solve() {
    double largest = 0, least = endless<double>;
    TESELA_FLAT
    for (int c = 0; c < owned; ++c) {
      if (column(c) >= n) continue;
      largest = diagonal[c] > largest ? diagonal[c] : largest;
      least = diagonal[c] < least ? diagonal[c] : least;
      TESELA_FLAT
      for (int i = 0; i < S; ++i) largest = size_of(r[c * S + i]) > largest ? size_of(r[c * S + i]) : largest;
    }
    largest = group.largest(largest), least = -group.largest(-least);
    const bool known = least > 8 * n * rounding_of<double> * largest;
    Number all[S], inverse[owned * S];  // z, and columns of R^-1
    TESELA_FLAT
    for (int i = 0; i < S; ++i) {
      const Owner at(i);
      all[i] = group.from(z[at.slot], at.lane);
      TESELA_FLAT
      for (int c = 0; c < owned; ++c) inverse[c * S + i] = {column(c) == i ? 1.0 : 0.0, 0};
    }
    TESELA_FLAT
    for (int j = S - 1; j >= 0; --j) {
      if (j >= n) continue;
      const Owner at(j);
      const double turned = group.from(1 / diagonal[at.slot], at.lane);
      all[j] = turned * all[j];
      TESELA_FLAT
      for (int c = 0; c < owned; ++c) inverse[c * S + j] = turned * inverse[c * S + j];
      TESELA_FLAT
      for (int i = 0; i < j; ++i) {
        const Number x = group.from(r[at.slot * S + i], at.lane);
        all[i] -= x * all[j];
        TESELA_FLAT
        for (int c = 0; c < owned; ++c) inverse[c * S + i] -= x * inverse[c * S + j];
      }
    }
    TESELA_FLAT
    for (int i = 0; i < S; ++i) {
      double sum = 0;
      TESELA_FLAT
      for (int c = 0; c < owned; ++c) sum += column(c) < n ? norm(inverse[c * S + i]) : 0;
      sum = group.sum(sum);
      const Owner at(i);
      if (group.j == at.lane) spread[at.slot] = sum, z[at.slot] = all[i];
    }
    TESELA_FLAT
    for (int c = 0; c < owned; ++c) {
      if (column(c) >= n) continue;
      double square = diagonal[c] * diagonal[c];
      TESELA_FLAT
      for (int i = 0; i < S; ++i) square += norm(r[c * S + i]);
      most = square * spread[c] > most ? square * spread[c] : most;
      reach += square * norm(z[c]);
    }
    most = group.largest(most), reach = group.sum(reach);
    return known;
  }

  /// Returns MmseEstimate' result for the lane's stream in this place.
  TESELA_INLINE bool lost(int c, double point) const {
    return hidden_by_rounding(spread[c], most, std::sqrt(residual), std::sqrt(reach), point);
  }

 private:
  /// The lane that owns a column.
  struct Owner {
    int slot, lane;
    TESELA_INLINE explicit Owner(int column) : slot(column / G), lane(column % G) {}
  };
};

/// Runs linear_signal() by G lanes; llr: of the group. All lanes of a warp must call it, including those beyond the
/// last signal.
template <int S, int G, class T, class Warp>
TESELA_INLINE void linear_signal_by_lanes(Warp& warp, const SoftBatch<T>& all, index_t first, const std::uint32_t* ones,
                                          T* llr) {
  const Group<G, Warp> group(warp);
  const index_t k = first + group.base / G;
  const bool there = k < all.signals;
  const ChannelView<T> view = all.channel(there ? k : 0);
  const Complex<T>* const y = all.y + (there ? k : 0) * all.ld_y;
  const BitLists& lists = all.lists;
  const int n = lists.n;
  const Exact<T> exact(view);
  const double n0 = scaled_noise<double>(all.n0, exact.exponent), inverse_n0 = 1 / n0;
  SubwarpRotations<S, G, Warp> estimate(warp, n, std::sqrt(n0));
  TESELA_ROLLED
  for (index_t i = 0; i < view.antennas; ++i) {
    Complex<double> row[S / G];
    TESELA_FLAT
    for (int c = 0; c < S / G; ++c) {
      const int j = estimate.column(c);
      row[c] = j < n ? exact(view.h[i + j * view.ld]) : Complex<double>{0, 0};
    }
    estimate.take(row, exact(y[i]));
  }
  bool known = estimate.solve();
  TESELA_FLAT
  for (int c = 0; c < S / G; ++c) {
    const int j = estimate.column(c);
    if (j >= n) continue;
    const int width = lists.width(j);
    T* own = llr;
    for (int before = 0; before < j; ++before) own += lists.width(before);
    const LinearEstimate one(estimate.z[c], 1 - n0 * estimate.spread[c], estimate.spread[c], n0, inverse_n0);
    known = known && !estimate.lost(c, one.bias * lists.columns[j].largest);
    const auto give = [&](int bit, double l) {
      own[width - 1 - bit] = cut_likelihood<T>(l, all.clip);
      known = known && l == l;
    };
    if (lists.square)
      one.square_bits(
          lists, j, width, [&](int bit) { return ones[j * most_bits + bit]; }, give);
    else
      one.bits(lists, j, width, give);
  }
  known = group.largest(known ? 0 : 1) == 0;  // if one stream fails, the signal fails
  if (!there) return;
  if (group.j == 0) all.nodes[k * all.ld_nodes] = known ? static_cast<double>(n) : SoftDetector<T>::no_answer;
  if (known) return;
  for (int b = group.j; b < all.bits(); b += G) llr[b] = 0;
}

}  // namespace tesela::kernels::mimo
