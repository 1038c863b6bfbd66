#include <tesela/algorithms/support/insert_or_run.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_certificate.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_search.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>
#include <tesela/codelets/support/fill.hpp>
#include <tesela/codelets/toeplitz/sine_vectors.hpp>
#include <tesela/codelets/toeplitz/toeplitz_dense.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace tesela {

using namespace kernels;

using detail::Finished;
using detail::Single;

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

/// Runs that one task steps on a GPU: as many as pay, whole batches of inverses, few enough for several GPUs to get
/// equal shares of the intervals, and no more than let three groups (one that steps, one whose memory comes or goes,
/// one that waits) lie in a GPU's memory.
template <class T>
index_t group_for(const Runtime& runtime, index_t n, const SpectrumOptions& o) {
  const index_t capacity = detail::krylov_limit(n, o), batch = cauchy_batch(n);
  const Shape slot = lanczos_slot(n, capacity), work = lanczos_work(n, capacity, 1);
  const double bytes = (3 * static_cast<double>(slot.rows * slot.cols) + static_cast<double>(work.rows)) * sizeof(T),
               room = 0.8 * static_cast<double>(runtime.device_bytes()) / runtime.gpus();
  const double intervals = 1.4 * static_cast<double>(n) / static_cast<double>(o.per_interval),
               share = runtime.gpus() > 1 ? std::max(16.0, intervals / (4.0 * runtime.gpus())) : 64;
  const auto fit = static_cast<index_t>(std::clamp(room / bytes, 1.0, std::min(share, 64.0)));
  return fit > batch ? fit - fit % batch : fit;
}

/// The options with every "what suits" decided. Throws ArgumentError.
template <class T>
SpectrumOptions complete(const Runtime& runtime, index_t n, SpectrumOptions o) {
  const auto refuse = [](const char* what, const std::string& value) {
    throw ArgumentError("toeplitz_spectrum", what, value);
  };
  if (n < 1) refuse("t", "a matrix of order 0 has no eigenvalues");
  if (o.dk < 1 || o.per_interval < 0 || o.max_attempts < 1 || o.window < 0 || o.group < 0 || o.krylov_more < 0 ||
      !(o.krylov_factor > 0) || !(o.tolerance >= 0))
    refuse("options", "dk, max_attempts and krylov_factor are positive, the others are not negative");
  if (o.smallest < 0 || o.largest < 0 || (o.smallest > 0 && o.largest > 0))
    refuse("smallest, largest", "one of them at most, and not negative");
  if ((o.smallest > 0 || o.largest > 0) && (std::isfinite(o.low) || std::isfinite(o.high)))
    refuse("range", "not with smallest or largest");
  if (!(o.low < o.high)) refuse("range", "[" + std::to_string(o.low) + ", " + std::to_string(o.high) + ")");
  const bool gpu = runtime.gpus() > 0;
  if (o.per_interval == 0)
    o.per_interval = gpu ? (n < 24000 ? 64 : 128) : n < 1200 ? 64 : n < 6000 ? 112 : 160;  // measured: docs/toeplitz.md
  o.per_interval = std::min(o.per_interval, n);
  o.dk = std::min(o.dk, n);
  if (o.tolerance == 0) o.tolerance = detail::spectrum_tolerance<T>(detail::refined(o));
  if (o.group == 0) o.group = gpu ? group_for<T>(runtime, n, o) : 1;
  o.group = std::min<index_t>(o.group, LanczosSteps<T>::most_slots);
  if (o.window == 0) o.window = gpu ? 3 * o.group * runtime.gpus() : 2 * std::max(1, runtime.cpus()) + 2;
  o.window = std::min(o.window, n);  // no more intervals than eigenvalues
  return o;
}

template <class T>
class Solver {
 public:
  Solver(Graph& g, std::span<const T> t, const SpectrumOptions& options)
      : runtime_(g.runtime()),
        graph_(g),
        options_(complete<T>(runtime_, static_cast<index_t>(t.size()), options)),
        matrix_(g, t),
        search_(g, matrix_, options_, result_) {}

  Spectrum<T> run() {
    result_.tolerance = options_.tolerance;
    slice();
    std::optional<Single<T>> dense_vectors;
    if (!needs_dense()) {
      search_.run([&](Finished<T>&& f) { take(std::move(f)); });
      if (!needs_dense()) judge();
    }
    if (needs_dense() || (!result_.good() && options_.divide && matrix_.n() <= detail::largest_dense))
      dense_vectors = dense();
    sort();
    trim();
    if (options_.vectors) {
      const auto n = matrix_.n(), found = static_cast<index_t>(result_.values.size());
      result_.vectors.emplace(runtime_, n, found, TileShape{n, std::clamp<index_t>(found, 1, 128)}, "vectors");
      if (dense_vectors)
        copy(*dense_vectors);
      else
        place();
    }
    to_units_of_t();
    graph_.wait();
    return std::move(result_);
  }

 private:
  /// Where the vector of a value is: the column of a piece (and its part, by symmetry), or of the dense solver's.
  struct Source {
    std::size_t piece = 0;
    index_t column = 0;
  };

  /// Vectors in the sine basis, as RitzPairs left them.
  struct Piece {
    double low;                                 // of its interval
    std::array<std::vector<double>, 2> values;  // of each part, ascending
    std::array<double, 2> residual;             // the largest
    std::optional<Single<T>> x;
  };

  bool needs_dense() const { return options_.vectors && !result_.clusters.empty(); }

  void slice() {
    std::vector<SpectrumInterval> intervals;
    if (matrix_.norm() == 0) {
      if (options_.low <= 0 && options_.high > 0) intervals.push_back(detail::all_zero(matrix_));
      result_.expected = intervals.empty() ? 0 : matrix_.n();
    } else {
      range_ = options_.smallest > 0 || options_.largest > 0
                   ? range_of_some()
                   : detail::count_ends(graph_, matrix_, options_.low, options_.high, &result_.counts);
      if (!range_.empty) {
        intervals = detail::slice_between(graph_, matrix_, options_.per_interval, range_, &result_.counts,
                                          {.solver = options_.counter});
        result_.first = range_.low ? range_.low->total() : 0;
        result_.expected = (range_.high ? range_.high->total() : matrix_.n()) - result_.first;
      }
    }
    for (const SpectrumInterval& i : intervals) {
      if (i.cluster)
        result_.clusters.push_back(i);
      else
        search_.add(i);
      result_.intervals += 1;
    }
  }

  /// Where to look with only so many from an end wanted: a little beyond the last of them.
  detail::CountedRange range_of_some() {
    const index_t wanted = std::max(options_.smallest, options_.largest);
    if (wanted >= matrix_.n()) return {};
    const bool from_below = options_.smallest > 0;
    const double resolution = toeplitz_resolution(matrix_), reach = matrix_.norm() * (1 + 1e-6) + 4 * resolution;
    double out = matrix_.mean() + (from_below ? -reach : reach), in = matrix_.mean() + (from_below ? reach : -reach);
    std::optional<Inertia> end;  // at `in`
    const auto inside = [&](const Inertia& i) { return from_below ? i.total() : matrix_.n() - i.total(); };
    for (int rounds = 0; rounds < 60; ++rounds) {  // `out` has too few beyond it, `in` enough
      constexpr int points = 15;
      std::array<double, points> shifts{};
      for (int k = 0; k < points; ++k) shifts[static_cast<std::size_t>(k)] = out + (in - out) * (k + 1) / (points + 1);
      double next_out = out;
      for (const Inertia& i :
           detail::count_at<T>(graph_, matrix_, shifts, detail::Nudge::either_side, {.solver = options_.counter})) {
        if (inside(i) < wanted) {
          next_out = i.shift;
        } else {
          end = i;
          in = i.shift;
          break;
        }
      }
      result_.counts += points;
      out = next_out;
      if ((end && inside(*end) <= wanted + options_.per_interval / 4) || std::abs(in - out) < 8 * resolution) break;
    }
    return from_below ? detail::CountedRange{{}, end, false} : detail::CountedRange{end, {}, false};
  }

  /// Everything from the blocks as dense matrices; answers all vectors.
  Single<T> dense() {
    result_.dense = true;
    result_.values.clear(), result_.residuals.clear(), result_.symmetry.clear(), result_.shortages.clear();
    sources_.clear(), pieces_.clear();
    Single<T> vectors(runtime_, {matrix_.n(), matrix_.n()}, "vectors");
    const Single<double> values(runtime_, {matrix_.n(), 3}, "values");
    insert_or_run<ToeplitzDense<T>>(graph_, {}, {}, matrix_.column(), *vectors, *values);
    const auto pairs = (*values).read();
    if (std::isnan(pairs(0, 0)))  // LAPACK did not converge
      result_.shortages.push_back({std::ldexp(options_.low, -matrix_.exponent()),
                                   std::ldexp(options_.high, -matrix_.exponent()), 0, result_.expected});
    else
      for (index_t j = result_.first; j < std::min(matrix_.n(), result_.first + result_.expected); ++j)
        keep(pairs(j, 0), pairs(j, 1), pairs(j, 2) > 0 ? 0 : 1, {0, j});
    // Orthogonal vectors of all: every value is within the residuals of an eigenvalue of its own.
    result_.uncertain = 0;
    measure(std::accumulate(result_.residuals.begin(), result_.residuals.end(), 0.0,
                            [](double a, double b) { return std::max(a, b); }));
    return vectors;
  }

  void keep(double value, double residual, std::size_t part, const Source& source = {}) {
    result_.values.push_back(value);
    result_.residuals.push_back(residual);
    result_.symmetry.push_back(part == 0 ? 1 : -1);
    sources_.push_back(source);
  }

  void keep(const SpectrumInterval& cluster) {
    for (std::size_t part = 0; part < 2; ++part)
      for (index_t k = 0; k < cluster.count[part]; ++k)
        keep((cluster.low + cluster.high) / 2, cluster.high - cluster.low, part);
  }

  /// Keeps an interval's values, and its vectors where they are.
  void take(Finished<T>&& f) {
    const SpectrumInterval& i = f.job.interval;
    Piece piece{i.low, {}, {}, std::nullopt};
    {
      const auto pairs = (*f.pairs).read();
      for (std::size_t part = 0; part < 2; ++part)
        for (index_t j = 0; j < i.count[part]; ++j) {
          const double value = pairs(2 * static_cast<index_t>(part), j),
                       residual = pairs(2 * static_cast<index_t>(part) + 1, j);
          keep(value, residual, part, {pieces_.size(), j});
          piece.values[part].push_back(value);
          piece.residual[part] = std::max(piece.residual[part], residual);
        }
    }
    if (!options_.vectors) return;
    piece.x = std::move(f.x);
    pieces_.push_back(std::move(piece));
  }

  void sort() {
    std::vector<std::size_t> order(result_.values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return result_.values[a] < result_.values[b]; });
    const auto sorted = [&](auto& v) {
      auto w = v;
      for (std::size_t i = 0; i < order.size(); ++i) w[i] = v[order[i]];
      v = std::move(w);
    };
    sorted(result_.values);
    sorted(result_.residuals);
    sorted(result_.symmetry);
    sorted(sources_);
  }

  /// Brings the vectors from the sine basis, ascending, orthogonalized against those of the pieces below.
  void place() {
    std::vector<std::vector<index_t>> places;  // of each piece: symmetric ones, then skew ones
    for (const Piece& p : pieces_) places.emplace_back(static_cast<std::size_t>(2 * (**p.x).cols()), index_t{-1});
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      const Source& s = sources_[k];
      const index_t skew = result_.symmetry[k] < 0 ? (**pieces_[s.piece].x).cols() : 0;
      places[s.piece][static_cast<std::size_t>(s.column + skew)] = static_cast<index_t>(k);
    }
    const TileMatrix<T>& v = *result_.vectors;
    for (index_t j = 0; j < v.nt(); ++j) graph_.insert<Fill<T>>(on_gpu, {}, v(0, j));
    std::vector<std::size_t> order(pieces_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return pieces_[a].low < pieces_[b].low; });
    for (std::size_t k = 0; k < order.size(); ++k) {
      for (std::size_t below = k; below-- > 0;)
        if (!orthogonalize(pieces_[order[below]], pieces_[order[k]])) break;
      expand(pieces_[order[k]], places[order[k]]);
    }
  }

  /// Vectors of one run are orthogonal as their basis was; those of two runs overlap by about their residuals over
  /// their distance, which is taken away where it may be more than rounding. False when everything is too far apart.
  bool orthogonalize(const Piece& below, const Piece& above) {
    const double reach = 1e11 * std::max({below.residual[0], below.residual[1], above.residual[0], above.residual[1]});
    typename OrthogonalizeAgainst<T>::Args args;
    bool overlaps = false;
    double last = -std::numeric_limits<double>::infinity(), first = -last;
    for (std::size_t part = 0; part < 2; ++part) {
      const std::vector<double>&low = below.values[part], &high = above.values[part];
      if (!low.empty()) last = std::max(last, low.back());
      if (!high.empty()) first = std::min(first, high.front());
      if (low.empty() || high.empty()) continue;
      args.ends[part] = static_cast<index_t>(low.size());
      args.columns[part] = std::upper_bound(high.begin(), high.end(), low.back() + reach) - high.begin();
      args.others[part] = low.end() - std::lower_bound(low.begin(), low.end(), high.front() - reach);
      overlaps = overlaps || (args.columns[part] > 0 && args.others[part] > 0);
    }
    if (overlaps)
      graph_.insert<OrthogonalizeAgainst<T>>(on_gpu, args, **below.x, **above.x,
                                             graph_.scratch<T>((**below.x).cols(), (**above.x).cols()));
    return first - last <= reach;
  }

  /// A piece's vectors to their places among all.
  void expand(const Piece& piece, const std::vector<index_t>& places) {
    const TileMatrix<T>& v = *result_.vectors;
    index_t first = v.n(), last = -1;
    for (const index_t column : places)
      if (column >= 0) first = std::min(first, column), last = std::max(last, column);
    if (last < 0) return;
    const index_t nb = v.tile_shape().nb;
    const Single<index_t> at(runtime_, {(**piece.x).cols(), 2}, "places");
    {
      const auto home = (*at).write();
      std::copy(places.begin(), places.end(), home.data);
    }
    std::vector<Tile<T>> tiles;
    for (index_t j = first / nb; j <= last / nb; ++j) tiles.push_back(v(0, j));
    graph_.insert<FromSineBasis<T>>(on_gpu, {first / nb * nb}, **piece.x, *at,
                                    graph_.scratch<T>(sine_rows(matrix_.n()), runtime_.gpus() > 0 ? 32 : 1), tiles);
  }

  /// The dense solver's vectors to their places.
  void copy(const Single<T>& vectors) {
    const auto all = (*vectors).read();
    result_.vectors->for_each_tile([&](const Tile<T>& tile, index_t, index_t first) {
      const auto v = tile.write();
      for (index_t j = 0; j < v.cols; ++j)
        std::copy_n(&all(0, sources_[static_cast<std::size_t>(first + j)].column), v.rows, &v(0, j));
    });
  }

  void to_units_of_t() {
    result_.resolution = std::ldexp(toeplitz_resolution(matrix_), matrix_.exponent());
    const auto back = [&](double& value) { value = std::ldexp(value, matrix_.exponent()); };
    for (double& value : result_.values) {
      back(value);
      if (!std::isfinite(value)) result_.error.error = std::numeric_limits<double>::infinity();  // it overflowed
    }
    for (double& residual : result_.residuals) back(residual);
    for (SpectrumShortage& s : result_.shortages) back(s.low), back(s.high);
    for (SpectrumInterval& c : result_.clusters) back(c.low), back(c.high);
  }

  /// What the values are worth, and those of the clusters. A few that are not certain enough are counted to the end.
  void judge() {
    const std::size_t pairs = result_.values.size();
    for (const SpectrumInterval& cluster : result_.clusters) keep(cluster);
    if (matrix_.norm() == 0 || range_.empty) return measure(0);
    std::vector<detail::Claim> claims;
    for (std::size_t i = 0; i < result_.values.size(); ++i)
      claims.push_back({result_.values[i], result_.residuals[i], result_.symmetry[i] > 0 ? 0U : 1U, i >= pairs});
    result_.uncertain = detail::certify(graph_, matrix_, range_, claims, &result_.counts);
    if (!options_.vectors && options_.divide && result_.uncertain == 0) {
      const double enough = detail::spectrum_bounds<T>(matrix_.n(), options_).error * norm_found();
      detail::pin(graph_, matrix_, claims, enough, &result_.counts);
      for (std::size_t i = 0; i < claims.size(); ++i) {
        result_.values[i] = claims[i].value;
        result_.residuals[i] = claims[i].radius;
      }
    }
    double error = 0;
    for (const detail::Claim& claim : claims) error = std::max(error, claim.error);
    measure(error);
  }

  double norm_found() const {
    double norm = matrix_.rms();
    for (const double value : result_.values) norm = std::max(norm, std::abs(value));
    return norm > 0 ? norm : 1;
  }

  /// The verdict, with a bound of all values' errors.
  void measure(double error) {
    const double norm = norm_found();
    const auto bounds = detail::spectrum_bounds<T>(matrix_.n(), options_);
    double residual = 0;
    for (const double r : result_.residuals) residual = r <= residual ? residual : r;
    result_.residual = {residual / norm, bounds.residual};
    result_.error = {error / norm, bounds.error};
  }

  /// Drops what was found beyond the `smallest` or `largest` wanted. An interval with a shortage may miss any of its
  /// eigenvalues: kept is what is among the wanted ones wherever these are.
  void trim() {
    const index_t wanted = std::max(options_.smallest, options_.largest);
    if (wanted == 0 || wanted >= result_.expected) return;
    const bool from_below = options_.smallest > 0;
    const index_t found = static_cast<index_t>(result_.values.size());
    const auto beyond = [&](const SpectrumShortage& s, index_t count) {
      const double last = result_.values[static_cast<std::size_t>(from_below ? count - 1 : found - count)];
      return from_below ? s.low > last : s.high < last;
    };
    const auto surely_wanted = [&](index_t count) {
      index_t rank = count;  // of the last of so many, at most
      for (const SpectrumShortage& s : result_.shortages) rank += beyond(s, count) ? 0 : s.expected - s.found;
      return rank <= wanted;
    };
    index_t kept = 0;
    for (index_t too_many = std::min(wanted, found) + 1; kept + 1 < too_many;) {
      const index_t middle = (kept + too_many) / 2;
      (surely_wanted(middle) ? kept : too_many) = middle;
    }
    if (kept == wanted) result_.shortages.clear();  // all are beyond
    const auto cut = [&](auto& v) {
      const auto from = from_below ? v.begin() + kept : v.begin();
      v.erase(from, from + (found - kept));
    };
    cut(result_.values);
    cut(result_.residuals);
    cut(result_.symmetry);
    cut(sources_);
    if (!from_below) result_.first += result_.expected - wanted;
    result_.expected = wanted;
  }

  Runtime& runtime_;
  Graph& graph_;
  SpectrumOptions options_;
  SineToeplitz<T> matrix_;
  Spectrum<T> result_;
  detail::ToeplitzSearch<T> search_;
  std::vector<Source> sources_;  // of each value found
  std::vector<Piece> pieces_;    // of vectors, one of each run
  detail::CountedRange range_;
};

}  // namespace

template <class T>
Spectrum<T> toeplitz_spectrum(Graph& g, std::span<const T> t, const SpectrumOptions& options) {
  return Solver<T>(g, t, options).run();
}

template Spectrum<float> toeplitz_spectrum(Graph&, std::span<const float>, const SpectrumOptions&);
template Spectrum<double> toeplitz_spectrum(Graph&, std::span<const double>, const SpectrumOptions&);

}  // namespace tesela
