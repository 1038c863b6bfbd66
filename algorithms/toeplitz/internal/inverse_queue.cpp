#include <tesela/algorithms/toeplitz/internal/inverse_queue.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tesela::detail {

using namespace kernels;
namespace {

/// Returns the start vectors: column 0 for the first attempt, the others for later ones; each part has unit norm.
template <class T>
OneTile<T> start_vectors(Runtime& runtime, index_t n, const SpectrumOptions& options) {
  const index_t columns = std::min<index_t>(options.max_attempts, 15) + 1;
  OneTile<T> starts(runtime, {n, columns}, "starts");
  const auto v = (*starts).write();
  const Generator<double> random{Pattern::uniform, 0, 0, options.seed};
  for (index_t j = 0; j < columns; ++j)
    for (int part = 0; part < 2; ++part) {
      const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
      double norm = 0;
      for (int pass = 0; pass < 2; ++pass)
        for (index_t a = 0; a < rows; ++a) {
          const double f = static_cast<double>(2 * a + part + 1) * std::numbers::pi / static_cast<double>(n + 1);
          const double e = j == 0 && options.fixed_start ? std::sin(f) : random.uniform(first + a, j);
          if (pass == 0)
            norm += e * e;
          else
            v(first + a, j) = static_cast<T>(norm > 0 ? e / std::sqrt(norm) : 0);
        }
    }
  return starts;
}

/// Returns the largest harmless residual. The error of a Rayleigh quotient is the square of the residual over the gap
/// to the next eigenvalue. Refinement tolerates a rough inverse, and a large tolerance makes better inverses useless.
template <class T>
double harmless(const SineToeplitz<T>& A, const SpectrumOptions& options) {
  const double least = std::is_same_v<T, float> ? 1e-3 : refined(options) ? 1e-8 : 1e-9;
  return std::max(least, options.tolerance) * estimated_norm(A);
}

}  // namespace

/// Computes inverses in advance for all groups (on cores for all runs); if one GPU waited for its inverses, the others
/// would have no work.
template <class T>
InverseQueue<T>::InverseQueue(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, std::size_t groups)
    : graph_(g),
      matrix_(A),
      options_(options),
      ahead_(g.runtime().gpus() > 0 ? groups
                                    : static_cast<std::size_t>(std::max(1, g.runtime().cpus() * g.runtime().ranks()))),
      starts_(start_vectors<T>(g.runtime(), A.n(), options)) {}

template <class T>
void InverseQueue<T>::add(const SpectrumInterval& interval) {
  waiting_.push_back({interval, 0, shift_of(interval, 0)});
}

template <class T>
void InverseQueue<T>::add_again(SearchJob job) {
  job.shift = shift_of(job.interval, job.attempt);
  waiting_.push_back(job);
}

template <class T>
double InverseQueue<T>::shift_of(const SpectrumInterval& i, index_t attempt) {
  if (attempt == 0 && options_.midpoint) return (i.low + i.high) / 2;
  const Generator<double> random{Pattern::uniform, 0, 0, options_.seed + 1};
  return i.low + (i.high - i.low) * (0.5 + 0.45 * random.uniform(shifts_++, 0));
}

template <class T>
void InverseQueue<T>::prepare() {
  while (prepared_.size() < ahead_ && !waiting_.empty()) invert(place_with_fewest_batches());
}

template <class T>
std::size_t InverseQueue<T>::places() const {
  const Runtime& runtime = graph_.runtime();
  return static_cast<std::size_t>(std::max(1, runtime.gpus()) * runtime.ranks());
}

/// Returns the place with the fewest ready batches; among equals the next in turn.
template <class T>
std::size_t InverseQueue<T>::place_with_fewest_batches() {
  std::vector<std::size_t> ready(places());
  for (const Batch& batch : prepared_) ++ready[batch.place];
  std::size_t found = batches_++ % ready.size();
  for (std::size_t d = 1; d < ready.size(); ++d)
    if (const std::size_t other = (found + d) % ready.size(); ready[other] < ready[found]) found = other;
  return found;
}

/// Returns whether two tasks share each inverse. The steps of runs on tiles read the inverse of a part alone.
template <class T>
bool InverseQueue<T>::by_parts() const {
  return options_.tasks == LanczosTasks::tiles && graph_.runtime().gpus() == 0;
}

/// Inserts the inverses for waiting jobs, as many as a group has slots.
template <class T>
void InverseQueue<T>::invert(std::size_t place) {
  Runtime& runtime = graph_.runtime();
  const index_t n = matrix_.n(),
                batch_size = runtime.gpus() > 0 ? std::max(options_.group, cauchy_batch(n)) : options_.group;
  const auto count = std::min(waiting_.size(), static_cast<std::size_t>(batch_size));
  const auto shifts = static_cast<index_t>(count);
  constexpr index_t rows = CauchyReport::rows;
  const bool parts = by_parts();
  Batch batch{place,
              {},
              TileMatrix<T>(runtime, n, 3 * shifts, {parts ? cauchy_rows(n, 0) : n, 3 * shifts}, "inverse"),
              TileMatrix<double>(runtime, rows, 2 * shifts, {rows, parts ? 1 : 2 * shifts}, "report"),
              TileMatrix<double>(runtime, 2, shifts, {parts ? 1 : 2, shifts}, "quality")};
  const OneTile<double> sigma(runtime, {shifts, 1}, "sigma");
  {
    const auto at = (*sigma).write();
    for (std::size_t i = 0; i < count; ++i) {
      at.data[i] = waiting_.front().shift;
      batch.jobs.push_back(waiting_.front());
      waiting_.pop_front();
    }
  }
  if (parts) {
    for (int part = 0; part < 2; ++part)
      graph_.insert<CauchyInvertPart<T>>({part}, matrix_.blocks(), matrix_.tables(), *sigma, *starts_,
                                         batch.inverse(part, 0), batch.report(0, part), batch.quality(part, 0),
                                         graph_.scratch<T>(cauchy_invert_part_rows(n), 1));
  } else if (!levinson()) {
    const Priority gpu = on_gpu_number(place);
    graph_.insert<CauchyInvert<T>>(gpu, {}, matrix_.blocks(), *sigma, batch.inverse(0, 0), batch.report(0, 0),
                                   graph_.scratch<T>(cauchy_table(n), 1));
    graph_.insert<CauchyInverseError<T>>(gpu, {}, matrix_.blocks(), matrix_.tables(), *sigma, batch.inverse(0, 0),
                                         *starts_, batch.quality(0, 0), lanczos_scratch<T>(graph_, n, options_));
  }
  inversions_ += shifts;
  prepared_.push_back(std::move(batch));
}

/// Returns whether the inverse at a shift is good enough: no breakdown, and its rounding errors change Ritz pairs at
/// the ends of the interval by no more than allowed. The second to last attempt accepts larger errors.
template <class T>
bool InverseQueue<T>::usable(Batch& batch, index_t i, const SearchJob& job) const {
  if (levinson()) return true;  // the first step detects a breakdown
  if (batch.seen_report.empty()) {
    batch.seen_report.resize(static_cast<std::size_t>(batch.report.m() * batch.report.n()));
    batch.seen_quality.resize(static_cast<std::size_t>(batch.quality.m() * batch.quality.n()));
    batch.report.copy_to(batch.seen_report.data(), batch.report.m());
    batch.quality.copy_to(batch.seen_quality.data(), batch.quality.m());
  }
  const Block<const double> report{batch.seen_report.data(), CauchyReport::rows, 0, CauchyReport::rows},
      quality{batch.seen_quality.data(), 2, 0, 2};
  const double reach = std::max(job.interval.high - job.shift, job.shift - job.interval.low);
  for (index_t part = 0; part < 2; ++part) {
    if (cauchy_rows(matrix_.n(), static_cast<int>(part)) == 0) continue;
    if (report(CauchyReport::breakdown, 2 * i + part) != 0 || !std::isfinite(quality(part, i))) return false;
    if (job.attempt + 2 < options_.max_attempts && quality(part, i) * reach > harmless(matrix_, options_)) return false;
  }
  return true;
}

template <class T>
std::optional<typename InverseQueue<T>::Start> InverseQueue<T>::start(Priority where) {
  const std::size_t place = static_cast<std::size_t>(where.device) % places();
  if (prepared_.empty()) {
    if (waiting_.empty()) return std::nullopt;
    invert(place);
    prepare();
  }
  const auto here =
      std::find_if(prepared_.begin(), prepared_.end(), [&](const Batch& batch) { return batch.place == place; });
  const auto chosen = here != prepared_.end() ? here : prepared_.begin();
  Batch& batch = *chosen;
  const std::size_t i = batch.next++;
  const SearchJob job = batch.jobs[i];
  const auto number = static_cast<index_t>(i);
  const Start start{job, usable(batch, number, job), batch.inverse, number, *starts_, job.attempt % (*starts_).cols()};
  if (batch.next == batch.jobs.size()) prepared_.erase(chosen);
  return start;
}

TESELA_CLASSES_FOR_REALS(InverseQueue)

}  // namespace tesela::detail
