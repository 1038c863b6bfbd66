#include <tesela/algorithms/support/insert_or_run.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_points.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

constexpr std::array solvers{
    Named<ToeplitzSolver>{ToeplitzSolver::cauchy, "cauchy", "elimination in the sine basis, with pivoting"},
    Named<ToeplitzSolver>{ToeplitzSolver::levinson, "levinson",
                          "Levinson's recursion, without pivoting: Graciá Gil 2010"},
};

}  // namespace

std::span<const Named<ToeplitzSolver>> toeplitz_solvers() { return solvers; }

template <class T>
SineToeplitz<T>::SineToeplitz(Graph& g, std::span<const T> t)
    : n_(static_cast<index_t>(t.size())),
      column_(g.runtime(), std::max<index_t>(n_, 1), 1, {std::max<index_t>(n_, 1), 1}, "t"),
      blocks_(g.runtime(), std::max<index_t>(n_, 1), 3, {std::max<index_t>(n_, 1), 3}, "C"),
      tables_(g.runtime(), cauchy_tables(std::max<index_t>(n_, 1)).rows, 6,
              {cauchy_tables(std::max<index_t>(n_, 1)).rows, 6}, "tables") {
  require(n_ >= 1, "SineToeplitz", "t", "a matrix of order 0 has no eigenvalues");
  for (index_t k = 0; k < n_; ++k)
    require(std::isfinite(t[static_cast<std::size_t>(k)]), "SineToeplitz", "t", "number ", k, " is not finite");
  exponent_ = exponent_of_largest(t);
  double squares = 0;
  {
    const auto home = column().write();
    std::copy(t.begin(), t.end(), home.data);
    scale_by_power_of_two(std::span(home.data, t.size()), -exponent_);
    for (index_t k = 0; k < n_; ++k) {
      const auto v = static_cast<double>(home.data[k]);
      norm_ += (k == 0 ? 1 : 2) * std::abs(v);
      squares += (k == 0 ? 1 : 2) * static_cast<double>(n_ - k) * v * v;
    }
    mean_ = static_cast<double>(home.data[0]);
  }
  rms_ = std::sqrt(squares / static_cast<double>(n_));
  insert_or_run<ToeplitzToCauchy<T>>(g, {}, {}, column(), blocks());
  insert_or_run<CauchyTables<T>>(g, {}, {n_}, tables());
  if (g.runtime().ranks() > 1) static_cast<void>(tables().read());  // from here on all ranks have them, as blocks()
  const auto c = blocks().read();
  for (index_t a = 0; a < n_; ++a) largest_ = std::max(largest_, std::abs(static_cast<double>(c(a, 2))));
}

template <class T>
double toeplitz_resolution(const SineToeplitz<T>& A) {
  // Rounding errors change a pivot by some roundings of the largest eigenvalue: about 3 rms, but up to sqrt(n) rms if
  // one or a few eigenvalues are much larger than the others.
  const double scale = std::min(A.norm(), std::max(4 * A.rms() + std::abs(A.mean()), 2 * A.largest()));
  return scale * static_cast<double>(std::numeric_limits<T>::epsilon()) *
         std::max(8.0, std::sqrt(static_cast<double>(A.n())));
}

namespace {

/// Returns the reports of all shifts side by side; one task per `batch` shifts.
template <class T>
std::vector<double> reports(Graph& g, const SineToeplitz<T>& A, const std::vector<double>& shifts,
                            const CountOptions& options) {
  index_t batch = options.batch;
  const auto count = static_cast<index_t>(shifts.size());
  if (batch <= 0) {
    // A GPU runs hundreds of blocks in the time of one; cores run few at a time.
    const index_t workers =
        g.runtime().ranks() * (g.runtime().gpus() > 0 ? g.runtime().gpus() : 2 * std::max(1, g.runtime().cpus()));
    batch = std::max<index_t>(1, (count + workers - 1) / workers);
    if (g.runtime().gpus() > 0) batch = std::min(batch, cauchy_batch(A.n()));
  }
  // Few shifts: two cores share each.
  const bool parts = options.solver == ToeplitzSolver::cauchy && g.runtime().gpus() == 0 && g.runtime().ranks() == 1 &&
                     batch == 1 && count < 2 * g.runtime().cpus() && A.n() > 1;
  TileMatrix<double> sigma(g.runtime(), count, 1, {batch, 1}, "sigma");
  TileMatrix<double> report(g.runtime(), CauchyReport::rows, 2 * count, {CauchyReport::rows, parts ? 1 : 2 * batch},
                            "report");
  sigma.copy_from(shifts.data(), count);
  for (index_t i = 0; i < sigma.mt(); ++i) {
    const Priority where = g.runtime().ranks() > 1 ? on_gpu_number(static_cast<std::size_t>(i)) : on_gpu;
    if (parts)
      for (int part = 0; part < 2; ++part)
        g.insert<CauchyCountPart<T>>({part}, A.blocks(), sigma(i, 0), report(0, 2 * i + part));
    else if (options.solver == ToeplitzSolver::levinson)
      g.insert<LevinsonCount<T>>(where, {}, A.column(), sigma(i, 0), report(0, i),
                                 g.scratch<T>(levinson_count_rows(A.n()), batch));
    else
      g.insert<CauchyCount<T>>(where, {}, A.blocks(), sigma(i, 0), report(0, i), g.scratch<T>(cauchy_table(A.n()), 1));
  }
  std::vector<double> all(static_cast<std::size_t>(CauchyReport::rows * 2 * count));
  report.copy_to(all.data(), CauchyReport::rows);
  return all;
}

/// Converts a shift from the units of T to the units of the scaled matrix; clamps it beyond the spectrum.
template <class T>
double scaled(const SineToeplitz<T>& A, double shift) {
  const double beyond = 2 * A.norm() + 1;
  return std::clamp(std::ldexp(shift, -A.exponent()), -beyond, beyond);
}

template <class T>
double edge(const SineToeplitz<T>& A, double shift) {
  return scaled(A, shift) - 4 * toeplitz_resolution(A);
}

}  // namespace

namespace detail {

template <class T>
std::vector<Inertia> count_at(Graph& g, const SineToeplitz<T>& A, std::span<const double> points, Nudge nudge,
                              const CountOptions& options) {
  std::vector<Inertia> result(points.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < points.size(); ++i) {
    result[i].shift = points[i];
    open.push_back(i);
  }
  if (A.norm() == 0) {  // the only pivot is the shift
    for (Inertia& r : result)
      if (r.shift > 0) r.below = {cauchy_rows(A.n(), 0), cauchy_rows(A.n(), 1)};
    return result;
  }
  const double doubt = toeplitz_resolution(A);
  double step = nudge == Nudge::either_side ? doubt : 2 * doubt;
  for (int attempt = 0; !open.empty(); ++attempt) {
    std::vector<double> at;
    for (const std::size_t i : open) at.push_back(result[i].shift);
    const std::vector<double> report = reports(g, A, at, options);
    std::vector<std::size_t> again;
    for (std::size_t k = 0; k < open.size(); ++k) {
      Inertia& r = result[open[k]];
      r.doubtful = false;
      for (int part = 0; part < 2; ++part) {
        const double* const column = &report[(2 * k + static_cast<std::size_t>(part)) * CauchyReport::rows];
        r.below[static_cast<std::size_t>(part)] = static_cast<index_t>(column[CauchyReport::negative]);
        if (cauchy_rows(A.n(), part) > 0 &&
            (column[CauchyReport::breakdown] != 0 || column[CauchyReport::smallest_pivot] < doubt))
          r.doubtful = true;
      }
      if (r.doubtful && nudge != Nudge::none && attempt < 8) again.push_back(open[k]);
    }
    step *= 2;
    for (const std::size_t i : again) {
      const bool up = nudge == Nudge::up || (nudge == Nudge::either_side && attempt % 2 == 0);
      result[i].shift = points[i] + (up ? step : -step);
      result[i].nudged = true;
    }
    open = again;
  }
  return result;
}

template <class T>
CountedRange count_ends(Graph& g, const SineToeplitz<T>& A, double low, double high, index_t* counts,
                        const CountOptions& options) {
  CountedRange range;
  const double bound = A.norm() * (1 + 1e-6), from = scaled(A, low), to = scaled(A, high);
  if (from > bound || to < -bound) return {{}, {}, true};
  std::vector<double> points;
  if (from > -bound) points.push_back(edge(A, low));
  if (to < bound) points.push_back(edge(A, high));
  const std::vector<Inertia> counted = count_at<T>(g, A, points, Nudge::down, options);
  if (counts != nullptr) *counts += static_cast<index_t>(points.size());
  if (from > -bound) range.low = counted.front();
  if (to < bound) range.high = counted.back();
  range.empty = range.low && range.high && !(range.low->shift < range.high->shift);
  const double width = std::min(to, bound) - std::max(from, -bound), least = 4 * toeplitz_resolution(A);
  if (points.empty() || !(width > 0)) return range;
  range.least_moved = least / width;
  for (std::size_t i = 0; i < points.size(); ++i)
    range.moved = std::max(range.moved, (least + (points[i] - counted[i].shift)) / width);
  return range;
}

template <class T>
index_t count_near_ends(Graph& g, const SineToeplitz<T>& A, double low, double high, const CountedRange& range,
                        index_t* counts, const CountOptions& options) {
  const double margin = 4 * toeplitz_resolution(A);
  std::vector<double> above;
  std::vector<Inertia> below;
  for (const auto& [end, inertia] : {std::pair{low, range.low}, std::pair{high, range.high}})
    if (inertia) {
      above.push_back(scaled(A, end) + margin);
      below.push_back(*inertia);
    }
  if (above.empty()) return 0;
  const std::vector<Inertia> counted = count_at<T>(g, A, above, Nudge::up, options);
  if (counts != nullptr) *counts += static_cast<index_t>(above.size());
  index_t near = 0;
  for (std::size_t i = 0; i < above.size(); ++i) {
    if (counted[i].doubtful || below[i].doubtful) return A.n();
    near += std::max<index_t>(0, counted[i].total() - below[i].total());
  }
  return std::min(near, A.n());  // near both ends
}

/// Returns the radius of Gershgorin's largest disc, whose centre is t_0.
template <class T>
double gershgorin_radius(const SineToeplitz<T>& A) {
  const index_t n = A.n();
  const auto t = A.column().read();
  std::vector<double> sums{0};  // of |t_1| ... |t_k|
  for (index_t k = 1; k < n; ++k) sums.push_back(sums.back() + std::abs(static_cast<double>(t(k, 0))));
  double radius = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) radius = std::max(radius, sums[i] + sums[sums.size() - 1 - i]);
  return radius;
}

template <class T>
std::vector<SpectrumInterval> slice_between(Graph& g, const SineToeplitz<T>& A, index_t most, const CountedRange& range,
                                            index_t* counts, const CountOptions& options) {
  std::map<double, Inertia> points;
  const auto add = [&](const std::vector<double>& shifts) {
    for (const Inertia& i : count_at<T>(g, A, shifts, Nudge::either_side, options)) {
      // A nudge must not leave the range.
      if ((range.low && !(i.shift > range.low->shift)) || (range.high && !(i.shift < range.high->shift))) continue;
      points[i.shift] = i;
    }
    if (counts != nullptr) *counts += static_cast<index_t>(shifts.size());
  };
  // Ends with no eigenvalue below, and none above.
  const double resolution = toeplitz_resolution(A), bound = A.norm() * (1 + 1e-6) + 4 * resolution;
  const index_t inside = (range.high ? range.high->total() : A.n()) - (range.low ? range.low->total() : 0),
                pieces = std::max<index_t>(1, inside / most);
  const double disc = options.gershgorin ? gershgorin_radius(A) * (1 + 1e-6) : 0,
               near = options.gershgorin ? disc : 2 * A.rms(),
               first_reach = (options.gershgorin ? disc : 3 * A.rms()) + 4 * resolution;
  const double from = std::max(range.low ? range.low->shift : -bound, A.mean() - near),
               to = std::min(range.high ? range.high->shift : bound, A.mean() + near);
  std::vector<double> first;
  for (index_t i = 1; i < pieces && to > from; ++i)
    first.push_back(from + (to - from) * static_cast<double>(i) / static_cast<double>(pieces));
  for (double reach = std::min(bound, first_reach);; reach = std::min(2 * reach, bound)) {
    if (!range.low) first.push_back(A.mean() - reach);
    if (!range.high) first.push_back(A.mean() + reach);
    add(first);
    first.clear();
    if (range.low) points[range.low->shift] = *range.low;
    if (range.high) points[range.high->shift] = *range.high;
    const bool all_above = range.low || points.begin()->second.total() == 0;
    const bool all_below = range.high || points.rbegin()->second.total() == A.n();
    if ((all_above && all_below) || reach >= bound) break;
  }
  const auto interval = [](const Inertia& a, const Inertia& b) {
    SpectrumInterval i{a.shift, b.shift, a.below, {}, false};
    for (std::size_t p = 0; p < 2; ++p) i.count[p] = std::max<index_t>(0, b.below[p] - a.below[p]);
    return i;
  };
  for (;;) {
    std::vector<double> more;
    for (auto a = points.begin(), b = std::next(a); b != points.end(); ++a, ++b) {
      const SpectrumInterval i = interval(a->second, b->second);
      if (i.total() <= most || i.high - i.low <= 4 * resolution) continue;
      const auto parts = std::max<index_t>(2, (5 * i.total() + 4 * most - 1) / (4 * most));
      for (index_t k = 1; k < parts; ++k) {
        const double at = i.low + (i.high - i.low) * static_cast<double>(k) / static_cast<double>(parts);
        if (at - i.low > resolution && i.high - at > resolution) more.push_back(at);
      }
    }
    const std::size_t before = points.size();
    if (!more.empty()) add(more);
    if (points.size() == before) break;
  }
  std::vector<SpectrumInterval> intervals;
  for (auto a = points.begin(), b = std::next(a); b != points.end(); ++a, ++b) {
    SpectrumInterval i = interval(a->second, b->second);
    if (i.total() == 0) continue;
    i.cluster = i.total() > most;
    SpectrumInterval* last = intervals.empty() ? nullptr : &intervals.back();
    if (last != nullptr && !last->cluster && !i.cluster && last->total() + i.total() <= most) {
      last->high = i.high;
      for (std::size_t p = 0; p < 2; ++p) last->count[p] += i.count[p];
    } else {
      intervals.push_back(i);
    }
  }
  return intervals;
}

}  // namespace detail

template <class T>
std::vector<Inertia> toeplitz_count(Graph& g, const SineToeplitz<T>& A, std::span<const double> shifts,
                                    const CountOptions& options) {
  std::vector<double> points;
  for (const double shift : shifts) {
    require(!std::isnan(shift), "toeplitz_count", "shifts", "a shift is NaN");
    points.push_back(edge(A, shift));
  }
  std::vector<Inertia> counted =
      detail::count_at<T>(g, A, points, options.nudge ? detail::Nudge::down : detail::Nudge::none, options);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    Inertia& c = counted[i];
    c.shift = c.nudged ? std::ldexp(c.shift, A.exponent()) : shifts[i];
  }
  return counted;
}

namespace {

/// Multiplies intervals by 2^exponent. An end that overflows becomes the largest number if no eigenvalue is beyond it.
/// Intervals that become empty in subnormal numbers join the next one.
template <class T>
std::vector<SpectrumInterval> in_units_of_t(Graph& g, const SineToeplitz<T>& A, index_t most,
                                            std::vector<SpectrumInterval> scaled, const CountOptions& options) {
  constexpr double largest = std::numeric_limits<double>::max();
  std::vector<SpectrumInterval> intervals;
  for (SpectrumInterval& i : scaled) {
    const index_t above = i.below[0] + i.below[1] + i.total();
    i.low = scaled_up<double>(i.low, A.exponent());
    i.high = scaled_up<double>(i.high, A.exponent());
    const auto below = [&](double shift) { return toeplitz_count<T>(g, A, {&shift, 1}, options).front().total(); };
    if (i.low < -largest && below(-largest) == above - i.total()) i.low = -largest;
    if (i.high > largest && below(largest) == above) i.high = largest;
    if (!intervals.empty() && (!(intervals.back().low < intervals.back().high) || !(i.low < i.high))) {
      SpectrumInterval& last = intervals.back();
      last.high = std::max(last.high, i.high);
      for (std::size_t p = 0; p < 2; ++p) last.count[p] += i.count[p];
      last.cluster = last.total() > most;
    } else {
      intervals.push_back(i);
    }
  }
  return intervals;
}

}  // namespace

template <class T>
std::vector<SpectrumInterval> toeplitz_slice(Graph& g, const SineToeplitz<T>& A, index_t most, double low, double high,
                                             index_t* counts, const CountOptions& options) {
  require(most >= 1, "toeplitz_slice", "most", most, " eigenvalues per interval; it must be at least 1");
  require(!std::isnan(low) && !std::isnan(high), "toeplitz_slice", "low, high", "an end is NaN");
  if (A.norm() == 0) {
    SpectrumInterval all = detail::all_zero(A);
    all.cluster = A.n() > most;
    return low <= 0 && high > 0 ? std::vector{all} : std::vector<SpectrumInterval>();
  }
  const detail::CountedRange range = detail::count_ends(g, A, low, high, counts, options);
  std::vector<SpectrumInterval> intervals;
  if (!range.empty) intervals = detail::slice_between(g, A, most, range, counts, options);
  return in_units_of_t(g, A, most, std::move(intervals), options);
}

TESELA_FUNCTIONS_FOR_REALS(toeplitz_resolution, toeplitz_count, toeplitz_slice)
#define TESELA_TOEPLITZ_INERTIA(T)                                                                               \
  template class SineToeplitz<T>;                                                                                \
  template std::vector<Inertia> detail::count_at(Graph&, const SineToeplitz<T>&, std::span<const double>, Nudge, \
                                                 const CountOptions&);                                           \
  template detail::CountedRange detail::count_ends(Graph&, const SineToeplitz<T>&, double, double, index_t*,     \
                                                   const CountOptions&);                                         \
  template index_t detail::count_near_ends(Graph&, const SineToeplitz<T>&, double, double,                       \
                                           const detail::CountedRange&, index_t*, const CountOptions&);          \
  template std::vector<SpectrumInterval> detail::slice_between(                                                  \
      Graph&, const SineToeplitz<T>&, index_t, const detail::CountedRange&, index_t*, const CountOptions&);
TESELA_FOR_REALS(TESELA_TOEPLITZ_INERTIA)

}  // namespace tesela
