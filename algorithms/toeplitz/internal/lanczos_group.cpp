#include <tesela/algorithms/support/insert_or_run.hpp>
#include <tesela/algorithms/toeplitz/internal/lanczos_group.hpp>

#include <algorithm>

namespace tesela::detail {

using namespace kernels;

constexpr std::size_t at_a_time = LanczosTest::at_a_time;

/// Writes nothing, but fixes the rank of a tile: a tile stays on the rank that writes it first.
template <class T>
struct Claim {
  static constexpr auto name = "claim";
  struct Args {};
  static void cpu(const Args&, Out<T>) {}
  static void cuda(CudaContext&, const Args&, Out<T>) {}
};

template <class T>
LanczosGroup<T>::LanczosGroup(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, std::size_t number,
                              index_t slots)
    : graph_(g), matrix_(A), options_(options), number_(number) {
  Runtime& runtime = g.runtime();
  for (index_t s = 0; s < slots; ++s) {
    Slot& slot = slots_.emplace_back();
    if (options.tasks == LanczosTasks::tiles)
      slot.tiles.emplace(g, A, options, lanczos_segments(runtime, A.n(), options));
    else
      slot.basis.emplace(runtime, lanczos_slot(A.n(), capacity()), "slot");
    if (runtime.ranks() > 1) g.insert<Claim<T>>(where(), {}, **slot.basis);
    if (s % LanczosTest::at_a_time != 0) continue;
    bundles_.push_back({OneTile<double>(runtime, lanczos_histories(capacity()), "histories"), {}, {}});
    const auto all = (*bundles_.back().histories).write();
    std::fill_n(all.data, all.rows * all.cols, 0.0);
  }
}

template <class T>
bool LanczosGroup<T>::idle() const {
  return std::none_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.job.has_value(); });
}

template <class T>
void LanczosGroup<T>::begin(std::size_t s, const typename InverseQueue<T>::Start& start) {
  Slot& slot = slots_[s];
  slot.job = start.job;
  slot.steps = 0;
  slot.tests = 0;
  if (slot.tiles)
    slot.tiles->begin(start);
  else if (options_.solver == ToeplitzSolver::levinson)  // needs no inverse
    graph_.insert<LanczosStart<T>>(where(), {0, start.start}, matrix_.blocks(), start.starts, **slot.basis);
  else
    graph_.insert<LanczosStart<T>>(where(), {start.number, start.start}, start.inverse(0, 0), start.starts,
                                   **slot.basis);
}

template <class T>
index_t LanczosGroup<T>::step() {
  std::vector<Slot*> runs;
  index_t before_test = capacity(), room = capacity();
  for (Slot& slot : slots_) {
    if (!slot.job || slot.steps >= capacity()) continue;
    before_test = std::min(before_test, first_test(*slot.job) - slot.steps);
    room = std::min(room, capacity() - slot.steps);
    runs.push_back(&slot);
  }
  if (runs.empty()) return 0;
  const index_t steps = std::min(std::max(before_test, options_.dk), room),
                all = steps * static_cast<index_t>(runs.size());
  const OneTile<double> coefficients(graph_.runtime(), {4, all}, "coefficients");
  if (slots_.front().tiles)
    slots_.front().tiles->steps(slots_.front().steps, steps, *coefficients);
  else
    insert_steps(steps, runs, *coefficients);
  index_t column = 0;
  for (std::size_t b = 0; b < bundles_.size(); ++b) column = test(b, *coefficients, column, steps);
  return all;
}

/// Inserts one task for the steps of all runs.
template <class T>
void LanczosGroup<T>::insert_steps(index_t steps, const std::vector<Slot*>& runs, const Tile<double>& coefficients) {
  typename LanczosSteps<T>::Args args;
  std::vector<Tile<T>> bases;
  for (const Slot* const run : runs) {
    args.first[bases.size()] = static_cast<int>(run->steps);
    args.shift[bases.size()] = run->job->shift;
    bases.push_back(**run->basis);
  }
  args.steps = static_cast<int>(steps);
  args.slots = static_cast<int>(bases.size());
  args.refine = refined(options_);
  if (options_.solver == ToeplitzSolver::levinson) {
    const Shape work = levinson_lanczos_work(matrix_.n(), capacity(), options_.group);
    graph_.insert<LevinsonLanczosSteps<T>>(where(), {args.steps, args.slots, args.first, args.shift}, matrix_.column(),
                                           coefficients, graph_.scratch<T>(work.rows, work.cols), bases);
  } else {
    graph_.insert<LanczosSteps<T>>(where(), args, matrix_.blocks(), matrix_.tables(), coefficients,
                                   lanczos_scratch<T>(graph_, matrix_.n(), options_), bases);
  }
}

/// Inserts the tests of a bundle's runs that have just stepped, from column `column` of the coefficients on. Returns
/// the next column.
template <class T>
index_t LanczosGroup<T>::test(std::size_t b, const Tile<double>& coefficients, index_t column, index_t steps) {
  LanczosTest::Args args;
  Bundle& bundle = bundles_[b];
  const index_t before = column;
  for (std::size_t s = 0; s < at_a_time && b * at_a_time + s < slots_.size(); ++s) {
    Slot& slot = slots_[b * at_a_time + s];
    if (!slot.job || slot.steps >= capacity()) continue;
    slot.steps += steps;
    args.of[s] = {goal(*slot.job), column, steps, slot.tests == 0, slot.steps >= first_test(*slot.job)};
    ++slot.tests;
    column += steps;
  }
  if (column == before) return column;
  bundle.older = std::move(bundle.newer);
  bundle.newer.emplace(graph_.runtime());
  insert_or_run<LanczosTest>(graph_, urgent, args, coefficients, *bundle.histories, bundle.newer->tile());
  return column;
}

template <class T>
const std::array<index_t, 2>& LanczosGroup<T>::Verdicts::of(std::size_t s) {
  if (!seen_) {
    const auto found = (*tile_).read();
    seen_.emplace();
    for (std::size_t k = 0; k < at_a_time; ++k)
      (*seen_)[k] = {found(0, static_cast<index_t>(k)), found(1, static_cast<index_t>(k))};
  }
  return (*seen_)[s];
}

/// Returns the end of a run that was complete in the previous round, or has no steps left.
template <class T>
std::optional<RunEnd> LanczosGroup<T>::end(std::size_t s) {
  Slot& slot = slots_[s];
  if (!slot.job) return std::nullopt;
  Bundle& bundle = bundles_[s / at_a_time];
  RunEnd end{*slot.job};
  bool broken = false;
  const auto judge = [&](Verdicts& verdicts) {
    const std::array<index_t, 2>& found = verdicts.of(s % at_a_time);
    broken = found[0] < 0;
    end.found = broken ? std::array<index_t, 2>{} : found;
    end.complete = found[0] >= end.job.interval.count[0] && found[1] >= end.job.interval.count[1];
  };
  if (slot.tests >= 2) judge(*bundle.older);
  if (!end.complete && !broken && slot.steps < capacity()) return std::nullopt;
  if (!end.complete) judge(*bundle.newer);
  slot.job.reset();
  return end;
}

template <class T>
RunPairs<T> LanczosGroup<T>::pairs(std::size_t s, const SearchJob& job) const {
  Runtime& runtime = graph_.runtime();
  const Slot& slot = slots_[s];
  const index_t most = std::max(job.interval.count[0], job.interval.count[1]);
  const auto which = static_cast<index_t>(s % at_a_time);
  const Tile<double> histories = *bundles_[s / at_a_time].histories;
  const bool parts = slot.tiles && !options_.vectors && runtime.gpus() == 0;  // a task for each part, without x
  RunPairs<T> run{job, OneTile<T>(runtime, {matrix_.n(), most}, "x"),
                  TileMatrix<double>(runtime, 4, most, {parts ? 2 : 4, most}, "pairs")};
  if (parts) {
    const Shape work = ritz_part_work(matrix_.n(), most);
    for (int part = 0; part < 2; ++part) {
      const OneTile<T> z(runtime, {slot.steps, most}, "z");
      graph_.insert<RitzSelect<T>>(urgent, {goal(job), which, part}, histories, *z);
      graph_.insert<RitzPairsPart<T>>({part}, matrix_.blocks(), matrix_.tables(), *z, run.pairs(part, 0),
                                      graph_.scratch<T>(work.rows, work.cols), slot.tiles->basis(part));
    }
    return run;
  }
  const OneTile<T> z(runtime, {slot.steps, 2 * most}, "z");
  insert_or_run<RitzSelect<T>>(graph_, urgent, {goal(job), which}, histories, *z);
  std::vector<Tile<T>> pieces;
  for (int part = 0; slot.tiles && part < 2; ++part)
    for (const Tile<T>& piece : slot.tiles->basis(part)) pieces.push_back(piece);
  if (!slot.tiles) pieces.push_back(**slot.basis);
  // In a slot the inverse precedes the basis: three columns.
  graph_.insert<RitzPairs<T>>(where(), {slot.tiles ? 0 : 3}, matrix_.blocks(), matrix_.tables(), *z, *run.x,
                              run.pairs(0, 0), lanczos_scratch<T>(graph_, matrix_.n(), options_), pieces);
  return run;
}

/// Returns the number of steps before the first test: about the steps that 9 of 10 intervals need, fewer for a small
/// space.
template <class T>
index_t LanczosGroup<T>::first_test(const SearchJob& job) const {
  const index_t wanted = std::max(job.interval.count[0], job.interval.count[1]);
  return std::min({capacity(), 2 * wanted + options_.dk, cauchy_rows(matrix_.n(), 0)});
}

template <class T>
LanczosGoal LanczosGroup<T>::goal(const SearchJob& job) const {
  return {job.interval.low,   job.interval.high, job.shift, 2 * toeplitz_resolution(matrix_),
          options_.tolerance, job.interval.count};
}

TESELA_CLASSES_FOR_REALS(LanczosGroup)

}  // namespace tesela::detail
