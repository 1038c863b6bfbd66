#include <tesela/algorithms/support/insert_or_run.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_points.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_search.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tesela::detail {

using namespace kernels;

index_t krylov_limit(index_t n, const SpectrumOptions& options) {
  const index_t whole_space = cauchy_rows(n, 0) + 1;
  const double steps = std::floor(options.krylov_factor * static_cast<double>(options.per_interval)) +
                       static_cast<double>(options.krylov_more);
  return std::max<index_t>(2, steps < static_cast<double>(whole_space) ? static_cast<index_t>(steps) : whole_space);
}

template <class T>
ToeplitzSearch<T>::ToeplitzSearch(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options,
                                  Spectrum<T>& result)
    : runtime_(g.runtime()), graph_(g), matrix_(A), options_(options), result_(result), starts_(starts()) {}

template <class T>
void ToeplitzSearch<T>::add(const SpectrumInterval& interval) {
  waiting_.push_back({interval, 0, shift_of(interval, 0)});
}

template <class T>
void ToeplitzSearch<T>::run(const std::function<void(Finished<T>&&)>& take) {
  make_groups();
  prepare();
  while (!waiting_.empty() || !prepared_.empty() || in_flight_ > 0 || !finished_.empty()) {
    for (Group& group : groups_) round(group);
    // The last that finished are left alone, as many as step at a time: the workers are busy with them.
    const bool end = waiting_.empty() && prepared_.empty() && in_flight_ == 0;
    harvest(end ? 0 : static_cast<std::size_t>(in_flight_), take);
  }
}

/// The next dk steps of a group's runs and their tests are inserted; then the tests of the dk steps before are read.
template <class T>
void ToeplitzSearch<T>::round(Group& group) {
  // Side by side from the start, so that all are tested in the same steps.
  if (std::none_of(group.slots.begin(), group.slots.end(), [](const Slot& slot) { return slot.job.has_value(); }))
    for (Slot& slot : group.slots)
      if (!start(group, slot)) break;
  step(group);
  prepare();
  for (std::size_t b = 0; b < group.bundles.size(); ++b) decide(group, b);
}

// Before a run.

template <class T>
double ToeplitzSearch<T>::shift_of(const SpectrumInterval& i, index_t attempt) {
  if (attempt == 0 && options_.midpoint) return (i.low + i.high) / 2;
  const Generator<double> random{Pattern::uniform, 0, 0, options_.seed + 1};
  return i.low + (i.high - i.low) * (0.5 + 0.45 * random.uniform(shifts_++, 0));
}

/// Column 0 the first start, the others for the attempts after it; each part of unit norm.
template <class T>
Single<T> ToeplitzSearch<T>::starts() const {
  const index_t n = matrix_.n(), columns = std::min<index_t>(options_.max_attempts, 15) + 1;
  Single<T> starts(runtime_, {n, columns}, "starts");
  const auto v = (*starts).write();
  const Generator<double> random{Pattern::uniform, 0, 0, options_.seed};
  for (index_t j = 0; j < columns; ++j)
    for (int part = 0; part < 2; ++part) {
      const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
      double norm = 0;
      for (int pass = 0; pass < 2; ++pass)
        for (index_t a = 0; a < rows; ++a) {
          const double f = static_cast<double>(2 * a + part + 1) * std::numbers::pi / static_cast<double>(n + 1);
          const double e = j == 0 && options_.fixed_start ? std::sin(f) : random.uniform(first + a, j);
          if (pass == 0)
            norm += e * e;
          else
            v(first + a, j) = static_cast<T>(norm > 0 ? e / std::sqrt(norm) : 0);
        }
    }
  return starts;
}

/// Inverses for as many groups as there are (runs, on cores) are computed ahead: to wait for some on one GPU would
/// leave the others without work.
template <class T>
void ToeplitzSearch<T>::prepare() {
  const std::size_t ahead =
      runtime_.gpus() > 0 ? groups_.size() : static_cast<std::size_t>(std::max(1, runtime_.cpus()));
  while (prepared_.size() < ahead && !waiting_.empty()) invert();
}

/// Inverts at the shifts of the jobs that wait, as many as a group has room for.
template <class T>
void ToeplitzSearch<T>::invert() {
  const index_t batch_size = runtime_.gpus() > 0 ? std::max(options_.group, cauchy_batch(matrix_.n())) : options_.group;
  const auto count = std::min(waiting_.size(), static_cast<std::size_t>(batch_size));
  const auto shifts = static_cast<index_t>(count);
  Inverses batch{{},
                 Single<T>(runtime_, {matrix_.n(), 3 * shifts}, "inverse"),
                 Single<double>(runtime_, {CauchyReport::rows, 2 * shifts}, "report"),
                 Single<double>(runtime_, {2, shifts}, "quality")};
  const Single<double> sigma(runtime_, {shifts, 1}, "sigma");
  {
    const auto at = (*sigma).write();
    for (std::size_t i = 0; i < count; ++i) {
      at.data[i] = waiting_.front().shift;
      batch.jobs.push_back(waiting_.front());
      waiting_.pop_front();
    }
  }
  if (!levinson()) {
    const Priority gpu = on_gpu_number(batches_++);
    graph_.insert<CauchyInvert<T>>(gpu, {}, matrix_.blocks(), *sigma, *batch.inverse, *batch.report,
                                   graph_.scratch<T>(cauchy_table(matrix_.n()), 1));
    graph_.insert<CauchyQuality<T>>(gpu, {}, matrix_.blocks(), matrix_.tables(), *sigma, *batch.inverse, *starts_,
                                    *batch.quality, work());
  }
  result_.inversions += shifts;
  prepared_.push_back(std::move(batch));
}

/// Whether the inverse at a shift is good enough: no breakdown, and what rounding left of it changes the Ritz pairs
/// at the interval's ends by no more than is wanted. Where no shift does better, the last but one attempt is taken.
template <class T>
bool ToeplitzSearch<T>::usable(Inverses& batch, index_t i, const Job& job) const {
  if (levinson()) return true;  // the first step will show
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
    if (cauchy_rows(matrix_.n(), static_cast<int>(part)) == 0) continue;
    if (report(CauchyReport::breakdown, 2 * i + part) != 0 || !std::isfinite(quality(part, i))) return false;
    if (job.attempt + 2 < options_.max_attempts && quality(part, i) * reach > accepted()) return false;
  }
  return true;
}

/// Gives a slot the next job whose inverse is good; false when there is none.
template <class T>
bool ToeplitzSearch<T>::start(const Group& group, Slot& slot) {
  for (;;) {
    if (prepared_.empty()) {
      if (waiting_.empty()) return false;
      prepare();
    }
    Inverses& batch = prepared_.front();
    const std::size_t i = batch.next++;
    const Job job = batch.jobs[i];
    const bool good = usable(batch, static_cast<index_t>(i), job);
    if (good)
      graph_.insert<LanczosStart<T>>(on_gpu_number(group.number),
                                     {levinson() ? 0 : static_cast<index_t>(i), job.attempt % (*starts_).cols()},
                                     levinson() ? matrix_.blocks() : *batch.inverse, *starts_, *slot.basis);
    if (batch.next == batch.jobs.size()) prepared_.pop_front();
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

// Runs.

template <class T>
void ToeplitzSearch<T>::make_groups() {
  const index_t window = std::min(options_.window, static_cast<index_t>(waiting_.size()));
  for (index_t first = 0; first < window; first += options_.group) {
    Group& group = groups_.emplace_back(Group{groups_.size(), {}, {}});
    for (index_t s = first; s < std::min(window, first + options_.group); ++s) {
      group.slots.push_back({{}, 0, 0, Single<T>(runtime_, lanczos_slot(matrix_.n(), capacity()), "slot")});
      if ((s - first) % LanczosTest::at_a_time != 0) continue;
      group.bundles.push_back({Single<double>(runtime_, lanczos_histories(capacity()), "histories"), {}, {}});
      const auto all = (*group.bundles.back().histories).write();
      std::fill_n(all.data, all.rows * all.cols, 0.0);
    }
  }
}

template <class T>
void ToeplitzSearch<T>::step(Group& group) {
  typename LanczosSteps<T>::Args args;
  std::vector<Tile<T>> bases;
  index_t before_test = capacity(), room = capacity();
  for (const Slot& slot : group.slots) {
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
  args.refine = refined(options_);
  const Single<double> coefficients(runtime_, {4, args.steps * args.slots}, "coefficients");
  if (levinson())
    graph_.insert<LevinsonLanczosSteps<T>>(on_gpu_number(group.number),
                                           {args.steps, args.slots, args.first, args.shift}, matrix_.column(),
                                           *coefficients, levinson_work(), bases);
  else
    graph_.insert<LanczosSteps<T>>(on_gpu_number(group.number), args, matrix_.blocks(), matrix_.tables(), *coefficients,
                                   work(), bases);
  result_.steps += args.steps * args.slots;
  index_t column = 0;
  for (std::size_t b = 0; b < group.bundles.size(); ++b)
    column = test(group, b, *coefficients, column, static_cast<index_t>(args.steps));
}

/// Inserts the tests of a bundle's runs that just stepped, from column `column` of the coefficients on; returns the
/// column after theirs.
template <class T>
index_t ToeplitzSearch<T>::test(Group& group, std::size_t b, const Tile<double>& coefficients, index_t column,
                                index_t steps) {
  LanczosTest::Args args;
  Bundle& bundle = group.bundles[b];
  const index_t before = column;
  for (std::size_t s = 0; s < LanczosTest::at_a_time && b * LanczosTest::at_a_time + s < group.slots.size(); ++s) {
    Slot& slot = group.slots[b * LanczosTest::at_a_time + s];
    if (!slot.job || slot.steps >= capacity()) continue;
    slot.steps += steps;
    args.of[s] = {goal(*slot.job), column, steps, slot.tests == 0, slot.steps >= first_test(*slot.job)};
    ++slot.tests;
    column += steps;
  }
  if (column == before) return column;
  bundle.older = std::move(bundle.newer);
  bundle.newer.emplace(runtime_, Shape{2, LanczosTest::at_a_time}, "verdicts");
  insert_or_run<LanczosTest>(graph_, urgent, args, coefficients, *bundle.histories, **bundle.newer);
  return column;
}

template <class T>
typename ToeplitzSearch<T>::Verdicts ToeplitzSearch<T>::read(const Single<index_t>& tile) {
  const auto found = (*tile).read();
  Verdicts verdicts;
  for (index_t s = 0; s < LanczosTest::at_a_time; ++s)
    verdicts[static_cast<std::size_t>(s)] = {found(0, s), found(1, s)};
  return verdicts;
}

/// Ends the runs that the round before found complete, and those that may not step any more.
template <class T>
void ToeplitzSearch<T>::decide(Group& group, std::size_t b) {
  Bundle& bundle = group.bundles[b];
  std::optional<Verdicts> older, newer;
  for (std::size_t s = 0; s < LanczosTest::at_a_time && b * LanczosTest::at_a_time + s < group.slots.size(); ++s) {
    Slot& slot = group.slots[b * LanczosTest::at_a_time + s];
    if (!slot.job) continue;
    bool done = false, broken = false;
    const auto judge = [&](const Verdicts& v) {
      done = v[s][0] >= slot.job->interval.count[0] && v[s][1] >= slot.job->interval.count[1];
      broken = v[s][0] < 0;
    };
    if (slot.tests >= 2) {
      if (!older) older = read(*bundle.older);
      judge(*older);
    }
    const bool at_limit = slot.steps >= capacity();
    if (!done && !broken && !at_limit) continue;
    if (!done) {
      if (!newer) newer = read(*bundle.newer);
      judge(*newer);
    }
    if (done)
      finish(group, slot, bundle, static_cast<index_t>(s));
    else if (slot.job->attempt + 1 >= options_.max_attempts && !options_.divide)
      take_what_there_is(group, slot, bundle, static_cast<index_t>(s), broken ? std::array<index_t, 2>{} : (*newer)[s]);
    else
      retry(*slot.job);
    slot.job.reset();
    --in_flight_;
  }
}

// After a run.

template <class T>
void ToeplitzSearch<T>::finish(const Group& group, const Slot& slot, const Bundle& bundle, index_t which) {
  const Job& job = *slot.job;
  const index_t most = std::max(job.interval.count[0], job.interval.count[1]);
  const Single<T> z(runtime_, {slot.steps, 2 * most}, "z");
  Finished<T> f{job, Single<T>(runtime_, {matrix_.n(), most}, "x"), Single<double>(runtime_, {4, most}, "pairs")};
  insert_or_run<RitzSelect<T>>(graph_, urgent, {goal(job), which}, *bundle.histories, *z);
  graph_.insert<RitzPairs<T>>(on_gpu_number(group.number), {}, matrix_.blocks(), matrix_.tables(), *slot.basis, *z,
                              *f.x, *f.pairs, work());
  finished_.push_back(std::move(f));
}

template <class T>
void ToeplitzSearch<T>::take_what_there_is(const Group& group, Slot& slot, const Bundle& bundle, index_t which,
                                           const std::array<index_t, 2>& found) {
  SpectrumInterval& i = slot.job->interval;
  const index_t expected = i.total();
  i.count = found;
  result_.shortages.push_back({i.low, i.high, i.total(), expected});
  if (i.total() > 0) finish(group, slot, bundle, which);
}

template <class T>
void ToeplitzSearch<T>::retry(Job job) {
  ++result_.relaunches;
  if (++job.attempt < options_.max_attempts) {
    if (job.attempt == 1) ++result_.relaunched;
    job.shift = shift_of(job.interval, job.attempt);
    waiting_.push_back(job);
  } else if (options_.divide) {
    divide(job);
  } else {
    result_.shortages.push_back({job.interval.low, job.interval.high, 0, job.interval.total()});
  }
}

template <class T>
void ToeplitzSearch<T>::divide(const Job& job) {
  const SpectrumInterval& i = job.interval;
  const double width = i.high - i.low, middle = i.low + width / 2, resolution = toeplitz_resolution(matrix_);
  ++result_.divisions;
  if (width <= 4 * resolution) {
    result_.clusters.push_back(i);
    result_.clusters.back().cluster = true;
    return;
  }
  // Moved off an eigenvalue, the middle of a narrow interval could leave it. A count that rounding gets wrong is of an
  // eigenvalue so near to the middle that either half's run finds it (LanczosGoal::slack).
  const Nudge nudge = width > 1024 * resolution ? Nudge::either_side : Nudge::none;
  const Inertia at = count_at<T>(graph_, matrix_, std::span(&middle, 1), nudge, {.solver = options_.counter}).front();
  ++result_.counts;
  SpectrumInterval left = i, right = i;
  left.high = right.low = at.shift;
  for (std::size_t p = 0; p < 2; ++p) {
    left.count[p] = std::clamp<index_t>(at.below[p] - i.below[p], 0, i.count[p]);
    right.count[p] = i.count[p] - left.count[p];
    right.below[p] = i.below[p] + left.count[p];
  }
  if (left.total() > 0) add(left);
  if (right.total() > 0) add(right);
}

/// Hands over what has finished, but for the `rest` that finished last.
template <class T>
void ToeplitzSearch<T>::harvest(std::size_t rest, const std::function<void(Finished<T>&&)>& take) {
  const auto worst = [](const Finished<T>& f) {
    const auto pairs = (*f.pairs).read();
    double most = 0;
    for (index_t part = 0; part < 2; ++part)
      for (index_t j = 0; j < f.job.interval.count[static_cast<std::size_t>(part)]; ++j) {
        if (std::isnan(pairs(2 * part + 1, j))) return std::numeric_limits<double>::quiet_NaN();
        most = std::max(most, pairs(2 * part + 1, j));
      }
    return most;
  };
  for (; finished_.size() > rest; finished_.pop_front()) {
    Finished<T>& f = finished_.front();
    const double residual = worst(f);  // NaN: fewer pairs than the tests had promised
    // What the last attempt leaves is taken where LAPACK can do better afterwards, else the interval is divided.
    const bool last = f.job.attempt + 1 >= options_.max_attempts && (!options_.divide || matrix_.n() <= largest_dense);
    if (std::isnan(residual) || (!last && residual > accurate()))
      retry(f.job);
    else
      take(std::move(f));
  }
}

// What the choices come to.

/// Residuals that do no harm: a Rayleigh quotient's error is their square over the gap to the next eigenvalue. With
/// refinement the inverse may be rough. A tolerance at which pairs are worse anyway makes better inverses worthless.
template <class T>
double ToeplitzSearch<T>::accepted() const {
  const double harmless = std::is_same_v<T, float> ? 1e-3 : refined(options_) ? 1e-8 : 1e-9;
  return std::max(harmless, options_.tolerance) * scale();
}

/// Residuals above this are tried again with another shift: an eigenvalue very near to a shift spoils the others.
template <class T>
double ToeplitzSearch<T>::accurate() const {
  return spectrum_bounds<T>(matrix_.n(), options_).residual / 4 * scale();
}

template <class T>
SpectrumBounds spectrum_bounds(index_t n, const SpectrumOptions& options) {
  const double roundings = std::max(8.0, std::sqrt(static_cast<double>(n))) * std::numeric_limits<T>::epsilon();
  const double usual = spectrum_tolerance<T>(refined(options));
  // A pair of the inverse whose residual is `tolerance` is one of C to that times ||C - sigma I||, twice ||C|| at most.
  const double asked = options.tolerance > usual ? 4 * options.tolerance : 0;
  const double residual = std::is_same_v<T, float> ? 400 * roundings : 100 * usual;
  return {std::max(residual, asked), std::max(100 * roundings, asked)};
}
template SpectrumBounds spectrum_bounds<float>(index_t, const SpectrumOptions&);
template SpectrumBounds spectrum_bounds<double>(index_t, const SpectrumOptions&);

template <class T>
index_t ToeplitzSearch<T>::capacity() const {
  return krylov_limit(matrix_.n(), options_);
}

/// Steps before which a test would only cost time: what about 9 of 10 intervals need, and less where the space is
/// small.
template <class T>
index_t ToeplitzSearch<T>::first_test(const Job& job) const {
  const index_t wanted = std::max(job.interval.count[0], job.interval.count[1]);
  return std::min({capacity(), 2 * wanted + options_.dk, cauchy_rows(matrix_.n(), 0)});
}

template <class T>
LanczosGoal ToeplitzSearch<T>::goal(const Job& job) const {
  return {job.interval.low,   job.interval.high, job.shift, 2 * toeplitz_resolution(matrix_),
          options_.tolerance, job.interval.count};
}

template <class T>
Tile<T> ToeplitzSearch<T>::work() {
  const Shape shape = lanczos_work(matrix_.n(), capacity(), options_.group);
  return graph_.scratch<T>(shape.rows, shape.cols);
}

template <class T>
Tile<T> ToeplitzSearch<T>::levinson_work() {
  const Shape shape = levinson_lanczos_work(matrix_.n(), capacity(), options_.group);
  return graph_.scratch<T>(shape.rows, shape.cols);
}

template class ToeplitzSearch<float>;
template class ToeplitzSearch<double>;

}  // namespace tesela::detail
