#include "algorithms/toeplitz_spectrum.hpp"

#include "algorithms/on_core.hpp"
#include "codelets/fill.hpp"
#include "codelets/lanczos.hpp"
#include "codelets/toeplitz_dense.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>

namespace tesela {

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

/// A tile of its own.
template <class T>
struct Single {
  TileMatrix<T> matrix;
  Single(Runtime& runtime, Shape shape, const char* name)
      : matrix(runtime, shape.rows, shape.cols, {std::max<index_t>(1, shape.rows), std::max<index_t>(1, shape.cols)},
               name) {}
  Tile<T> operator*() const { return matrix(0, 0); }
};

/// An interval whose eigenvalues are to be found, with the shift it is tried at.
struct Job {
  SpectrumInterval interval;
  index_t attempt = 0;
  double shift = 0;
};

/// Inverses at the shifts of several jobs, computed by one task.
template <class T>
struct Inverses {
  std::vector<Job> jobs;
  Single<T> inverse;
  Single<double> report, quality;
  std::vector<double> seen_report = {}, seen_quality = {};  // these tiles, once they have been read
};

/// One run in flight.
template <class T>
struct Slot {
  std::optional<Job> job;
  index_t steps = 0;  // inserted so far
  int tests = 0;      // inserted so far for this job
  Single<T> basis;
};

/// Tests of LanczosTest::at_a_time runs: verdicts of the round before and of this one.
struct Bundle {
  Single<double> histories;
  std::optional<Single<index_t>> older, newer;
};

/// Runs that step side by side.
template <class T>
struct Group {
  std::vector<Slot<T>> slots;
  std::vector<Bundle> bundles;
};

/// The pairs of a run that has found all it was asked for.
template <class T>
struct Finished {
  Job job;
  Single<T> x;
  Single<double> pairs;
};

template <class T>
class Solver {
 public:
  Solver(Graph& g, std::span<const T> t, const SpectrumOptions& options)
      : runtime_(g.runtime()), graph_(g), t_(t), options_(complete(runtime_, t, options)), A_(g, t), starts_(start()) {}

  Spectrum<T> run() {
    const std::vector<SpectrumInterval> intervals = slice();
    if (options_.vectors && !result_.clusters.empty())
      dense();
    else
      search();
    graph_.wait();
    sort();
    if (options_.vectors && !result_.dense) orthogonalize(intervals);
    trim();
    return std::move(result_);
  }

 private:
  static SpectrumOptions complete(Runtime& runtime, std::span<const T> t, SpectrumOptions o) {
    const auto n = static_cast<index_t>(t.size());
    const auto refuse = [](const char* what, const std::string& value) {
      throw ArgumentError("toeplitz_spectrum", what, value);
    };
    if (n < 1) refuse("t", "a matrix of order 0 has no eigenvalues");
    if (o.dk < 1 || o.per_interval < 0 || o.max_attempts < 1 || o.window < 0 || o.group < 0 || !(o.krylov_factor > 0))
      refuse("options", "dk, max_attempts and krylov_factor are positive, the others are not negative");
    if (o.smallest < 0 || o.largest < 0 || (o.smallest > 0 && o.largest > 0))
      refuse("smallest, largest", "one of them at most, and not negative");
    if ((o.smallest > 0 || o.largest > 0) && (std::isfinite(o.low) || std::isfinite(o.high)))
      refuse("range", "not with smallest or largest");
    if (!(o.low < o.high)) refuse("range", "[" + std::to_string(o.low) + ", " + std::to_string(o.high) + ")");
    const bool gpu = runtime.gpus() > 0;
    if (o.per_interval == 0) o.per_interval = !gpu && n < 3000 ? 48 : n < 24000 ? 64 : 128;
    o.per_interval = std::min(o.per_interval, n);
    if (o.tolerance == 0) o.tolerance = std::is_same_v<T, float> ? 2e-6 : o.vectors ? 1e-14 : 1e-10;
    if (o.group == 0) o.group = gpu ? 64 : 1;
    o.group = std::min<index_t>(o.group, LanczosSteps<T>::most_slots);
    if (o.window == 0) o.window = gpu ? 3 * o.group * runtime.gpus() : 2 * std::max(1, runtime.cpus()) + 2;
    return o;
  }

  index_t capacity() const {
    const auto steps = static_cast<index_t>(options_.krylov_factor * static_cast<double>(options_.per_interval));
    return std::max<index_t>(2, std::min(steps + options_.krylov_more, cauchy_rows(A_.n(), 0) + 1));
  }

  /// Column 0 the first start, the others for the attempts after it; each part of unit norm.
  Single<T> start() {
    const index_t n = A_.n(), columns = options_.max_attempts + 1;
    Single<T> starts(runtime_, {n, columns}, "starts");
    const auto v = (*starts).write();
    const Generator<double> random{Pattern::uniform, 0, 0, options_.seed};
    for (index_t j = 0; j < columns; ++j)
      for (int part = 0; part < 2; ++part) {
        const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
        double norm = 0;
        for (int pass = 0; pass < 2; ++pass)
          for (index_t a = 0; a < rows; ++a) {
            const double f =
                static_cast<double>(2 * a + part + 1) * 3.14159265358979323846 / static_cast<double>(n + 1);
            const double e = j == 0 && options_.fixed_start ? std::sin(f) : random.uniform(first + a, j);
            if (pass == 0)
              norm += e * e;
            else
              v(first + a, j) = static_cast<T>(norm > 0 ? e / std::sqrt(norm) : 0);
          }
      }
    return starts;
  }

  std::vector<SpectrumInterval> slice() {
    auto [low, high] = range();
    std::vector<SpectrumInterval> intervals =
        toeplitz_slice<T>(graph_, A_, options_.per_interval, low, high, &result_.counts);
    for (const SpectrumInterval& i : intervals) {
      result_.expected += i.total();
      result_.intervals += 1;
      add(i);
    }
    base_ = intervals.empty() ? 0 : intervals.front().below[0] + intervals.front().below[1];
    if (options_.vectors) result_.vectors.resize(static_cast<std::size_t>(A_.n() * result_.expected));
    return intervals;
  }

  /// Where to look: with only so many from an end wanted, a little beyond the last of them.
  std::pair<double, double> range() {
    double low = options_.low, high = options_.high;
    const index_t wanted = options_.smallest > 0 ? options_.smallest : options_.largest;
    if (wanted == 0 || wanted >= A_.n()) return {low, high};
    const bool from_below = options_.smallest > 0;
    const double reach = A_.norm() * (1 + 1e-6) + 4 * toeplitz_resolution(A_);
    double out = A_.mean() + (from_below ? -reach : reach), in = A_.mean() + (from_below ? reach : -reach);
    const auto inside = [&](const Inertia& i) { return from_below ? i.total() : A_.n() - i.total(); };
    for (int rounds = 0; rounds < 60; ++rounds) {  // `out` has too few beyond it, `in` enough
      constexpr int points = 15;
      std::array<double, points> shifts{};
      for (int k = 0; k < points; ++k) shifts[static_cast<std::size_t>(k)] = out + (in - out) * (k + 1) / (points + 1);
      index_t most = A_.n();
      double next_out = out, next_in = in;
      for (const Inertia& i : toeplitz_count<T>(graph_, A_, shifts)) {
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
      if (most <= wanted + options_.per_interval / 4 || std::abs(in - out) < 8 * toeplitz_resolution(A_)) break;
    }
    return from_below ? std::pair{low, in} : std::pair{in, high};
  }

  void search() {
    const auto jobs = static_cast<index_t>(waiting_.size());
    const index_t window = std::min(options_.window, std::max<index_t>(1, jobs));
    for (index_t first = 0; first < window; first += options_.group) {
      Group<T>& group = groups_.emplace_back();
      for (index_t s = first; s < std::min(window, first + options_.group); ++s) {
        group.slots.push_back({{}, 0, 0, Single<T>(runtime_, lanczos_slot(A_.n(), capacity()), "slot")});
        if ((s - first) % LanczosTest::at_a_time != 0) continue;
        group.bundles.push_back({Single<double>(runtime_, lanczos_histories(capacity()), "histories"), {}, {}});
        const auto all = (*group.bundles.back().histories).write();
        std::fill_n(all.data, all.rows * all.cols, 0.0);
      }
    }
    while (!waiting_.empty() || !prepared_.empty() || in_flight_ > 0 || !finished_.empty()) {
      for (auto& group : groups_) round(group);
      harvest(waiting_.empty() && prepared_.empty() && in_flight_ == 0 ? 0 : groups_.size());
    }
    store(0);
  }

  /// Everything from the blocks as dense matrices.
  void dense() {
    result_.dense = true;
    result_.values.clear(), result_.residuals.clear(), result_.symmetry.clear(), places_.clear(), waiting_.clear();
    Single<T> column(runtime_, {A_.n(), 1}, "t"), vectors(runtime_, {A_.n(), A_.n()}, "vectors");
    Single<double> values(runtime_, {A_.n(), 3}, "values");
    {
      const auto home = (*column).write();
      std::copy(t_.begin(), t_.end(), home.data);
    }
    insert_on_core<ToeplitzDense<T>>(graph_, {}, {}, *column, *vectors, *values);
    const auto pairs = (*values).read();
    const auto all = (*vectors).read();
    for (index_t j = base_; j < base_ + result_.expected; ++j) {
      keep(pairs(j, 0), pairs(j, 1), pairs(j, 2) > 0 ? 0 : 1);
      std::copy_n(&all(0, j), A_.n(), &result_.vectors[static_cast<std::size_t>(A_.n() * (j - base_))]);
      places_.push_back(j - base_);
    }
  }

  void add(const SpectrumInterval& i) {
    if (i.cluster) {
      result_.clusters.push_back(i);
      for (std::size_t part = 0; part < 2; ++part)
        for (index_t k = 0; k < i.count[part]; ++k) {
          keep((i.low + i.high) / 2, i.high - i.low, part);
          places_.push_back(-1);
        }
      return;
    }
    waiting_.push_back({i, 0, shift_of(i, 0)});
  }

  void keep(double value, double residual, std::size_t part) {
    result_.values.push_back(value);
    result_.residuals.push_back(residual);
    result_.symmetry.push_back(part == 0 ? 1 : -1);
  }

  double shift_of(const SpectrumInterval& i, index_t attempt) {
    if (attempt == 0 && options_.midpoint) return (i.low + i.high) / 2;
    const Generator<double> random{Pattern::uniform, 0, 0, options_.seed + 1};
    return i.low + (i.high - i.low) * (0.5 + 0.45 * random.uniform(shifts_++, 0));
  }

  /// Inverts at the shifts of the jobs that wait, as many as a group has room for.
  void prepare() {
    const index_t batch_size = runtime_.gpus() > 0 ? std::max(options_.group, cauchy_batch(A_.n())) : options_.group;
    const auto count = std::min(waiting_.size(), static_cast<std::size_t>(batch_size));
    if (count == 0) return;
    const auto shifts = static_cast<index_t>(count);
    Inverses<T> batch{{},
                      Single<T>(runtime_, {A_.n(), 3 * shifts}, "inverse"),
                      Single<double>(runtime_, {CauchyReport::rows, 2 * shifts}, "report"),
                      Single<double>(runtime_, {2, shifts}, "quality")};
    Single<double> sigma(runtime_, {shifts, 1}, "sigma");
    {
      const auto at = (*sigma).write();
      for (std::size_t i = 0; i < count; ++i) {
        at.data[i] = waiting_.front().shift;
        batch.jobs.push_back(waiting_.front());
        waiting_.pop_front();
      }
    }
    graph_.insert<CauchyInvert<T>>(on_gpu, {}, A_.blocks(), *sigma, *batch.inverse, *batch.report,
                                   graph_.scratch<T>(cauchy_table(A_.n()), 1));
    graph_.insert<CauchyQuality<T>>(on_gpu, {}, A_.blocks(), A_.tables(), *sigma, *batch.inverse, *starts_,
                                    *batch.quality, work());
    result_.inversions += shifts;
    prepared_.push_back(std::move(batch));
    next_prepared_.push_back(0);
  }

  /// Whether the inverse at a shift is good enough: no breakdown, and what rounding left of it changes the Ritz pairs
  /// at the interval's ends by no more than is wanted. Where no shift does better, the last but one attempt is taken.
  bool usable(Inverses<T>& batch, index_t i, const Job& job) const {
    if (batch.seen_report.empty()) {
      const auto report = (*batch.report).read();
      const auto quality = (*batch.quality).read();
      batch.seen_report.assign(report.data, report.data + report.rows * report.cols);
      batch.seen_quality.assign(quality.data, quality.data + quality.rows * quality.cols);
    }
    const Block<const double> report{batch.seen_report.data(), CauchyReport::rows, 0, CauchyReport::rows},
        quality{batch.seen_quality.data(), 2, 0, 2};
    const double reach = std::max(job.interval.high - job.shift, job.shift - job.interval.low);
    for (index_t part = 0; part < 2; ++part) {
      if (cauchy_rows(A_.n(), static_cast<int>(part)) == 0) continue;
      if (report(CauchyReport::breakdown, 2 * i + part) != 0 || !std::isfinite(quality(part, i))) return false;
      if (job.attempt + 2 < options_.max_attempts && quality(part, i) * reach > accepted()) return false;
    }
    return true;
  }

  /// Residuals that do no harm: a Rayleigh quotient's error is their square over the gap to the next eigenvalue. With
  /// refinement the inverse may be rough.
  double accepted() const {
    const double scale = 3 * A_.rms() + std::abs(A_.mean());
    if (std::is_same_v<T, float>) return 1e-3 * scale;
    return (options_.vectors ? 1e-8 : 1e-9) * scale;
  }

  Tile<T> work() {
    const Shape shape = lanczos_work(A_.n(), capacity(), options_.group);
    return graph_.scratch<T>(shape.rows, shape.cols);
  }

  /// Gives a slot the next job whose inverse is good; false when there is none.
  bool start(Slot<T>& slot) {
    for (;;) {
      if (prepared_.empty()) {
        if (waiting_.empty()) return false;
        prepare();
      }
      Inverses<T>& batch = prepared_.front();
      const std::size_t i = next_prepared_.front()++;
      Job job = batch.jobs[i];
      const bool good = usable(batch, static_cast<index_t>(i), job);
      if (good)
        graph_.insert<LanczosStart<T>>(on_gpu, {static_cast<index_t>(i), std::min(job.attempt, options_.max_attempts)},
                                       *batch.inverse, *starts_, *slot.basis);
      if (i + 1 == batch.jobs.size()) {
        prepared_.pop_front();
        next_prepared_.pop_front();
      }
      if (!good) {
        retry(job);
        continue;
      }
      slot.job = job;
      slot.steps = 0;
      slot.tests = 0;
      ++in_flight_;
      return true;
    }
  }

  LanczosGoal goal(const Job& job) const {
    return {job.interval.low,   job.interval.high, job.shift, 2 * toeplitz_resolution(A_),
            options_.tolerance, job.interval.count};
  }

  /// The next dk steps of a group's runs and their tests are inserted; then the tests of the dk steps before are read.
  void round(Group<T>& group) {
    // Side by side from the start, so that all are tested in the same steps.
    if (std::none_of(group.slots.begin(), group.slots.end(), [](const Slot<T>& slot) { return slot.job.has_value(); }))
      for (auto& slot : group.slots)
        if (!start(slot)) break;
    step(group);
    if (prepared_.empty()) prepare();
    for (std::size_t b = 0; b < group.bundles.size(); ++b) decide(group, b);
  }

  void step(Group<T>& group) {
    typename LanczosSteps<T>::Args args;
    std::vector<Tile<T>> bases;
    index_t before_test = capacity(), room = capacity();
    for (const Slot<T>& slot : group.slots) {
      if (!slot.job || slot.steps >= capacity()) continue;
      before_test = std::min(before_test, first_test(*slot.job) - slot.steps);
      room = std::min(room, capacity() - slot.steps);
      args.first[bases.size()] = static_cast<int>(slot.steps);
      args.shift[bases.size()] = slot.job->shift;
      bases.push_back(*slot.basis);
    }
    if (bases.empty()) return;
    args.steps = static_cast<int>(std::min(std::max(before_test, options_.dk), room));
    args.slots = static_cast<int>(bases.size());
    args.refine = options_.vectors;
    const Single<double> coefficients(runtime_, {4, args.steps * args.slots}, "coefficients");
    graph_.insert<LanczosSteps<T>>(on_gpu, args, A_.blocks(), A_.tables(), *coefficients, work(), bases);
    result_.steps += args.steps * args.slots;
    index_t column = 0;
    for (std::size_t b = 0; b < group.bundles.size(); ++b)
      column = test(group, b, *coefficients, column, static_cast<index_t>(args.steps));
  }

  /// Inserts the tests of a bundle's runs that just stepped, from column `column` of the coefficients on; returns the
  /// column after theirs.
  index_t test(Group<T>& group, std::size_t b, const Tile<double>& coefficients, index_t column, index_t steps) {
    LanczosTest::Args args;
    Bundle& bundle = group.bundles[b];
    const index_t before = column;
    for (std::size_t s = 0; s < LanczosTest::at_a_time && b * LanczosTest::at_a_time + s < group.slots.size(); ++s) {
      Slot<T>& slot = group.slots[b * LanczosTest::at_a_time + s];
      if (!slot.job || slot.steps >= capacity()) continue;
      slot.steps += steps;
      args.of[s] = {goal(*slot.job), column, steps, slot.tests == 0, slot.steps >= first_test(*slot.job)};
      ++slot.tests;
      column += steps;
    }
    if (column == before) return column;
    bundle.older = std::move(bundle.newer);
    bundle.newer.emplace(runtime_, Shape{2, LanczosTest::at_a_time}, "verdicts");
    insert_on_core<LanczosTest>(graph_, urgent, args, coefficients, *bundle.histories, **bundle.newer);
    return column;
  }

  /// Steps before which a test would only cost time: what about 9 of 10 intervals need, and less where the space is
  /// small.
  index_t first_test(const Job& job) const {
    const index_t wanted = std::max(job.interval.count[0], job.interval.count[1]);
    return std::min({capacity(), 2 * wanted + options_.dk, cauchy_rows(A_.n(), 0)});
  }

  using Verdicts = std::array<std::array<index_t, 2>, LanczosTest::at_a_time>;

  static Verdicts read(const Single<index_t>& tile) {
    const auto found = (*tile).read();
    Verdicts verdicts;
    for (index_t s = 0; s < LanczosTest::at_a_time; ++s)
      verdicts[static_cast<std::size_t>(s)] = {found(0, s), found(1, s)};
    return verdicts;
  }

  /// Ends the runs that the round before found complete, and those that may not step any more.
  void decide(Group<T>& group, std::size_t b) {
    Bundle& bundle = group.bundles[b];
    std::optional<Verdicts> older, newer;
    for (std::size_t s = 0; s < LanczosTest::at_a_time && b * LanczosTest::at_a_time + s < group.slots.size(); ++s) {
      Slot<T>& slot = group.slots[b * LanczosTest::at_a_time + s];
      if (!slot.job) continue;
      const auto complete = [&](const Verdicts& v) {
        return v[s][0] >= slot.job->interval.count[0] && v[s][1] >= slot.job->interval.count[1];
      };
      bool done = false;
      if (slot.tests >= 2) {
        if (!older) older = read(*bundle.older);
        done = complete(*older);
      }
      const bool at_limit = slot.steps >= capacity();
      if (!done && !at_limit) continue;
      if (!done) {
        if (!newer) newer = read(*bundle.newer);
        done = complete(*newer);
      }
      if (done)
        finish(slot, bundle, static_cast<index_t>(s));
      else if (slot.job->attempt + 1 >= options_.max_attempts && !options_.divide)
        take_what_there_is(slot, bundle, static_cast<index_t>(s), (*newer)[s]);
      else
        retry(*slot.job);
      slot.job.reset();
      --in_flight_;
    }
  }

  void retry(Job job) {
    ++result_.relaunches;
    if (++job.attempt < options_.max_attempts) {
      job.shift = shift_of(job.interval, job.attempt);
      waiting_.push_back(job);
    } else if (options_.divide) {
      divide(job.interval);
    } else {
      result_.shortages.push_back({job.interval.low, job.interval.high, 0, job.interval.total()});
    }
  }

  void take_what_there_is(Slot<T>& slot, const Bundle& bundle, index_t which, const std::array<index_t, 2>& found) {
    SpectrumInterval& i = slot.job->interval;
    const index_t expected = i.total();
    i.count = found;
    result_.shortages.push_back({i.low, i.high, i.total(), expected});
    if (i.total() > 0) finish(slot, bundle, which);
  }

  void divide(SpectrumInterval i) {
    ++result_.divisions;
    if (i.high - i.low <= 4 * toeplitz_resolution(A_)) {
      i.cluster = true;
      return add(i);
    }
    const double middle = (i.low + i.high) / 2;
    const Inertia at = toeplitz_count<T>(graph_, A_, std::span(&middle, 1)).front();
    ++result_.counts;
    SpectrumInterval left = i, right = i;
    left.high = right.low = at.shift;
    right.below = at.below;
    for (std::size_t p = 0; p < 2; ++p) {
      left.count[p] = std::clamp<index_t>(at.below[p] - i.below[p], 0, i.count[p]);
      right.count[p] = i.count[p] - left.count[p];
    }
    if (left.total() > 0) add(left);
    if (right.total() > 0) add(right);
  }

  void finish(const Slot<T>& slot, const Bundle& bundle, index_t which) {
    const Job& job = *slot.job;
    const index_t most = std::max(job.interval.count[0], job.interval.count[1]);
    Single<T> z(runtime_, {slot.steps, 2 * most}, "z");
    Finished<T> f{job, Single<T>(runtime_, {A_.n(), most}, "x"), Single<double>(runtime_, {4, most}, "pairs")};
    insert_on_core<RitzSelect<T>>(graph_, urgent, {goal(job), which}, *bundle.histories, *z);
    graph_.insert<RitzPairs<T>>(on_gpu, {}, A_.blocks(), A_.tables(), *slot.basis, *z, *f.x, *f.pairs, work());
    finished_.push_back(std::move(f));
  }

  static double worst(const Block<const double>& pairs, const SpectrumInterval& i) {
    double most = 0;
    for (index_t part = 0; part < 2; ++part)
      for (index_t j = 0; j < i.count[static_cast<std::size_t>(part)]; ++j)
        if (!(pairs(2 * part + 1, j) <= most)) most = pairs(2 * part + 1, j);
    return most;
  }

  /// Residuals above this are tried again with another shift: an eigenvalue very near to a shift spoils the others.
  double accurate() const {
    const double scale = 3 * A_.rms() + std::abs(A_.mean());
    return std::is_same_v<T, float> ? std::numeric_limits<double>::infinity()
           : options_.vectors       ? 3e-13 * scale
                                    : 1e-8 * scale;
  }

  /// Takes the values of what has finished, but for the `rest` that finished last.
  void harvest(std::size_t rest) {
    for (; finished_.size() > rest; finished_.pop_front()) {
      const Finished<T>& f = finished_.front();
      const SpectrumInterval& i = f.job.interval;
      std::vector<std::pair<double, index_t>> order;  // part * columns + column
      const index_t columns = (*f.x).cols();
      {
        const auto pairs = (*f.pairs).read();
        if (f.job.attempt + 1 < options_.max_attempts && worst(pairs, i) > accurate()) {
          retry(f.job);
          continue;
        }
        for (index_t part = 0; part < 2; ++part)
          for (index_t j = 0; j < i.count[static_cast<std::size_t>(part)]; ++j) {
            keep(pairs(2 * part, j), pairs(2 * part + 1, j), static_cast<std::size_t>(part));
            order.emplace_back(pairs(2 * part, j), part * columns + j);
          }
      }
      if (!options_.vectors) continue;
      std::vector<index_t> rank(order.size());
      std::iota(rank.begin(), rank.end(), index_t{0});
      std::sort(rank.begin(), rank.end(), [&](index_t a, index_t b) {
        return order[static_cast<std::size_t>(a)] < order[static_cast<std::size_t>(b)];
      });
      Single<index_t> places(runtime_, {columns, 2}, "places");
      Placed placed{i.below[0] + i.below[1] - base_, Single<T>(runtime_, {A_.n(), i.total()}, "vectors")};
      std::vector<index_t> place(order.size());
      for (std::size_t r = 0; r < rank.size(); ++r) place[static_cast<std::size_t>(rank[r])] = static_cast<index_t>(r);
      {
        const auto at = (*places).write();
        std::fill_n(at.data, 2 * columns, index_t{-1});
        for (std::size_t k = 0; k < order.size(); ++k) {
          at(order[k].second % columns, order[k].second / columns) = place[k];
          places_.push_back(placed.first + place[k]);
        }
      }
      insert_on_core<FromSineBasis<T>>(graph_, {}, {}, *f.x, *places, *placed.vectors);
      placed_.push_back(std::move(placed));
    }
    store(2 * static_cast<std::size_t>(options_.window));
  }

  /// Copies vectors to the result, but for the `rest` that were asked for last.
  void store(std::size_t rest) {
    for (; placed_.size() > rest; placed_.pop_front()) {
      const auto v = (*placed_.front().vectors).read();
      for (index_t j = 0; j < v.cols; ++j)
        std::copy_n(&v(0, j), A_.n(), &result_.vectors[static_cast<std::size_t>(A_.n() * (placed_.front().first + j))]);
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
    const index_t n = A_.n();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] == static_cast<index_t>(i)) continue;
      std::copy_n(&result_.vectors[static_cast<std::size_t>(n * places_[i])], n,
                  &result_.vectors[i * static_cast<std::size_t>(n)]);
    }
    result_.vectors.resize(places_.size() * static_cast<std::size_t>(n));
  }

  /// Vectors of one interval are orthogonal as their basis was; those on both sides of a boundary overlap by about
  /// their residuals over their distance, which is taken away where it is more than rounding.
  void orthogonalize(const std::vector<SpectrumInterval>& intervals) {
    const auto n = static_cast<std::size_t>(A_.n());
    std::size_t next = 0;
    for (const SpectrumInterval& i : intervals) {
      while (next < result_.values.size() && result_.values[next] < i.low) ++next;
      for (std::size_t above = next; above < result_.values.size() && result_.values[above] < i.high; ++above) {
        bool near = false;
        T* const v = &result_.vectors[above * n];
        for (std::size_t below = next; below-- > 0;) {
          const double gap = result_.values[above] - result_.values[below],
                       residual = std::max(result_.residuals[above], result_.residuals[below]);
          if (gap > 1e11 * residual) break;
          if (result_.symmetry[above] != result_.symmetry[below]) continue;
          const T* const u = &result_.vectors[below * n];
          const T overlap = std::inner_product(u, u + n, v, T(0));
          for (std::size_t k = 0; k < n; ++k) v[k] -= overlap * u[k];
          near = true;
        }
        if (!near) break;
        const T norm = std::sqrt(std::inner_product(v, v + n, v, T(0)));
        for (std::size_t k = 0; k < n; ++k) v[k] /= norm;
      }
    }
  }

  /// Drops what was found beyond the `smallest` or `largest` wanted.
  void trim() {
    const auto wanted = static_cast<std::size_t>(options_.smallest > 0 ? options_.smallest : options_.largest);
    if (wanted == 0 || result_.values.size() <= wanted) return;
    const std::size_t more = result_.values.size() - wanted, n = static_cast<std::size_t>(A_.n());
    const auto cut = [&](auto& v, std::size_t each) {
      const auto from = static_cast<std::ptrdiff_t>(options_.smallest > 0 ? wanted * each : 0);
      v.erase(v.begin() + from, v.begin() + from + static_cast<std::ptrdiff_t>(more * each));
    };
    cut(result_.values, 1);
    cut(result_.residuals, 1);
    cut(result_.symmetry, 1);
    if (options_.vectors) cut(result_.vectors, n);
    result_.expected = static_cast<index_t>(wanted);
  }

  struct Placed {
    index_t first;  // column of the result
    Single<T> vectors;
  };

  Runtime& runtime_;
  Graph& graph_;
  std::span<const T> t_;
  SpectrumOptions options_;
  SineToeplitz<T> A_;
  Single<T> starts_;
  std::vector<Group<T>> groups_;
  std::deque<Job> waiting_;
  std::deque<Inverses<T>> prepared_;
  std::deque<std::size_t> next_prepared_;
  std::deque<Finished<T>> finished_;
  std::deque<Placed> placed_;
  std::vector<index_t> places_;  // of the values found, among the vectors
  index_t in_flight_ = 0, shifts_ = 0, base_ = 0;
  Spectrum<T> result_;
};

}  // namespace

template <class T>
Spectrum<T> toeplitz_spectrum(Graph& g, std::span<const T> t, const SpectrumOptions& options) {
  return Solver<T>(g, t, options).run();
}

template Spectrum<float> toeplitz_spectrum(Graph&, std::span<const float>, const SpectrumOptions&);
template Spectrum<double> toeplitz_spectrum(Graph&, std::span<const double>, const SpectrumOptions&);

}  // namespace tesela
