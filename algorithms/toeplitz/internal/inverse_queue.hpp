#pragma once

#include <tesela/algorithms/toeplitz/internal/computed_pairs.hpp>
#include <tesela/algorithms/toeplitz/internal/spectrum_options.hpp>
#include <tesela/codelets/toeplitz/lanczos/lanczos.hpp>
#include <tesela/codelets/toeplitz/lanczos/ritz.hpp>

#include <deque>
#include <optional>
#include <vector>

namespace tesela::detail {

/// An interval to be searched, with its shift.
struct SearchJob {
  SpectrumInterval interval;
  index_t attempt = 0;
  double shift = 0;
};

/// Returns scratch for steps, Ritz pairs and the quality of inverses.
template <class T>
Tile<T> lanczos_scratch(Graph& g, index_t n, const SpectrumOptions& options) {
  const Shape shape = kernels::lanczos_work(n, krylov_limit(n, options), options.group);
  return g.scratch<T>(shape.rows, shape.cols);
}

/// Queue of intervals that wait for a run, and of inverses at the shifts of the next runs, computed in advance, several
/// shifts per task.
template <class T>
class InverseQueue {
 public:
  /// `groups`: number of groups of runs that the queue serves.
  InverseQueue(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, std::size_t groups);

  /// Adds an interval at its first shift.
  void add(const SpectrumInterval& interval);
  /// Adds an interval at the shift of job.attempt.
  void add_again(SearchJob job);
  /// Returns whether all jobs have been handed out.
  bool empty() const { return waiting_.empty() && prepared_.empty(); }
  /// Inserts inverses until enough are ready.
  void prepare();

  struct Start {
    SearchJob job;
    bool good;              ///< whether the inverse at this shift is usable
    TileMatrix<T> inverse;  ///< n rows: one tile, or one for each part; not used by Levinson's recursion
    index_t number;         ///< number of the shift: the inverse is in columns 3 number ... 3 number + 2
    Tile<T> starts;
    index_t start;  ///< column of the start vectors
  };
  /// Hands out a job; returns nothing if there is no job. Prefers inverses of the place `where`, because inverses of
  /// another place may wait behind the steps there.
  std::optional<Start> start(Priority where);

  index_t inversions() const { return inversions_; }

 private:
  /// Inverses at the shifts of several jobs, computed by one task.
  struct Batch {
    std::size_t place;  // place of the task
    std::vector<SearchJob> jobs;
    TileMatrix<T> inverse;
    TileMatrix<double> report, quality;
    std::size_t next = 0;                                     // next job to hand out
    std::vector<double> seen_report = {}, seen_quality = {};  // contents of these tiles, once they have been read
  };

  double shift_of(const SpectrumInterval& i, index_t attempt);
  /// Returns the number of GPUs, or ranks, that share the work.
  std::size_t places() const;
  std::size_t place_with_fewest_batches();
  void invert(std::size_t place);
  bool by_parts() const;
  bool usable(Batch& batch, index_t i, const SearchJob& job) const;
  bool levinson() const { return options_.solver == ToeplitzSolver::levinson; }

  Graph& graph_;
  const SineToeplitz<T>& matrix_;
  const SpectrumOptions& options_;
  std::size_t ahead_;
  OneTile<T> starts_;
  std::deque<SearchJob> waiting_;
  std::deque<Batch> prepared_;
  index_t shifts_ = 0, inversions_ = 0;
  std::size_t batches_ = 0;
};

}  // namespace tesela::detail
