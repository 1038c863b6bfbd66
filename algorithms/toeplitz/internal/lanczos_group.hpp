#pragma once

#include <tesela/algorithms/toeplitz/internal/one_tile.hpp>
#include <tesela/algorithms/toeplitz/internal/search_job.hpp>

#include <array>
#include <optional>
#include <vector>

namespace tesela::detail {

/// How a run ended.
struct RunEnd {
  SearchJob job;
  bool complete = false;           ///< it has found all that job.interval.count asks for
  std::array<index_t, 2> found{};  ///< of each part; where it is not complete
};

/// The pairs of a run: job.interval.count of each part (RitzPairs).
template <class T>
struct RunPairs {
  SearchJob job;
  OneTile<T> x;
  OneTile<double> pairs;
};

/// Lanczos runs that step side by side, by one task: a slot holds one, and each bundle of slots is tested by one task.
/// The tests of a round are read when the steps of the next one have been inserted.
template <class T>
class LanczosGroup {
 public:
  LanczosGroup(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, std::size_t number, index_t slots);

  std::size_t size() const { return slots_.size(); }
  bool idle() const;
  Priority where() const { return on_gpu_number(number_); }
  /// What InverseQueue::start fills.
  Tile<T> slot(std::size_t s) const { return *slots_[s].basis; }
  /// The run in a slot that has been filled.
  void begin(std::size_t s, const SearchJob& job);
  /// Inserts the next steps of all runs, and their tests; answers how many steps.
  index_t step();
  /// Whether the run in a slot has come to its end, by the tests of the round before. The slot is free then.
  std::optional<RunEnd> end(std::size_t s);
  /// Inserts what makes the pairs of the run that ended in a slot.
  RunPairs<T> pairs(std::size_t s, const SearchJob& job) const;

 private:
  struct Slot {
    std::optional<SearchJob> job;
    index_t steps = 0;  // inserted so far
    int tests = 0;      // inserted so far for this job
    OneTile<T> basis;
  };
  /// What one LanczosTest answered.
  class Verdicts {
   public:
    explicit Verdicts(Runtime& runtime) : tile_(runtime, {2, kernels::LanczosTest::at_a_time}, "verdicts") {}
    Tile<index_t> tile() const { return *tile_; }
    const std::array<index_t, 2>& of(std::size_t s);  // waits the first time

   private:
    OneTile<index_t> tile_;
    std::optional<std::array<std::array<index_t, 2>, kernels::LanczosTest::at_a_time>> seen_;
  };
  /// Tests of LanczosTest::at_a_time runs: verdicts of the round before and of this one.
  struct Bundle {
    OneTile<double> histories;
    std::optional<Verdicts> older, newer;
  };

  index_t test(std::size_t b, const Tile<double>& coefficients, index_t column, index_t steps);
  index_t capacity() const { return krylov_limit(matrix_.n(), options_); }
  index_t first_test(const SearchJob& job) const;
  kernels::LanczosGoal goal(const SearchJob& job) const;

  Graph& graph_;
  const SineToeplitz<T>& matrix_;
  const SpectrumOptions& options_;
  std::size_t number_;  // and its GPU's: slots are too large to move
  std::vector<Slot> slots_;
  std::vector<Bundle> bundles_;
};

}  // namespace tesela::detail
