#include <tesela/algorithms/toeplitz/internal/dense_halves.hpp>
#include <tesela/algorithms/toeplitz/internal/spectrum_options.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_accuracy.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_search.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tesela {
namespace {

constexpr std::array methods{
    Named<SpectrumMethod>{SpectrumMethod::automatic, "auto",
                          "dense for whole spectra if it is faster: at most two cores and no GPU"},
    Named<SpectrumMethod>{SpectrumMethod::lanczos, "lanczos", "intervals by counting, Lanczos in each"},
    Named<SpectrumMethod>{SpectrumMethod::dense, "dense", "LAPACK on the symmetric and the skew half"},
};

constexpr std::array kinds_of_tasks{
    Named<LanczosTasks>{LanczosTasks::automatic, "auto",
                        "tiles on cores for long vectors in few intervals, otherwise fused"},
    Named<LanczosTasks>{LanczosTasks::fused, "fused", "several steps a task, workers share the intervals"},
    Named<LanczosTasks>{LanczosTasks::tiles, "tiles", "tasks on tiles of the basis, workers share each interval"},
};

}  // namespace

std::span<const Named<SpectrumMethod>> spectrum_methods() { return methods; }
std::span<const Named<LanczosTasks>> lanczos_tasks() { return kinds_of_tasks; }

SpectrumOptions SpectrumOptions::published() {
  SpectrumOptions o;
  o.method = SpectrumMethod::lanczos;
  o.per_interval = 2;
  o.dk = 2;
  o.max_attempts = 5;
  o.krylov_factor = 5;
  o.krylov_more = 0;
  o.tolerance = 0.1;
  o.solver = o.counter = ToeplitzSolver::levinson;
  o.fixed_start = true;
  o.gershgorin = true;
  o.divide = false;
  return o;
}

namespace {

using detail::CertifiedValues;
using detail::ComputedEigenvalue;
using detail::DensePairs;
using detail::SearchResult;
using detail::SpectrumSlices;

/// Returns how many of the values, ascending, are certainly among the `wanted` from one end. An interval with a
/// shortage may miss any of its eigenvalues; a value counts if it is among the wanted ones in every case.
index_t count_certainly_wanted(const std::vector<ComputedEigenvalue>& values,
                               const std::vector<SpectrumShortage>& shortages, index_t wanted, bool from_below) {
  const auto found = static_cast<index_t>(values.size());
  const auto beyond = [&](const SpectrumShortage& s, index_t count) {
    const double last = values[static_cast<std::size_t>(from_below ? count - 1 : found - count)].value;
    return from_below ? s.low > last : s.high < last;
  };
  const auto all_wanted = [&](index_t count) {
    index_t rank = count;  // largest possible rank of the last one
    for (const SpectrumShortage& s : shortages) rank += beyond(s, count) ? 0 : s.expected - s.found;
    return rank <= wanted;
  };
  index_t kept = 0;
  for (index_t too_many = std::min(wanted, found) + 1; kept + 1 < too_many;) {
    const index_t middle = (kept + too_many) / 2;
    (all_wanted(middle) ? kept : too_many) = middle;
  }
  return kept;
}

/// The known part of a spectrum, in the units of the scaled matrix.
struct KnownValues {
  std::vector<ComputedEigenvalue> values;
  std::vector<SpectrumShortage> shortages;
  index_t first = 0, expected = 0;
};

/// Removes values beyond the `smallest` or `largest` wanted ones.
KnownValues trimmed(KnownValues known, const SpectrumOptions& options) {
  const index_t wanted = std::max(options.smallest, options.largest);
  if (wanted == 0 || wanted >= known.expected) return known;
  const bool from_below = options.smallest > 0;
  const index_t kept = count_certainly_wanted(known.values, known.shortages, wanted, from_below),
                dropped = static_cast<index_t>(known.values.size()) - kept;
  if (kept == wanted) known.shortages.clear();  // all shortages are beyond the wanted values
  const auto from = from_below ? known.values.begin() + kept : known.values.begin();
  known.values.erase(from, from + dropped);
  if (!from_below) known.first += known.expected - wanted;
  known.expected = wanted;
  return known;
}

/// Adds a shortage for all values if LAPACK did not converge.
KnownValues with_dense_shortage(KnownValues known, const SpectrumOptions& options, int exponent) {
  if (known.values.empty() && known.expected > 0)
    known.shortages.push_back(
        {std::ldexp(options.low, -exponent), std::ldexp(options.high, -exponent), 0, known.expected});
  return known;
}

/// Multiplies values, shortages and clusters by 2^exponent.
template <class T>
void put_in_units_of_t(Spectrum<T>& s, KnownValues known, std::vector<SpectrumInterval> clusters, int exponent) {
  for (const ComputedEigenvalue& v : known.values) {
    s.values.push_back(std::ldexp(v.value, exponent));
    s.residuals.push_back(std::ldexp(v.residual, exponent));
    s.symmetry.push_back(v.part == 0 ? 1 : -1);
    if (!std::isfinite(s.values.back())) s.error.error = std::numeric_limits<double>::infinity();  // overflow
  }
  for (SpectrumShortage& shortage : known.shortages) {
    shortage.low = std::ldexp(shortage.low, exponent);
    shortage.high = std::ldexp(shortage.high, exponent);
  }
  for (SpectrumInterval& cluster : clusters) {
    cluster.low = std::ldexp(cluster.low, exponent);
    cluster.high = std::ldexp(cluster.high, exponent);
  }
  s.shortages = std::move(known.shortages);
  s.clusters = std::move(clusters);
  s.first = known.first;
  s.expected = known.expected;
}

/// Results of a method.
template <class T>
struct SpectrumResult {
  SpectrumSlices slices;
  SearchResult<T> search;  ///< its values are in `judged`
  CertifiedValues judged;
  std::vector<SpectrumInterval> clusters;
  std::optional<DensePairs<T>> dense;
  bool good() const { return judged.verdict.good() && static_cast<index_t>(judged.values.size()) == slices.expected; }
};

template <class T>
SpectrumResult<T> by_lanczos(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options) {
  SpectrumResult<T> f;
  f.slices = detail::slice_wanted(g, A, options);
  f.clusters = f.slices.clusters;
  // no shift separates the vectors of a cluster
  const auto hopeless = [&] { return options.vectors && !f.clusters.empty(); };
  if (!hopeless()) f.search = detail::search_intervals(g, A, options, f.slices.intervals);
  f.clusters.insert(f.clusters.end(), f.search.clusters.begin(), f.search.clusters.end());
  if (!hopeless())
    f.judged = detail::certify_search(g, A, options, f.slices.range, std::move(f.search.values), f.clusters);
  return f;
}

template <class T>
SpectrumResult<T> by_halves(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options) {
  SpectrumResult<T> f;
  f.slices = detail::count_wanted(g, A, options);
  const index_t first = f.slices.first, count = f.slices.expected;
  if (options.vectors) f.dense = detail::dense_pairs(g, A, first, count);
  f.judged = detail::certify_dense(g, A, options, f.slices.range,
                                   f.dense ? f.dense->values : detail::dense_values(g, A, first, count));
  return f;
}

template <class T>
void put_counters(Spectrum<T>& s, const SpectrumResult<T>& f) {
  s.intervals = static_cast<index_t>(f.slices.intervals.size() + f.slices.clusters.size());
  s.counts = f.slices.counts + f.search.counts + f.judged.counts;
  s.tasks = f.search.tasks;
  s.relaunches = f.search.relaunches;
  s.relaunched = f.search.relaunched;
  s.divisions = f.search.divisions;
  s.steps = f.search.steps;
  s.inversions = f.search.inversions;
}

}  // namespace

template <class T>
Spectrum<T> toeplitz_spectrum(Graph& g, std::span<const T> t, const SpectrumOptions& asked) {
  const SpectrumOptions options = detail::resolved_options<T>(g.runtime(), static_cast<index_t>(t.size()), asked);
  const SineToeplitz<T> A(g, t);
  const bool halves = options.method == SpectrumMethod::dense && A.norm() > 0;
  SpectrumResult<T> f = halves ? by_halves(g, A, options) : by_lanczos(g, A, options);

  // For vectors of a cluster, and after an insufficient search.
  if ((options.vectors && !f.clusters.empty()) || (!f.good() && options.divide && A.n() <= detail::largest_dense)) {
    if (!f.dense) f.dense = detail::dense_pairs(g, A, f.slices.first, f.slices.expected);
    f.judged.values = f.dense->values;
    f.judged.verdict = detail::accuracy_of_orthogonal(A, options, f.judged.values);
    f.search.shortages.clear();
  }
  KnownValues known{std::move(f.judged.values), std::move(f.search.shortages), f.slices.first, f.slices.expected};
  if (halves || f.dense) known = with_dense_shortage(std::move(known), options, A.exponent());
  std::sort(known.values.begin(), known.values.end(),
            [](const ComputedEigenvalue& a, const ComputedEigenvalue& b) { return a.value < b.value; });
  known = trimmed(std::move(known), options);

  Spectrum<T> s;
  if (options.vectors)
    s.vectors = f.dense ? detail::place_vectors(g, A, known.values, f.dense->vectors)
                        : detail::place_vectors(g, A, known.values, f.search.pieces);
  s.residual = f.judged.verdict.residual;
  s.error = f.judged.verdict.error;
  s.uncertain = f.judged.verdict.uncertain;
  s.doubtful = f.slices.doubtful;
  s.moved = {f.slices.range.moved, 1e-3, f.slices.range.least_moved};
  s.dense = halves || f.dense.has_value();
  s.tolerance = options.tolerance;
  s.resolution = std::ldexp(toeplitz_resolution(A), A.exponent());
  put_in_units_of_t(s, std::move(known), std::move(f.clusters), A.exponent());
  put_counters(s, f);
  g.wait();
  return s;
}

template Spectrum<float> toeplitz_spectrum(Graph&, std::span<const float>, const SpectrumOptions&);
template Spectrum<double> toeplitz_spectrum(Graph&, std::span<const double>, const SpectrumOptions&);

}  // namespace tesela
