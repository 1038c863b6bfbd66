#pragma once

#include "tools/app/arguments.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/tridiagonal_error.hpp"
#include "tools/problems/tridiagonal/tridiag_methods.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_checked.hpp>
#include <tesela/runtime/simulation/simulation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

/// The options of `tesela tridiag`, and the solver of its matrices.
namespace tesela::cli::tridiag {

using namespace kernels;

struct Options {
  CommonOptions common;
  TridiagInput input;
  std::string sizes, tile, out;
  std::string method = "auto";
  index_t cut = -1;
  int refine = -1;
  bool mixed_z = false;  ///< in single precision, refined to z

  /// Converts mixed-z to the precision of the data, z.
  void choose_precision() {
    if (common.precision == "mixed-z") mixed_z = true, common.precision = "z";
  }
  /// Returns the precision for reports.
  std::string precision() const { return mixed_z ? "mixed-z" : common.precision; }
  bool mixed() const { return mixed_z || common.precision == "mixed"; }
  bool refines() const { return mixed() || refine >= 0; }
  RefinementOptions refinement() const {
    RefinementOptions options{input.options().systems, input.periodic, mixed()};
    if (refine >= 0) options.iterations = refine;
    return options;
  }
  bool automatic() const { return solver().method == TridiagonalMethod::automatic; }
  bool is_checked() const { return automatic() && !refines(); }
  /// Returns whether recursive doubling finds all or the last unknowns.
  bool doubles() const {
    return solver().method == TridiagonalMethod::rd || solver().method == TridiagonalMethod::cr_rd;
  }
  /// Returns the row of the table of methods.
  std::string row() const { return mixed() ? "mixed" : refines() ? "refined" : method; }
  TridiagonalMethodOptions solver() const {
    TridiagonalMethodOptions options{*find_named(tridiagonal_methods(), method), input.options()};
    if (cut > 0) options.cut = cut;
    return options;
  }
};

/// The place and the kind of a failure, counted from 0 over all matrices; row -1 is the matrix as a whole.
struct Failure {
  index_t row = 0, matrix = 0;
  std::string what = "singular or not finite";
};

/// The corrections of the checks, over all parts.
struct Mended {
  index_t equilibrated = 0, corrected = 0;
  int attempts = 0;
};

/// The largest condition, and the matrix that has it.
struct Condition {
  TridiagonalCondition worst;
  index_t matrix = 0;
};

/// The iterations and the backward error of the refinement, over all parts.
struct Refined {
  int iterations = 0;
  double backward_error = 0;
};

/// Returns the tiles of --tile, or 0 x 0.
inline TridiagonalPlan wanted_tiles(const Options& o, index_t batch) {
  if (o.tile.empty()) return {};
  const auto sizes = parse_sizes("--tile", o.tile, "MB or MBxNB", 2);
  return {sizes.front(), sizes.size() > 1 ? sizes.back() : std::max<index_t>(batch * o.input.rhs, 1)};
}

/// Returns the runtime's options. All ranks share the rows of one system, and of many that --tile puts into one column.
template <class T>
RuntimeOptions machine_of(const Options& o, const std::vector<TridiagBlock<T>>& blocks) {
  RuntimeOptions machine = o.common.runtime();
  const bool many = std::any_of(blocks.begin(), blocks.end(), [&](const auto& block) {
    const TridiagonalPlan tiles = wanted_tiles(o, block.batch);
    return block.batch > 1 && (tiles.along == 0 || tiles.across < block.batch * o.input.rhs);
  });
  if (!machine.grid && !many) machine.grid = {0, 1};
  return machine;
}

template <class T>
class SystemsSolver {
 public:
  SystemsSolver(const Options& o, std::vector<TridiagBlock<T>>& blocks)
      : o_(o),
        blocks_(blocks),
        runtime_(machine_of(o, blocks)),
        problem_(runtime_, [this](std::vector<TridiagTiles<T>>& parts) { restore(parts); }) {
    problem_.options = o.solver();
    problem_.refinement = o.refinement();
    Graph g(runtime_);
    index_t first = 0;
    for (std::size_t i = 0; i < blocks_.size(); first += blocks_[i++].batch) {
      TridiagBlock<T>& block = blocks_[i];
      const TridiagonalPlan plan =
          plan_tridiagonal(runtime_, o.solver(), block.n, block.systems(), wanted_tiles(o, block.batch));
      const bool one_matrix = block.batch > 1 && (!o.automatic() || o.input.rhs != 1);
      tiles_.push_back(cut(runtime_, block, o.input.options().systems, {plan.along, plan.across, one_matrix}));
      largest_ = {std::max(largest_.along, plan.along), std::max(largest_.across, plan.across),
                  std::max(largest_.levels, plan.levels)};
      generate(g, o.input, block, tiles_.back());
      const auto& parts = tiles_.back().parts;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        parts_.push_back(parts[p]);
        places_.push_back({i, first + static_cast<index_t>(p), parts.size() == 1 && block.batch > 1});
      }
    }
    g.wait();
    for (const auto& block : tiles_)
      for (const auto& a : {block.whole.A.dl, block.whole.A.d, block.whole.A.du, block.whole.B}) a.bring_home();
    solver_ = find_method(bench::tridiag_table<T>(), o.row()).solver(problem_);
  }

  /// Returns the largest tiles, and the largest number of reductions.
  const TridiagonalPlan& plan() const { return largest_; }
  const Refined& refined() const { return refined_; }
  const Mended& mended() const { return mended_; }

  /// Returns the largest condition after a run() without a failure.
  const Condition& condition() {
    if (o_.is_checked()) return condition_;
    Graph g(runtime_);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto& [A, B, X] = parts_[p];
      note(tridiagonal_condition(g, A, B, X, o_.input.options()), p);
    }
    return condition_;
  }

  /// Solves --repeat times and returns the failure, if any. The time includes measuring only if it led to further
  /// solves.
  std::optional<Failure> run(Report& report) {
    Status status;
    std::optional<Failure> failure;
    const auto solve = [&](Graph& g, bool last) {
      solver_.run(&g);
      if (o_.refines())
        failure = refine();
      else
        status = wait_with_progress(g);
      solver_.finish();
      if (!last || !o_.is_checked() || is_simulated()) return 0.0;
      const Stopwatch watch;
      failure = check(g, status);
      return mended_.attempts > 0 ? 0 : watch.seconds();
    };
    run_timed(o_.common, runtime_, report, {solver_.prepare, solve, flops()});
    if (o_.refines() || o_.is_checked()) return failure;
    if (status.ok()) return std::nullopt;
    return o_.doubles() ? find_doubling() : find(status);
  }

 private:
  /// The block of a part, the number of its first matrix, and whether the part has several matrices.
  struct Place {
    std::size_t block;
    index_t matrix;
    bool several;
  };

  /// Returns the first matrix whose X is not finite, and the row. If every X is finite, its measured residual is the
  /// status.
  std::optional<Failure> find_doubling() {
    std::size_t first = 0;  // part of the block
    for (std::size_t i = 0; i < blocks_.size(); first += tiles_[i++].parts.size()) {
      const TridiagBlock<T>& block = blocks_[i];
      for (index_t j = 0; j < block.systems(); ++j) {
        const T* const x = &block.x(0, j);
        if (std::all_of(x, x + block.n, [](T value) { return is_finite(value); })) continue;
        const std::size_t p = first + (tiles_[i].parts.size() > 1 ? static_cast<std::size_t>(j / block.rhs) : 0);
        solver_.prepare();
        Failure failure = locate(solve_part(p), p);
        failure.what = "inaccurate: breakdown without pivoting, or not finite";
        return failure;
      }
    }
    return std::nullopt;
  }

  Status solve_part(std::size_t p) {
    problem_.first = static_cast<index_t>(p);
    problem_.last = problem_.first + 1;
    Graph g(runtime_);
    solver_.run(&g);
    return g.wait();
  }

  /// X = B, and A once more for the devices to fetch.
  void restore(std::vector<TridiagTiles<T>>& parts) {
    parts = parts_;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto& [A, B, X] = tiles_[i].whole;
      X.copy_from(blocks_[i].b.data(), blocks_[i].b.ld());
      for (const auto& band : {A.dl, A.d, A.du}) band.home_changed();
    }
  }

  /// Returns the failure of a refined run.
  std::optional<Failure> refine() {
    refined_ = {};
    std::optional<Failure> failure;
    const auto solves = solver_.result().refined;
    for (std::size_t p = 0; p < solves.size(); ++p) {
      const RefinedSolve& solve = solves[p];
      refined_.iterations = std::max(refined_.iterations, solve.iterations);
      refined_.backward_error = worse(refined_.backward_error, solve.backward_error);
      if (solve.converged || failure) continue;
      failure = locate(solve.status, p);
      if (!solve.finite)
        failure->what = "X is not finite";
      else if (!solve.broke_down)
        failure->what = fmt::format("not converged after {} corrections, backward error {:.1e},", refined_.iterations,
                                    refined_.backward_error);
    }
    return failure;
  }

  /// Measures and corrects the parts one after the other. If one of several failed, all are solved again, since the
  /// status does not name the part.
  std::optional<Failure> check(Graph& g, Status status) {
    mended_ = {};
    condition_ = {};
    std::optional<Failure> failure;
    const bool again = parts_.size() > 1 && !status.ok();
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto& [A, B, X] = parts_[p];
      const CheckedSolve solve = again ? tridiagonal_solve_checked(g, A, B, X, o_.input.options())
                                       : tridiagonal_check(g, A, B, X, o_.input.options(), status);
      mended_.equilibrated += solve.other_scaling;
      mended_.corrected += solve.corrected;
      mended_.attempts += solve.attempts;
      note(solve.condition, p);
      if (solve.status.ok() || failure) continue;
      failure = locate(solve.status, p);
      if (!solve.input_finite) failure->what = "A or B is not finite";
    }
    for (const auto& block : tiles_) block.whole.X.bring_home();
    return failure;
  }

  /// Keeps the condition of part p if it is the largest.
  void note(const TridiagonalCondition& condition, std::size_t p) {
    if (condition.value <= condition_.worst.value) return;
    condition_ = {condition, locate({condition.system * blocks_[places_[p].block].n + 1}, p).matrix};
  }

  /// Returns the matrix and row of a status of part p.
  Failure locate(Status status, std::size_t p) const {
    const index_t n = blocks_[places_[p].block].n, at = std::max<index_t>(status.info - 1, 0);
    return {at % n, places_[p].matrix + (places_[p].several ? at / n : 0)};
  }

  /// A status names the row in its part: of several parts, each is solved again alone.
  Failure find(Status status) {
    solver_.prepare();
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (parts_.size() > 1) status = solve_part(p);
      if (!status.ok()) return locate(status, p);
    }
    return {};
  }

  /// LAPACK's count for an elimination without interchanges.
  double flops() const {
    double unknowns = 0;
    for (const auto& block : blocks_) unknowns += static_cast<double>(block.n) * static_cast<double>(block.systems());
    return 8 * unknowns;
  }

  const Options& o_;
  std::vector<TridiagBlock<T>>& blocks_;
  Runtime runtime_;
  std::vector<TiledBlock<T>> tiles_;
  std::vector<TridiagTiles<T>> parts_;  // of all blocks
  std::vector<Place> places_;           // of the parts
  bench::TridiagProblem<T> problem_;
  Solver<bench::TridiagAnswer<T>> solver_;
  TridiagonalPlan largest_;
  Refined refined_;
  Mended mended_;
  Condition condition_;
};

}  // namespace tesela::cli::tridiag
