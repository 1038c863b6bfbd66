#pragma once

#include <tesela/codelets/mimo/gpu_soft_detector.hpp>
#include <tesela/codelets/mimo/internal/nway_tree_body.hpp>

// Signals of GpuSoftDetector. Internal to codelets/mimo.

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

}  // namespace tesela::kernels::mimo
