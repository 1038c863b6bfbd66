#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>
#include <tesela/codelets/toeplitz/lanczos.hpp>

#include <deque>
#include <functional>
#include <optional>

// What toeplitz_spectrum is made of; no part of the interface.
namespace tesela::detail {

/// A tile of its own.
template <class T>
struct Single {
  TileMatrix<T> matrix;
  Single(Runtime& runtime, Shape shape, const char* name)
      : matrix(runtime, shape.rows, shape.cols, {std::max<index_t>(1, shape.rows), std::max<index_t>(1, shape.cols)},
               name) {}
  Tile<T> operator*() const { return matrix(0, 0); }
};

/// Lanczos steps that a run may take at most, with `per_interval` decided.
index_t krylov_limit(index_t n, const SpectrumOptions& options);

/// Whether each solve is refined: vectors need it, and only the inverse is cheap enough.
inline bool refined(const SpectrumOptions& o) { return o.vectors && o.solver == ToeplitzSolver::cauchy; }

/// The residual of a Ritz value, relative to it, that suits the precision.
template <class T>
double spectrum_tolerance(bool vectors) {
  return std::is_same_v<T, float> ? 2e-6 : vectors ? 1e-14 : 1e-10;
}

/// What residuals, and errors of eigenvalues, may be, relative to the largest eigenvalue (docs/toeplitz.md).
struct SpectrumBounds {
  double residual, error;
};
template <class T>
SpectrumBounds spectrum_bounds(index_t n, const SpectrumOptions& options);

/// Up to this order LAPACK finds what the search could not do well enough.
constexpr index_t largest_dense = 2048;

/// An interval whose eigenvalues are to be found, with the shift it is tried at.
struct Job {
  SpectrumInterval interval;
  index_t attempt = 0;
  double shift = 0;
};

/// The pairs of a run that has found all it was asked for: job.interval.count of each part (RitzPairs).
template <class T>
struct Finished {
  Job job;
  Single<T> x;
  Single<double> pairs;
};

/// The eigenpairs of many intervals, each by a two-way Lanczos process on the inverse at a shift inside it.
///
///   waiting jobs --(a batch of inverses)--> prepared --(a free slot)--> in flight --(all found)--> finished
///        ^                   |                               |                           |
///        +--- a new shift, or half the interval: breakdown, or no convergence, or inaccurate
///
/// A slot holds one run; a group's slots step side by side, by one task, and each bundle of them is tested by one task.
template <class T>
class ToeplitzSearch {
 public:
  /// What it did, and the intervals that it could not finish, are added to `result`.
  ToeplitzSearch(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, Spectrum<T>& result);

  /// An interval to be searched.
  void add(const SpectrumInterval& interval);

  /// Searches until nothing is left; `take` gets each interval in turn, with values that can be read.
  void run(const std::function<void(Finished<T>&&)>& take);

 private:
  /// Inverses at the shifts of several jobs, computed by one task.
  struct Inverses {
    std::vector<Job> jobs;
    Single<T> inverse;
    Single<double> report, quality;
    std::size_t next = 0;                                     // job to be started
    std::vector<double> seen_report = {}, seen_quality = {};  // these tiles, once they have been read
  };
  /// One run in flight.
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
  struct Group {
    std::size_t number;  // and its GPU's: slots are too large to move
    std::vector<Slot> slots;
    std::vector<Bundle> bundles;
  };
  using Verdicts = std::array<std::array<index_t, 2>, kernels::LanczosTest::at_a_time>;

  // Before a run: the shift, the inverse, the start.
  double shift_of(const SpectrumInterval& i, index_t attempt);
  Single<T> starts() const;
  void prepare();
  void invert();
  bool usable(Inverses& batch, index_t i, const Job& job) const;
  bool start(const Group& group, Slot& slot);
  // Runs.
  void make_groups();
  void round(Group& group);
  void step(Group& group);
  index_t test(Group& group, std::size_t b, const Tile<double>& coefficients, index_t column, index_t steps);
  void decide(Group& group, std::size_t b);
  static Verdicts read(const Single<index_t>& tile);
  // After a run.
  void finish(const Group& group, const Slot& slot, const Bundle& bundle, index_t which);
  void take_what_there_is(const Group& group, Slot& slot, const Bundle& bundle, index_t which,
                          const std::array<index_t, 2>& found);
  void retry(Job job);
  void divide(const Job& job);
  void harvest(std::size_t rest, const std::function<void(Finished<T>&&)>& take);

  double scale() const { return 3 * matrix_.rms() + std::abs(matrix_.mean()); }
  double accepted() const;
  double accurate() const;
  index_t capacity() const;
  index_t first_test(const Job& job) const;
  kernels::LanczosGoal goal(const Job& job) const;
  bool levinson() const { return options_.solver == ToeplitzSolver::levinson; }
  Tile<T> work();
  Tile<T> levinson_work();

  Runtime& runtime_;
  Graph& graph_;
  const SineToeplitz<T>& matrix_;
  const SpectrumOptions& options_;
  Spectrum<T>& result_;
  Single<T> starts_;
  std::vector<Group> groups_;
  std::deque<Job> waiting_;
  std::deque<Inverses> prepared_;
  std::deque<Finished<T>> finished_;
  index_t in_flight_ = 0, shifts_ = 0;
  std::size_t batches_ = 0;
};

}  // namespace tesela::detail
