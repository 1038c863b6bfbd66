#pragma once

#include <tesela/algorithms/toeplitz/internal/lanczos_tiles.hpp>

#include <array>
#include <optional>
#include <vector>

namespace tesela::detail {

/// The end of a run.
struct RunEnd {
  SearchJob job;
  bool complete = false;           ///< whether it found job.interval.count eigenvalues
  std::array<index_t, 2> found{};  ///< number found of each part, if not complete
};

/// The pairs of a run: job.interval.count of each part (RitzPairs).
template <class T>
struct RunPairs {
  SearchJob job;
  OneTile<T> x;
  TileMatrix<double> pairs;  ///< 4 rows; one tile, or one for each part
};

/// Lanczos runs whose steps are one task, or one run whose steps are tasks on tiles: a slot holds one run. One task
/// tests each bundle of slots. The tests of a round are read after the steps of the next round have been inserted.
template <class T>
class LanczosGroup {
 public:
  LanczosGroup(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, std::size_t number, index_t slots);

  std::size_t size() const { return slots_.size(); }
  bool idle() const;
  Priority where() const { return on_gpu_number(number_); }
  /// Begins a run in a slot.
  void begin(std::size_t s, const typename InverseQueue<T>::Start& start);
  /// Inserts the next steps of all runs and their tests. Returns the number of steps.
  index_t step();
  /// Returns the end of the run in a slot, if the tests of the previous round show it; the slot is free then.
  std::optional<RunEnd> end(std::size_t s);
  /// Inserts the computation of the pairs of the ended run in a slot.
  RunPairs<T> pairs(std::size_t s, const SearchJob& job) const;

 private:
  struct Slot {
    std::optional<SearchJob> job;
    index_t steps = 0;  // number inserted so far
    int tests = 0;      // number inserted so far for this job
    std::optional<OneTile<T>> basis;
    std::optional<LanczosTiles<T>> tiles;  // in place of `basis`
  };
  /// The result of one LanczosTest.
  class Verdicts {
   public:
    explicit Verdicts(Runtime& runtime) : tile_(runtime, {2, kernels::LanczosTest::at_a_time}, "verdicts") {}
    Tile<index_t> tile() const { return *tile_; }
    const std::array<index_t, 2>& of(std::size_t s);  // waits at the first call

   private:
    OneTile<index_t> tile_;
    std::optional<std::array<std::array<index_t, 2>, kernels::LanczosTest::at_a_time>> seen_;
  };
  /// Tests of LanczosTest::at_a_time runs: results of the previous round and of this one.
  struct Bundle {
    OneTile<double> histories;
    std::optional<Verdicts> older, newer;
  };

  void insert_steps(index_t steps, const std::vector<Slot*>& runs, const Tile<double>& coefficients);
  index_t test(std::size_t b, const Tile<double>& coefficients, index_t column, index_t steps);
  index_t capacity() const { return krylov_limit(matrix_.n(), options_); }
  index_t first_test(const SearchJob& job) const;
  kernels::LanczosGoal goal(const SearchJob& job) const;

  Graph& graph_;
  const SineToeplitz<T>& matrix_;
  const SpectrumOptions& options_;
  std::size_t number_;  // number of the group, and of its GPU: slots are too large to move
  std::vector<Slot> slots_;
  std::vector<Bundle> bundles_;
};

}  // namespace tesela::detail
