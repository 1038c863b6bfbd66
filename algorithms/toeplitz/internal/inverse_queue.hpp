#pragma once

#include <tesela/algorithms/toeplitz/internal/one_tile.hpp>
#include <tesela/algorithms/toeplitz/internal/search_job.hpp>

#include <deque>
#include <optional>
#include <vector>

namespace tesela::detail {

/// Intervals that wait for a run, and the inverses that runs begin with, computed ahead: several shifts a task.
template <class T>
class InverseQueue {
 public:
  /// `groups` of runs will take from it.
  InverseQueue(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, std::size_t groups);

  /// An interval at its first shift.
  void add(const SpectrumInterval& interval);
  /// An interval at another shift, that of job.attempt.
  void add_again(SearchJob job);
  /// Whether every job was handed out.
  bool empty() const { return waiting_.empty() && prepared_.empty(); }
  /// Inserts inverses until enough lie ready.
  void prepare();

  struct Start {
    SearchJob job;
    bool good = false;  ///< the slot holds what a run begins with; else the inverse at this shift is no use
  };
  /// Hands out a job, its inverse and start vectors in `slot`; nothing when there is none. Inverses of the place
  /// `where` come first: those of another one may stand behind its steps.
  std::optional<Start> start(const Tile<T>& slot, Priority where);

  index_t inversions() const { return inversions_; }

 private:
  /// Inverses at the shifts of several jobs, computed by one task.
  struct Batch {
    std::size_t place;  // whose task it was
    std::vector<SearchJob> jobs;
    OneTile<T> inverse;
    OneTile<double> report, quality;
    std::size_t next = 0;                                     // job to be handed out
    std::vector<double> seen_report = {}, seen_quality = {};  // these tiles, once they have been read
  };

  double shift_of(const SpectrumInterval& i, index_t attempt);
  /// GPUs, or ranks, that share the work.
  std::size_t places() const;
  std::size_t emptiest_place();
  void invert(std::size_t place);
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
