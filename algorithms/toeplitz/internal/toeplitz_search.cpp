#include <tesela/algorithms/toeplitz/internal/inverse_queue.hpp>
#include <tesela/algorithms/toeplitz/internal/lanczos_group.hpp>
#include <tesela/algorithms/toeplitz/internal/lanczos_tiles.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_certificate.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_points.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_search.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace tesela::detail {
namespace {

/// Returns a lower bound of the largest computed eigenvalue: each interval contains at least one.
template <class T>
double least_norm(const SineToeplitz<T>& A, const std::vector<SpectrumInterval>& intervals) {
  double norm = A.rms();
  for (const SpectrumInterval& i : intervals) norm = std::max({norm, i.low, -i.high});
  return norm;
}

template <class T>
class Search {
 public:
  Search(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options,
         const std::vector<SpectrumInterval>& intervals)
      : graph_(g),
        matrix_(A),
        options_(options),
        bounds_(spectrum_bounds<T>(A.n(), options)),
        refines_by_counting_(!options.vectors && options.divide),
        norm_(least_norm(A, intervals)),
        accurate_(std::is_same_v<T, double> && refines_by_counting_ ? 0.8 * bounds_.residual * norm_
                                                                    : bounds_.residual / 4 * estimated_norm(A)),
        groups_(groups_for()),
        queue_(g, A, options, groups_.size()) {
    for (const SpectrumInterval& i : intervals) queue_.add(i);
  }

  SearchResult<T> run() {
    queue_.prepare();
    while (!queue_.empty() || in_flight_ > 0 || !finished_.empty()) {
      for (LanczosGroup<T>& group : groups_) round(group);
      // Do not wait for the last in_flight_ finished runs: the workers still process them.
      const bool end = queue_.empty() && in_flight_ == 0;
      keep_finished(end ? 0 : in_flight_);
    }
    result_.inversions = queue_.inversions();
    result_.tasks = options_.tasks;
    return std::move(result_);
  }

 private:
  std::vector<LanczosGroup<T>> groups_for() {
    std::vector<LanczosGroup<T>> groups;
    for (index_t first = 0; first < options_.window; first += options_.group)
      groups.emplace_back(graph_, matrix_, options_, groups.size(), std::min(options_.window - first, options_.group));
    return groups;
  }

  /// Inserts the next dk steps of a group's runs and their tests, then reads the tests of the previous dk steps.
  void round(LanczosGroup<T>& group) {
    if (group.idle()) fill(group);
    result_.steps += group.step();
    queue_.prepare();
    for (std::size_t s = 0; s < group.size(); ++s)
      if (const std::optional<RunEnd> end = group.end(s)) {
        conclude(group, s, *end);
        --in_flight_;
      }
  }

  /// Starts runs in all slots of an idle group at once, so that they are tested in the same steps.
  void fill(LanczosGroup<T>& group) {
    for (std::size_t s = 0; s < group.size();) {
      const auto start = queue_.start(group.where());
      if (!start) return;
      if (!start->good) {
        retry(start->job);
        continue;
      }
      group.begin(s++, *start);
      ++in_flight_;
    }
  }

  void conclude(const LanczosGroup<T>& group, std::size_t s, const RunEnd& end) {
    if (end.complete) {
      finished_.push_back(group.pairs(s, end.job));
    } else if (end.job.attempt + 1 >= options_.max_attempts && !options_.divide) {  // keep the pairs that were found
      SearchJob job = end.job;
      job.interval.count = end.found;
      result_.shortages.push_back(
          {job.interval.low, job.interval.high, job.interval.total(), end.job.interval.total()});
      if (job.interval.total() > 0) finished_.push_back(group.pairs(s, job));
    } else {
      retry(end.job);
    }
  }

  void retry(SearchJob job) {
    ++result_.relaunches;
    if (++job.attempt < options_.max_attempts) {
      if (job.attempt == 1) ++result_.relaunched;
      queue_.add_again(job);
    } else if (options_.divide) {
      divide(job.interval);
    } else {
      result_.shortages.push_back({job.interval.low, job.interval.high, 0, job.interval.total()});
    }
  }

  void divide(const SpectrumInterval& i) {
    const double width = i.high - i.low, middle = i.low + width / 2, resolution = toeplitz_resolution(matrix_);
    ++result_.divisions;
    if (width <= 4 * resolution) {
      result_.clusters.push_back(i);
      result_.clusters.back().cluster = true;
      return;
    }
    // In a narrow interval, moving the middle off an eigenvalue could leave the interval. If rounding makes a count
    // wrong, the eigenvalue is so near to the middle that the run of either half finds it (LanczosGoal::slack).
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
    if (left.total() > 0) queue_.add(left);
    if (right.total() > 0) queue_.add(right);
  }

  /// Keeps the finished runs, except the last `rest` of them.
  void keep_finished(std::size_t rest) {
    for (; finished_.size() > rest; finished_.pop_front()) {
      RunPairs<T>& run = finished_.front();
      const index_t vague = count_inaccurate_pairs(run);
      // After the last attempt the pairs are accepted if LAPACK can repeat the search; otherwise the interval is
      // divided.
      const bool last =
          run.job.attempt + 1 >= options_.max_attempts && (!options_.divide || matrix_.n() <= largest_dense);
      if (vague == lost ||
          (!last &&
           vague >
               (refines_by_counting_ ? std::clamp<index_t>(most_pairs_for_counting() - left_, 0, most_of_a_run) : 0))) {
        retry(run.job);
      } else {
        left_ += vague;
        keep(std::move(run));
      }
    }
  }

  /// Returns the number of a run's pairs with too large error bounds; `lost` if there are fewer pairs than the tests
  /// found. A residual above `accurate_` is tried again with another shift, because an eigenvalue very near to a shift
  /// spoils the others. The inverses at all shifts of an interval may lack the same pair; therefore a few such pairs,
  /// and a few that are too near to others, are left to refinement by counts (certify_search). Waits for the pairs.
  index_t count_inaccurate_pairs(const RunPairs<T>& run) const {
    const HostMatrix<double> pairs = run.pairs.to_host();
    const double enough = bounds_.error * norm_ / 2;
    index_t vague = 0;
    for (index_t part = 0; part < 2; ++part) {
      const index_t row = 2 * part, count = run.job.interval.count[static_cast<std::size_t>(part)];
      for (index_t j = 0; j < count; ++j) {
        const double residual = pairs(row + 1, j);
        if (std::isnan(residual)) return lost;
        double gap = std::numeric_limits<double>::infinity();
        if (j > 0) gap = pairs(row, j) - pairs(row, j - 1);
        if (j + 1 < count) gap = std::min(gap, pairs(row, j + 1) - pairs(row, j));
        const bool near = refines_by_counting_ && residual > accurate_ / 4 && residual * residual > enough * gap;
        if (residual > 64 * accurate_)
          vague += most_of_a_run + 1;  // about too many eigenvalues at a time
        else if (residual > accurate_ || near)
          ++vague;
      }
    }
    return vague;
  }

  /// Keeps an interval's values, and on request its vectors.
  void keep(RunPairs<T>&& run) {
    const SpectrumInterval& i = run.job.interval;
    IntervalPairs<T> piece{i.low, {}, {}, std::move(run.x)};
    {
      const HostMatrix<double> pairs = run.pairs.to_host();
      for (std::size_t part = 0; part < 2; ++part)
        for (index_t j = 0; j < i.count[part]; ++j) {
          const auto row = 2 * static_cast<index_t>(part);
          result_.values.push_back({pairs(row, j), pairs(row + 1, j), part, result_.pieces.size(), j});
          piece.values[part].push_back(pairs(row, j));
          piece.residual[part] = std::max(piece.residual[part], pairs(row + 1, j));
        }
    }
    if (options_.vectors) result_.pieces.push_back(std::move(piece));
  }

  Graph& graph_;
  const SineToeplitz<T>& matrix_;
  const SpectrumOptions& options_;
  /// Largest number of pairs of all runs that are left to counts; some room is left for pairs that turn out to be
  /// inaccurate later.
  index_t most_pairs_for_counting() const { return static_cast<index_t>(most_refined_claims(matrix_.n())) * 5 / 8; }

  static constexpr index_t most_of_a_run = 3;  // largest number of these pairs per run
  static constexpr index_t lost = std::numeric_limits<index_t>::max();

  SpectrumBounds bounds_;
  bool refines_by_counting_;  // whether certify_search refines values by counting
  double norm_, accurate_;
  index_t left_ = 0;
  std::vector<LanczosGroup<T>> groups_;
  InverseQueue<T> queue_;
  std::deque<RunPairs<T>> finished_;
  std::size_t in_flight_ = 0;
  SearchResult<T> result_;
};

}  // namespace

template <class T>
SearchResult<T> search_intervals(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options,
                                 const std::vector<SpectrumInterval>& intervals) {
  if (intervals.empty()) return {};
  SpectrumOptions decided = options;
  decided.window = std::min(options.window, static_cast<index_t>(intervals.size()));
  decided.tasks =
      steps_on_tiles(g.runtime(), A.n(), options, intervals.size()) ? LanczosTasks::tiles : LanczosTasks::fused;
  if (decided.tasks == LanczosTasks::tiles) decided.group = 1;
  return Search<T>(g, A, decided, intervals).run();
}

TESELA_FUNCTIONS_FOR_REALS(search_intervals)

}  // namespace tesela::detail
