#include <tesela/algorithms/toeplitz/internal/spectrum_options.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::detail {
namespace {

/// Returns a range that contains the wanted number of eigenvalues from one end, and a few more.
template <class T>
CountedRange range_of_some(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, index_t* counts) {
  const index_t wanted = std::max(options.smallest, options.largest);
  if (wanted >= A.n()) return {};
  const bool from_below = options.smallest > 0;
  const double resolution = toeplitz_resolution(A), reach = A.norm() * (1 + 1e-6) + 4 * resolution;
  double out = A.mean() + (from_below ? -reach : reach), in = A.mean() + (from_below ? reach : -reach);
  std::optional<Inertia> end;  // inertia at `in`
  const auto inside = [&](const Inertia& i) { return from_below ? i.total() : A.n() - i.total(); };
  // Few points a round need the fewest counts. On cores they are as many as the workers count at once, two tasks a
  // count in the sine basis; a GPU counts at many points in the time of one.
  const Runtime& runtime = g.runtime();
  const int at_once = options.counter == ToeplitzSolver::cauchy ? runtime.cpus() / 2 : runtime.cpus(),
            points = runtime.gpus() > 0 || runtime.ranks() > 1 ? 15 : std::clamp(at_once, 1, 15);
  std::vector<double> shifts(static_cast<std::size_t>(points));
  for (int rounds = 0; rounds < 200; ++rounds) {  // too few eigenvalues up to `out`, enough up to `in`
    for (int k = 0; k < points; ++k) shifts[static_cast<std::size_t>(k)] = out + (in - out) * (k + 1) / (points + 1);
    double next_out = out;
    for (const Inertia& i : count_at<T>(g, A, shifts, Nudge::either_side, {.solver = options.counter})) {
      if (inside(i) < wanted) {
        next_out = i.shift;
      } else {
        end = i;
        in = i.shift;
        break;
      }
    }
    *counts += points;
    out = next_out;
    if ((end && inside(*end) <= wanted + options.per_interval / 4) || std::abs(in - out) < 8 * resolution) break;
  }
  return from_below ? CountedRange{{}, end, false} : CountedRange{end, {}, false};
}

/// Sets the numbers of eigenvalues below the range, in it, and near the ends that the options give.
template <class T>
void count_inside(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, SpectrumSlices& s) {
  if (options.smallest == 0 && options.largest == 0)
    s.doubtful = count_near_ends(g, A, options.low, options.high, s.range, &s.counts);
  if (s.range.empty) return;
  s.first = s.range.low ? s.range.low->total() : 0;
  s.expected = (s.range.high ? s.range.high->total() : A.n()) - s.first;
}

}  // namespace

template <class T>
SpectrumSlices count_wanted(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options) {
  SpectrumSlices s;
  s.range = count_ends(g, A, options.low, options.high, &s.counts);
  count_inside(g, A, options, s);
  return s;
}

template <class T>
SpectrumSlices slice_wanted(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options) {
  SpectrumSlices s;
  if (A.norm() == 0) {
    if (options.low <= 0 && options.high > 0) s.clusters.push_back(all_zero(A));
    s.expected = s.clusters.empty() ? 0 : A.n();
    return s;
  }
  s.range = options.smallest > 0 || options.largest > 0 ? range_of_some(g, A, options, &s.counts)
                                                        : count_ends(g, A, options.low, options.high, &s.counts);
  count_inside(g, A, options, s);
  if (s.range.empty) return s;
  for (const SpectrumInterval& i : slice_between(g, A, options.per_interval, s.range, &s.counts,
                                                 {.solver = options.counter, .gershgorin = options.gershgorin}))
    (i.cluster ? s.clusters : s.intervals).push_back(i);
  return s;
}

TESELA_FUNCTIONS_FOR_REALS(count_wanted, slice_wanted)

}  // namespace tesela::detail
