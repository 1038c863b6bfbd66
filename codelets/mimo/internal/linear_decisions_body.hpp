#pragma once

#include <tesela/codelets/mimo/detector.hpp>
#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/linear_estimate_body.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>

// The data of a call of GpuDetector, and mf, zf and mmse of one signal by one thread, in double. Internal to
// codelets/mimo.

struct CUstream_st;

namespace tesela::kernels::mimo {

/// Data that the signals of a call of GpuDetector share.
template <class T>
struct DetectionBatch {
  ChannelView<T> view;  ///< of the first channel
  const Complex<T>* y;
  index_t ld_y, signals, coherence;
  int* labels;
  index_t ld_labels;
  SearchReport* reports;
  index_t ld_reports;
  BitLists lists;
  MimoMethod kind;
  ColumnOrder order;
  bool up;
  int keep;
  double n0;

  TESELA_INLINE bool refused() const { return batch_not_finite(reports); }
  TESELA_INLINE ChannelView<T> channel(index_t k) const {
    ChannelView<T> one = view;
    one.h += k / coherence * view.streams * view.ld;
    return one;
  }
  TESELA_INLINE void fail(index_t k) const {
    for (int j = 0; j < lists.n; ++j) labels[k * ld_labels + j] = -1;
    SearchReport report;
    report.flags = SearchReport::failed;
    reports[k * ld_reports] = report;
  }
};

/// Launches kbest, which is compiled in parallel with GpuDetector's other kernels.
template <class T>
void launch_kbest(const DetectionBatch<T>& all, CUstream_st* stream);

/// Noise, relative to ||H||^2, beyond which mmse is replaced by the matched filter: the error is as small as the
/// rounding error of mmse's bias, 1 - N0 spread.
inline constexpr double noise_limit_of_mmse = 1e8;

/// Returns the label of the point p with the least |x - bias p|, which is its index in the list; the lowest in a tie.
/// It is the point next to x / bias unless another is about as near.
TESELA_BOTH inline int sliced(const BitLists& lists, int j, Complex<double> x, double bias) {
  const SearchColumn& own = lists.columns[j];
  if (lists.square && bias > 0) {
    const SearchColumn &re = lists.axis(j, false), &im = lists.axis(j, true);
    bool clear = true;
    const auto place = [&](double part, const SearchColumn& axis) {
      const double last = axis.count - 1, at = (part / bias - axis.low) / axis.step;
      const double inside = at > 0 ? (at < last ? at : last) : 0;
      const int nearest = nearest_place(inside);
      clear = clear && std::fabs(std::fabs(inside - nearest) - 0.5) > 1e-5;
      return axis.first + nearest;
    };
    const int of_re = place(x.re, re), of_im = place(x.im, im);
    if (clear) return lists.points[of_re].label | lists.points[of_im].label;
  }
  int best = 0;
  const auto point = [&](int k) {
    const SearchPoint& p = lists.points[own.first + k];
    return bias * Complex<double>{p.re, p.im};
  };
  for (int k = 1; k < own.count; ++k)
    if (nearer(x, point(best), point(k))) best = k;
  return best;
}

/// Decides signal k of a call with up to S streams.
template <int S, class T>
TESELA_INLINE void decide_linearly(const DetectionBatch<T>& all, index_t k) {
  const ChannelView<T> view = all.channel(k);
  const Complex<T>* const y = all.y + k * all.ld_y;
  const int n = all.lists.n;
  const Exact<T> exact(view);
  const bool mmse = all.kind == MimoMethod::mmse;
  const double n0 = mmse ? scaled_noise<double>(all.n0, exact.exponent) : 0;
  double size = 0;
  for (index_t j = 0; mmse && j < n; ++j)
    for (index_t i = 0; i < view.antennas; ++i) size += norm(exact(view.h[i + j * view.ld]));
  int at[S];
  if (all.kind == MimoMethod::mf || n0 > noise_limit_of_mmse * size) {
    TESELA_FLAT
    for (int j = 0; j < (S <= 8 ? S : n); ++j) {
      if (j >= n) continue;
      Complex<double> sum{};
      double square = 0;
      for (index_t i = 0; i < view.antennas; ++i) {
        const Complex<double> h = exact(view.h[i + j * view.ld]);
        sum = plus_dot(sum, h, exact(y[i])), square += norm(h);
      }
      at[j] = sliced(all.lists, j, sum, square);
    }
  } else {
    MmseEstimate<S> estimate(n, std::sqrt(n0));
    TESELA_ROLLED
    for (index_t i = 0; i < view.antennas; ++i) {
      Complex<double> row[S];
      TESELA_FLAT
      for (int j = 0; j < estimate.end(); ++j) row[j] = j < n ? exact(view.h[i + j * view.ld]) : Complex<double>{0, 0};
      estimate.take(row, exact(y[i]));
    }
    // Without noise, columns count as dependent if they are so up to the rounding of the data.
    if (!estimate.solve(n0 > 0 ? rounding_of<double> : rounding_of<T>)) return all.fail(k);
    bool lost = false;
    TESELA_FLAT
    for (int j = 0; j < estimate.end(); ++j) {
      if (j >= n) continue;
      const double bias = mmse ? 1 - n0 * estimate.spread[j] : 1;
      at[j] = sliced(all.lists, j, estimate.z[j], bias);
      lost = lost || estimate.lost(j, bias * all.lists.columns[j].largest);
    }
    if (lost) return all.fail(k);
  }
  Complex<double> s[S];
  TESELA_FLAT
  for (int j = 0; j < (S <= 8 ? S : n); ++j) {
    if (j >= n) continue;
    const SearchPoint& p = all.lists.points[all.lists.columns[j].first + at[j]];
    s[j] = {p.re, p.im}, all.labels[k * all.ld_labels + j] = p.label;
  }
  SearchReport report;
  report.distance = std::ldexp(distance_of(view, y, Scale<double>(exact.exponent), s), exact.exponent);
  report.nodes = n;
  all.reports[k * all.ld_reports] = report;
}

}  // namespace tesela::kernels::mimo
