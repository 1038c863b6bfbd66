#include "algorithms/toeplitz_spectrum.hpp"

#include "algorithms/on_core.hpp"
#include "algorithms/toeplitz_search.hpp"
#include "codelets/toeplitz_dense.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tesela {

using detail::Finished;
using detail::Single;

SpectrumOptions SpectrumOptions::published() {
  SpectrumOptions o;
  o.per_interval = 2;
  o.dk = 2;
  o.max_attempts = 5;
  o.krylov_factor = 5;
  o.krylov_more = 0;
  o.fixed_start = true;
  o.divide = false;
  return o;
}

namespace {

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
  if (o.per_interval == 0) o.per_interval = !gpu && n < 3000 ? 48 : n < 24000 ? 64 : 128;
  o.per_interval = std::min(o.per_interval, n);
  o.dk = std::min(o.dk, n);
  if (o.tolerance == 0) o.tolerance = std::is_same_v<T, float> ? 2e-6 : o.vectors ? 1e-14 : 1e-10;
  if (o.group == 0) o.group = gpu ? 64 : 1;
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
        t_(t),
        options_(complete<T>(runtime_, static_cast<index_t>(t.size()), options)),
        matrix_(g, t),
        search_(g, matrix_, options_, result_) {}

  Spectrum<T> run() {
    slice();
    if (!needs_dense()) search_.run([&](const Finished<T>& f) { take(f); });
    if (needs_dense()) {  // a cluster may have come to light in the search
      dense();
    } else {
      store(0);
      for (const SpectrumInterval& cluster : result_.clusters) keep(cluster);
    }
    graph_.wait();
    sort();
    if (options_.vectors && !result_.dense) {
      orthogonalize();
      ascend();
    }
    trim();
    return std::move(result_);
  }

 private:
  bool needs_dense() const { return options_.vectors && !result_.clusters.empty(); }

  void slice() {
    const auto [low, high] = range();
    const auto intervals = toeplitz_slice<T>(graph_, matrix_, options_.per_interval, low, high, &result_.counts);
    for (const SpectrumInterval& i : intervals) {
      if (i.cluster)
        result_.clusters.push_back(i);
      else
        search_.add(i, result_.expected);
      result_.expected += i.total();
      result_.intervals += 1;
    }
    if (!intervals.empty()) below_ = intervals.front().below[0] + intervals.front().below[1];
    if (options_.vectors) result_.vectors.resize(static_cast<std::size_t>(matrix_.n() * result_.expected));
  }

  /// Where to look: with only so many from an end wanted, a little beyond the last of them.
  std::pair<double, double> range() {
    const double low = options_.low, high = options_.high;
    const index_t wanted = options_.smallest > 0 ? options_.smallest : options_.largest;
    if (wanted == 0 || wanted >= matrix_.n()) return {low, high};
    const bool from_below = options_.smallest > 0;
    const double reach = matrix_.norm() * (1 + 1e-6) + 4 * toeplitz_resolution(matrix_);
    double out = matrix_.mean() + (from_below ? -reach : reach), in = matrix_.mean() + (from_below ? reach : -reach);
    const auto inside = [&](const Inertia& i) { return from_below ? i.total() : matrix_.n() - i.total(); };
    for (int rounds = 0; rounds < 60; ++rounds) {  // `out` has too few beyond it, `in` enough
      constexpr int points = 15;
      std::array<double, points> shifts{};
      for (int k = 0; k < points; ++k) shifts[static_cast<std::size_t>(k)] = out + (in - out) * (k + 1) / (points + 1);
      index_t most = matrix_.n();
      double next_out = out, next_in = in;
      for (const Inertia& i : toeplitz_count<T>(graph_, matrix_, shifts)) {
        if (inside(i) < wanted) {
          next_out = i.shift;
        } else {
          next_in = i.shift;
          most = inside(i);
          break;
        }
      }
      result_.counts += points;
      out = next_out, in = next_in;
      if (most <= wanted + options_.per_interval / 4 || std::abs(in - out) < 8 * toeplitz_resolution(matrix_)) break;
    }
    return from_below ? std::pair{low, in} : std::pair{in, high};
  }

  /// Everything from the blocks as dense matrices.
  void dense() {
    result_.dense = true;
    result_.values.clear(), result_.residuals.clear(), result_.symmetry.clear(), result_.shortages.clear();
    places_.clear(), placed_.clear();
    const Single<T> column(runtime_, {matrix_.n(), 1}, "t"), vectors(runtime_, {matrix_.n(), matrix_.n()}, "vectors");
    const Single<double> values(runtime_, {matrix_.n(), 3}, "values");
    {
      const auto home = (*column).write();
      std::copy(t_.begin(), t_.end(), home.data);
    }
    insert_on_core<ToeplitzDense<T>>(graph_, {}, {}, *column, *vectors, *values);
    const auto pairs = (*values).read();
    const auto all = (*vectors).read();
    if (std::isnan(pairs(0, 0))) {  // LAPACK did not converge
      result_.shortages.push_back({options_.low, options_.high, 0, result_.expected});
      return;
    }
    for (index_t j = below_; j < std::min(matrix_.n(), below_ + result_.expected); ++j) {
      keep(pairs(j, 0), pairs(j, 1), pairs(j, 2) > 0 ? 0 : 1);
      std::copy_n(&all(0, j), matrix_.n(), vector(j - below_));
      places_.push_back(j - below_);
    }
  }

  void keep(double value, double residual, std::size_t part) {
    result_.values.push_back(value);
    result_.residuals.push_back(residual);
    result_.symmetry.push_back(part == 0 ? 1 : -1);
  }

  void keep(const SpectrumInterval& cluster) {
    for (std::size_t part = 0; part < 2; ++part)
      for (index_t k = 0; k < cluster.count[part]; ++k)
        keep((cluster.low + cluster.high) / 2, cluster.high - cluster.low, part);
  }

  T* vector(index_t place) { return &result_.vectors[static_cast<std::size_t>(matrix_.n() * place)]; }

  /// Keeps an interval's values, and inserts what brings its vectors from the sine basis, ascending.
  void take(const Finished<T>& f) {
    const SpectrumInterval& i = f.job.interval;
    const index_t columns = (*f.x).cols();
    std::vector<std::pair<double, index_t>> order;  // part * columns + column
    {
      const auto pairs = (*f.pairs).read();
      for (index_t part = 0; part < 2; ++part)
        for (index_t j = 0; j < i.count[static_cast<std::size_t>(part)]; ++j) {
          keep(pairs(2 * part, j), pairs(2 * part + 1, j), static_cast<std::size_t>(part));
          order.emplace_back(pairs(2 * part, j), part * columns + j);
        }
    }
    if (!options_.vectors) return;
    std::vector<index_t> rank(order.size());
    std::iota(rank.begin(), rank.end(), index_t{0});
    std::sort(rank.begin(), rank.end(), [&](index_t a, index_t b) {
      return order[static_cast<std::size_t>(a)] < order[static_cast<std::size_t>(b)];
    });
    std::vector<index_t> place(order.size());
    for (std::size_t r = 0; r < rank.size(); ++r) place[static_cast<std::size_t>(rank[r])] = static_cast<index_t>(r);
    const Single<index_t> places(runtime_, {columns, 2}, "places");
    Placed placed{f.job.place, Single<T>(runtime_, {matrix_.n(), i.total()}, "vectors")};
    {
      const auto at = (*places).write();
      std::fill_n(at.data, 2 * columns, index_t{-1});
      for (std::size_t k = 0; k < order.size(); ++k) {
        at(order[k].second % columns, order[k].second / columns) = place[k];
        places_.push_back(placed.first + place[k]);
      }
    }
    insert_on_core<FromSineBasis<T>>(graph_, {}, {}, *f.x, *places, *placed.vectors);
    pieces_.push_back(placed.first);
    placed_.push_back(std::move(placed));
    store(2 * static_cast<std::size_t>(options_.window));
  }

  /// Copies vectors to the result, but for the `rest` that were asked for last.
  void store(std::size_t rest) {
    for (; placed_.size() > rest; placed_.pop_front()) {
      const auto v = (*placed_.front().vectors).read();
      for (index_t j = 0; j < v.cols; ++j) std::copy_n(&v(0, j), matrix_.n(), vector(placed_.front().first + j));
    }
  }

  /// Ascending values; vectors stand where the inertia put them, without gaps unless some are missing.
  void sort() {
    std::vector<std::size_t> order(result_.values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool placed = options_.vectors;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return placed ? places_[a] < places_[b] : result_.values[a] < result_.values[b];
    });
    const auto sorted = [&](auto& v) {
      auto w = v;
      for (std::size_t i = 0; i < order.size(); ++i) w[i] = v[order[i]];
      v = std::move(w);
    };
    sorted(result_.values);
    sorted(result_.residuals);
    sorted(result_.symmetry);
    if (!placed) return;
    sorted(places_);
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (const auto to = static_cast<index_t>(i); places_[i] != to)
        std::copy_n(vector(places_[i]), matrix_.n(), vector(to));
    result_.vectors.resize(places_.size() * static_cast<std::size_t>(matrix_.n()));
  }

  /// Vectors of one run are orthogonal as their basis was; those of two runs overlap by about their residuals over
  /// their distance, which is taken away where it is more than rounding.
  void orthogonalize() {
    const index_t n = matrix_.n(), found = static_cast<index_t>(places_.size());
    std::sort(pieces_.begin(), pieces_.end());
    const auto column_of = [&](index_t place) {
      return std::lower_bound(places_.begin(), places_.end(), place) - places_.begin();
    };
    for (std::size_t p = 1; p < pieces_.size(); ++p) {
      const index_t first = column_of(pieces_[p]), end = p + 1 < pieces_.size() ? column_of(pieces_[p + 1]) : found;
      for (index_t above = first; above < end; ++above) {
        const auto a = static_cast<std::size_t>(above);
        bool near = false;
        T* const v = vector(above);
        for (index_t below = first; below-- > 0;) {
          const auto b = static_cast<std::size_t>(below);
          const double gap = result_.values[a] - result_.values[b],
                       residual = std::max(result_.residuals[a], result_.residuals[b]);
          if (gap > 1e11 * residual) break;
          near = true;
          if (result_.symmetry[a] != result_.symmetry[b]) continue;
          const T* const u = vector(below);
          const T overlap = std::inner_product(u, u + n, v, T(0));
          for (index_t k = 0; k < n; ++k) v[k] -= overlap * u[k];
        }
        if (!near) break;
        const T norm = std::sqrt(std::inner_product(v, v + n, v, T(0)));
        for (index_t k = 0; k < n; ++k) v[k] /= norm;
      }
    }
  }

  /// Where rounding has put the last value of an interval after the first of the next, they change places.
  void ascend() {
    for (std::size_t i = 1; i < result_.values.size(); ++i)
      for (std::size_t j = i; j > 0 && result_.values[j] < result_.values[j - 1]; --j) {
        std::swap(result_.values[j], result_.values[j - 1]);
        std::swap(result_.residuals[j], result_.residuals[j - 1]);
        std::swap(result_.symmetry[j], result_.symmetry[j - 1]);
        T* const v = vector(static_cast<index_t>(j));
        std::swap_ranges(v, v + matrix_.n(), v - matrix_.n());
      }
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
    const auto cut = [&](auto& v, index_t each) {
      const auto from = from_below ? v.begin() + kept * each : v.begin();
      v.erase(from, from + (found - kept) * each);
    };
    cut(result_.values, 1);
    cut(result_.residuals, 1);
    cut(result_.symmetry, 1);
    if (options_.vectors) cut(result_.vectors, matrix_.n());
    result_.expected = wanted;
  }

  struct Placed {
    index_t first;  // column of the result
    Single<T> vectors;
  };

  Runtime& runtime_;
  Graph& graph_;
  std::span<const T> t_;
  SpectrumOptions options_;
  SineToeplitz<T> matrix_;
  Spectrum<T> result_;
  detail::ToeplitzSearch<T> search_;
  std::deque<Placed> placed_;
  std::vector<index_t> places_;  // of the values found, among the vectors
  std::vector<index_t> pieces_;  // the first of each run
  index_t below_ = 0;            // eigenvalues below all that are wanted
};

}  // namespace

template <class T>
Spectrum<T> toeplitz_spectrum(Graph& g, std::span<const T> t, const SpectrumOptions& options) {
  return Solver<T>(g, t, options).run();
}

template Spectrum<float> toeplitz_spectrum(Graph&, std::span<const float>, const SpectrumOptions&);
template Spectrum<double> toeplitz_spectrum(Graph&, std::span<const double>, const SpectrumOptions&);

}  // namespace tesela
