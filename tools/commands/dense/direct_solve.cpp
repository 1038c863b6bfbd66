#include "tools/commands/dense/direct_solve.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/plan_report.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/factor_error.hpp"
#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace tesela::cli {

void DirectOptions::add_to(App& app, const char* kinds, const char* otherwise) {
  random = otherwise;
  auto* order = app.add_option("-n,--n", n, "order of a generated A (default: 2048)")->non_negative()->generates();
  auto* kind = add_random(app, random, kinds);
  add_input(app, "-a,--a", a, "read A from FILE (.mtx, .npy, .csv or .txt)")
      ->excludes(order)
      ->excludes(kind)
      ->belongs_to_files({"--n", "--random"}, "--n N for a random matrix of order N");
  auto* sides = add_input(app, "-b,--b", b, "and solve A X = B: B, n x r, from FILE");
  app.add_option("--rhs", rhs, "right-hand sides to solve for (uniform random numbers)")
      ->non_negative()
      ->excludes(sides)
      ->show_default();
  add_output(app, Output::matrix, "-o,--out", out, "write X, n x r, to FILE (.mtx, .npy, .csv or .txt)");
  app.add_option("--by", by, "tiles, or stages (entry by entry along a wavefront, for studies)")
      ->check(one_of({"tiles", "stages"}))
      ->show_default();
}

void DirectOptions::resolve(const char* command) {
  require_tile(tile, command != std::string_view("lu"));
  require(by == "tiles" || tile.empty(), command, "--tile", "belongs to --by tiles, not to stages");
  require_holds_numbers(command, common, {{"--out", &out}});
  if (!a.empty()) {
    const Shape shape = probe_matrix(a).shape;
    require(shape.rows == shape.cols, command, "--a", shape, " is not square");
    n = shape.rows;
  }
  if (n < 0 && !b.empty()) n = probe_matrix(b).shape.rows;
  if (n < 0) n = 2048;
  if (!b.empty()) {
    const Shape shape = probe_matrix(b).shape;
    require(shape.rows == n, command, "--b", b, " has ", shape.rows, " rows; A has ", n);
    rhs = shape.cols;
  }
  require(out.empty() || !b.empty() || rhs > 0, command, "--out", "needs --b or --rhs: it is X");
  if (common.plan) return;
  const auto order = static_cast<double>(n), sides = static_cast<double>(rhs);
  const double checks = common.check ? (common.complex() ? 32 : 16) * order * order : 0;
  require_memory(command, common.check ? "A, its factors, their checks, B and X" : "A, its factors, B and X",
                 (2 * order * order + 2 * order * sides) * static_cast<double>(common.number_bytes()) + checks);
}

nlohmann::json DirectOptions::describe() const {
  return {{"n", n},
          {"rhs", rhs},
          {"by", by},
          {"input", a.empty() ? random : a},
          {"precision", common.precision},
          {"seed", common.seed}};
}

template <class T>
int run_plan(const DirectOptions& o, DirectKind kind, const char* command) {
  Runtime runtime(o.common.runtime());
  DirectProblem<T> problem{kind, o.tile, o.n};
  problem.runtime = &runtime;
  const TileShape tile = problem.tile_shape();
  const WorkerCounts workers = workers_for<T>(runtime);
  MemoryPlan plan = kind == DirectKind::cholesky ? plan_cholesky(workers, o.n, sizeof(T), tile)
                                                 : plan_lu(workers, o.n, sizeof(T), tile);
  plan.hold({.shape = {o.n, o.n}});  // A
  plan.hold({.shape = {o.n, o.rhs}, .at_once = 2});
  if (o.common.check) plan.hold({.shape = {o.n, o.n}, .at_once = 16.0 / sizeof(T)});
  return finish_plan(o.common, runtime,
                     {{"command", command},
                      {"n", o.n},
                      {"rhs", o.rhs},
                      {"precision", o.common.precision},
                      {"mb", tile.mb},
                      {"nb", tile.nb}},
                     plan, PlanOptions{}.room(runtime), nlohmann::ordered_json::object());
}

template <class T>
HostMatrix<T> load_b(const DirectOptions& o) {
  if (!o.b.empty()) return read_matrix<T>(o.b);
  return generate<T>({o.n, o.rhs}, Generator<T>{Pattern::uniform, T(0), 0, o.common.seed + 1});
}

template <class T>
DirectFactors run_direct(const DirectOptions& o, DirectProblem<T>& problem, double flops, Report& report) {
  Runtime runtime(o.common.runtime());
  problem.runtime = &runtime;
  if (o.by == "tiles") {
    const TileShape tile = problem.tile_shape();
    report.problem().update({{"mb", tile.mb}, {"nb", tile.nb}});
  }
  const auto solver = find_method(direct_table<T>(), o.by).solver(problem);
  run_timed(o.common, runtime, report, solver, flops);
  return solver.result();
}

template <class T>
void check_condition(double condition, Report& report, const std::function<double()>& growth) {
  constexpr auto eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  report.check("condition", condition);
  if (condition * eps <= 1) return;
  report.fail(!growth || growth() * eps <= 0.01
                  ? "singular to working precision"
                  : "inaccurate: elements grew in the elimination, which hides the condition");
}

template <class T>
void check_solution(const DirectOptions& o, const DirectProblem<T>& p, double bound, Report& report) {
  const auto& [a, b, x] = std::tie(p.a, p.b, p.x);
  if (std::any_of(x.data(), x.data() + x.size(), [](T value) { return !is_finite(value); }))
    return report.fail("overflow: an element of X is larger than the largest number, or it is NaN");
  if (o.rhs > 0 && o.common.check) {
    report.check("solution_error", Measured{solution_error(a, b, x), bound});
    const double half_of_the_digits = std::sqrt(static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()));
    report.check("componentwise_error", Measured{componentwise_error(a, b, x), half_of_the_digits});
  }
  write_matrices(report, {{"X", o.out, x}});
}

TESELA_FUNCTIONS_FOR_NUMBERS(run_plan, load_b, run_direct, check_condition, check_solution)

}  // namespace tesela::cli
