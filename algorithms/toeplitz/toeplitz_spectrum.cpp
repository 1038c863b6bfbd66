#include <tesela/algorithms/toeplitz/internal/dense_halves.hpp>
#include <tesela/algorithms/toeplitz/internal/spectrum_options.hpp>
#include <tesela/algorithms/toeplitz/internal/spectrum_slices.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_search.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_vectors.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_verdict.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tesela {

SpectrumOptions SpectrumOptions::published() {
  SpectrumOptions o;
  o.per_interval = 2;
  o.dk = 2;
  o.max_attempts = 5;
  o.krylov_factor = 5;
  o.krylov_more = 0;
  o.tolerance = 0.1;
  o.solver = o.counter = ToeplitzSolver::levinson;
  o.fixed_start = true;
  o.divide = false;
  return o;
}

namespace {

using detail::DensePairs;
using detail::FoundValue;
using detail::JudgedValues;
using detail::SearchResult;
using detail::SpectrumSlices;

/// How many of the values, ascending, are surely among the `wanted` from one end. An interval with a shortage may miss
/// any of its eigenvalues: counted is what is among the wanted ones wherever these are.
index_t surely_wanted(const std::vector<FoundValue>& values, const std::vector<SpectrumShortage>& shortages,
                      index_t wanted, bool from_below) {
  const auto found = static_cast<index_t>(values.size());
  const auto beyond = [&](const SpectrumShortage& s, index_t count) {
    const double last = values[static_cast<std::size_t>(from_below ? count - 1 : found - count)].value;
    return from_below ? s.low > last : s.high < last;
  };
  const auto all_wanted = [&](index_t count) {
    index_t rank = count;  // of the last of so many, at most
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

/// What is known of a spectrum, in the units of the scaled matrix.
struct Known {
  std::vector<FoundValue> values;
  std::vector<SpectrumShortage> shortages;
  index_t first = 0, expected = 0;
};

/// Without what was found beyond the `smallest` or `largest` wanted.
Known trimmed(Known known, const SpectrumOptions& options) {
  const index_t wanted = std::max(options.smallest, options.largest);
  if (wanted == 0 || wanted >= known.expected) return known;
  const bool from_below = options.smallest > 0;
  const index_t kept = surely_wanted(known.values, known.shortages, wanted, from_below),
                dropped = static_cast<index_t>(known.values.size()) - kept;
  if (kept == wanted) known.shortages.clear();  // all are beyond
  const auto from = from_below ? known.values.begin() + kept : known.values.begin();
  known.values.erase(from, from + dropped);
  if (!from_below) known.first += known.expected - wanted;
  known.expected = wanted;
  return known;
}

/// What LAPACK found of the range in which `expected` were counted: all of it or nothing.
Known known_of(const std::vector<FoundValue>& dense, const SpectrumSlices& slices, const SpectrumOptions& options,
               int exponent) {
  Known known{dense, {}, slices.first, slices.expected};
  if (dense.empty() && slices.expected > 0)
    known.shortages.push_back(
        {std::ldexp(options.low, -exponent), std::ldexp(options.high, -exponent), 0, slices.expected});
  return known;
}

/// The values, shortages and clusters times 2^exponent.
template <class T>
void put_in_units_of_t(Spectrum<T>& s, Known known, std::vector<SpectrumInterval> clusters, int exponent) {
  for (const FoundValue& v : known.values) {
    s.values.push_back(std::ldexp(v.value, exponent));
    s.residuals.push_back(std::ldexp(v.residual, exponent));
    s.symmetry.push_back(v.part == 0 ? 1 : -1);
    if (!std::isfinite(s.values.back())) s.error.error = std::numeric_limits<double>::infinity();  // it overflowed
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

template <class T>
void put_counters(Spectrum<T>& s, const SpectrumSlices& slices, const SearchResult<T>& search, index_t judge_counts) {
  s.intervals = static_cast<index_t>(slices.intervals.size() + slices.clusters.size());
  s.counts = slices.counts + search.counts + judge_counts;
  s.relaunches = search.relaunches;
  s.relaunched = search.relaunched;
  s.divisions = search.divisions;
  s.steps = search.steps;
  s.inversions = search.inversions;
}

}  // namespace

template <class T>
Spectrum<T> toeplitz_spectrum(Graph& g, std::span<const T> t, const SpectrumOptions& asked) {
  const SpectrumOptions options = detail::settled_options<T>(g.runtime(), static_cast<index_t>(t.size()), asked);
  const SineToeplitz<T> A(g, t);
  const SpectrumSlices slices = detail::slice_wanted(g, A, options);

  // No shift tells the vectors of a cluster apart.
  std::vector<SpectrumInterval> clusters = slices.clusters;
  const auto hopeless = [&] { return options.vectors && !clusters.empty(); };
  SearchResult<T> search;
  if (!hopeless()) search = detail::search_intervals(g, A, options, slices.intervals);
  clusters.insert(clusters.end(), search.clusters.begin(), search.clusters.end());
  JudgedValues judged;
  if (!hopeless()) judged = detail::judge_search(g, A, options, slices.range, std::move(search.values), clusters);

  Known known{std::move(judged.values), std::move(search.shortages), slices.first, slices.expected};
  const bool good = judged.verdict.good() && static_cast<index_t>(known.values.size()) == slices.expected;
  std::optional<DensePairs<T>> dense;
  if (hopeless() || (!good && options.divide && A.n() <= detail::largest_dense)) {
    dense = detail::dense_pairs(g, A, slices.first, slices.expected);
    known = known_of(dense->values, slices, options, A.exponent());
    judged.verdict = detail::judge_orthogonal(A, options, known.values);
  }
  std::sort(known.values.begin(), known.values.end(),
            [](const FoundValue& a, const FoundValue& b) { return a.value < b.value; });
  known = trimmed(std::move(known), options);

  Spectrum<T> s;
  if (options.vectors)
    s.vectors = dense ? detail::place_vectors(g, A, known.values, dense->vectors)
                      : detail::place_vectors(g, A, known.values, search.pieces);
  s.residual = judged.verdict.residual;
  s.error = judged.verdict.error;
  s.uncertain = judged.verdict.uncertain;
  s.dense = dense.has_value();
  s.tolerance = options.tolerance;
  s.resolution = std::ldexp(toeplitz_resolution(A), A.exponent());
  put_in_units_of_t(s, std::move(known), std::move(clusters), A.exponent());
  put_counters(s, slices, search, judged.counts);
  g.wait();
  return s;
}

template Spectrum<float> toeplitz_spectrum(Graph&, std::span<const float>, const SpectrumOptions&);
template Spectrum<double> toeplitz_spectrum(Graph&, std::span<const double>, const SpectrumOptions&);

}  // namespace tesela
