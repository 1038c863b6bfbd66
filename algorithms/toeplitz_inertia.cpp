#include "algorithms/toeplitz_inertia.hpp"

#include "algorithms/on_core.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace tesela {

template <class T>
SineToeplitz<T>::SineToeplitz(Graph& g, std::span<const T> t)
    : n_(static_cast<index_t>(t.size())),
      blocks_(g.runtime(), std::max<index_t>(n_, 1), 3, {std::max<index_t>(n_, 1), 3}, "C"),
      tables_(g.runtime(), cauchy_tables(std::max<index_t>(n_, 1)).rows, 6,
              {cauchy_tables(std::max<index_t>(n_, 1)).rows, 6}, "tables") {
  if (n_ < 1) throw ArgumentError("SineToeplitz", "t", "a matrix of order 0 has no eigenvalues");
  double squares = 0;
  for (index_t k = 0; k < n_; ++k) {
    const auto v = static_cast<double>(t[static_cast<std::size_t>(k)]);
    if (!std::isfinite(v)) throw ArgumentError("SineToeplitz", "t", "number " + std::to_string(k) + " is not finite");
    norm_ += (k == 0 ? 1 : 2) * std::abs(v);
    squares += (k == 0 ? 1 : 2) * static_cast<double>(n_ - k) * v * v;
  }
  rms_ = std::sqrt(squares / static_cast<double>(n_));
  mean_ = static_cast<double>(t[0]);
  TileMatrix<T> column(g.runtime(), n_, 1, {n_, 1}, "t");
  {
    const auto home = column(0, 0).write();
    std::copy(t.begin(), t.end(), home.data);
  }
  insert_on_core<ToeplitzToCauchy<T>>(g, {}, {}, column(0, 0), blocks_(0, 0));
  insert_on_core<CauchyTables<T>>(g, {}, {n_}, tables_(0, 0));
}

template <class T>
double toeplitz_resolution(const SineToeplitz<T>& A) {
  // What an elimination's rounding does to a pivot is some roundings of the largest eigenvalue, about 3 rms or more.
  const double scale = std::min(A.norm(), 4 * A.rms() + std::abs(A.mean()));
  return scale * static_cast<double>(std::numeric_limits<T>::epsilon()) *
         std::max(8.0, std::sqrt(static_cast<double>(A.n())));
}

namespace {

/// One task for each `batch` shifts; the reports side by side.
template <class T>
std::vector<double> reports(Graph& g, const SineToeplitz<T>& A, const std::vector<double>& shifts, index_t batch) {
  const auto count = static_cast<index_t>(shifts.size());
  if (batch <= 0) {
    // A GPU runs hundreds of blocks side by side in the time of one; cores take few at a time.
    const index_t workers = g.runtime().gpus() > 0 ? g.runtime().gpus() : 2 * std::max(1, g.runtime().cpus());
    batch = std::max<index_t>(1, (count + workers - 1) / workers);
    if (g.runtime().gpus() > 0) batch = std::min(batch, cauchy_batch(A.n()));
  }
  TileMatrix<double> sigma(g.runtime(), count, 1, {batch, 1}, "sigma");
  TileMatrix<double> report(g.runtime(), CauchyReport::rows, 2 * count, {CauchyReport::rows, 2 * batch}, "report");
  sigma.copy_from(shifts.data(), count);
  for (index_t i = 0; i < sigma.mt(); ++i)
    g.insert<CauchyCount<T>>(on_gpu, {}, A.blocks(), sigma(i, 0), report(0, i), g.scratch<T>(cauchy_table(A.n()), 1));
  std::vector<double> all(static_cast<std::size_t>(CauchyReport::rows * 2 * count));
  report.copy_to(all.data(), CauchyReport::rows);
  return all;
}

}  // namespace

template <class T>
std::vector<Inertia> toeplitz_count(Graph& g, const SineToeplitz<T>& A, std::span<const double> shifts,
                                    const CountOptions& options) {
  std::vector<Inertia> result(shifts.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    result[i].shift = shifts[i];
    open.push_back(i);
  }
  const double doubt = toeplitz_resolution(A);
  double step = doubt;
  for (int attempt = 0; !open.empty(); ++attempt) {
    std::vector<double> at;
    for (const std::size_t i : open) at.push_back(result[i].shift);
    const std::vector<double> report = reports(g, A, at, options.batch);
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
      if (r.doubtful && options.nudge && attempt < 8) again.push_back(open[k]);
    }
    step *= 2;
    for (const std::size_t i : again) {
      result[i].shift = shifts[i] + (attempt % 2 == 0 ? step : -step);
      result[i].nudged = true;
    }
    open = again;
  }
  return result;
}

template <class T>
std::vector<SpectrumInterval> toeplitz_slice(Graph& g, const SineToeplitz<T>& A, index_t most, double low, double high,
                                             index_t* counts) {
  if (most < 1) throw ArgumentError("toeplitz_slice", "most", std::to_string(most) + " eigenvalues an interval");
  std::map<double, Inertia> points;
  const auto add = [&](const std::vector<double>& shifts) {
    for (const Inertia& i : toeplitz_count<T>(g, A, shifts)) points[i.shift] = i;
    if (counts != nullptr) *counts += static_cast<index_t>(shifts.size());
  };
  // The ends: where nothing is below, and nothing above.
  const double resolution = toeplitz_resolution(A), bound = A.norm() * (1 + 1e-6) + 4 * resolution;
  const bool bounded_low = std::isfinite(low), bounded_high = std::isfinite(high);
  for (double reach = std::min(bound, 3 * A.rms() + 4 * resolution);; reach = std::min(2 * reach, bound)) {
    std::vector<double> ends;
    if (!bounded_low) ends.push_back(A.mean() - reach);
    if (!bounded_high) ends.push_back(A.mean() + reach);
    if (points.empty()) {
      if (bounded_low) ends.push_back(low);
      if (bounded_high) ends.push_back(high);
      const auto pieces = std::max<index_t>(1, A.n() / most);
      const double from = bounded_low ? low : A.mean() - 2 * A.rms(), to = bounded_high ? high : A.mean() + 2 * A.rms();
      for (index_t i = 1; i < pieces && to > from; ++i)
        ends.push_back(from + (to - from) * static_cast<double>(i) / static_cast<double>(pieces));
    }
    add(ends);
    const bool all_above = bounded_low || points.begin()->second.total() == 0;
    const bool all_below = bounded_high || points.rbegin()->second.total() == A.n();
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
      const auto pieces = std::max<index_t>(2, (5 * i.total() + 4 * most - 1) / (4 * most));
      for (index_t k = 1; k < pieces; ++k) {
        const double at = i.low + (i.high - i.low) * static_cast<double>(k) / static_cast<double>(pieces);
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

#define TESELA_TOEPLITZ_INERTIA(T)                                                                               \
  template class SineToeplitz<T>;                                                                                \
  template double toeplitz_resolution(const SineToeplitz<T>&);                                                   \
  template std::vector<Inertia> toeplitz_count(Graph&, const SineToeplitz<T>&, std::span<const double>,          \
                                               const CountOptions&);                                             \
  template std::vector<SpectrumInterval> toeplitz_slice(Graph&, const SineToeplitz<T>&, index_t, double, double, \
                                                        index_t*);
TESELA_TOEPLITZ_INERTIA(float)
TESELA_TOEPLITZ_INERTIA(double)

}  // namespace tesela
