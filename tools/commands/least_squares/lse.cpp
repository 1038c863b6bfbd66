#include "tools/problems/least_squares/lse.hpp"

#include "tools/app/sizes.hpp"
#include "tools/checks/least_squares_bounds.hpp"
#include "tools/commands/least_squares/solution.hpp"
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <complex>
#include <memory>

namespace tesela::cli {
namespace {

struct Options : LeastSquaresOptions {
  std::string c, d, out_multipliers;
  std::string constraints;  ///< text, with a formula
  std::shared_ptr<const Constraints> parsed = {};
};

/// Loads a formula's problem with its constraints.
void load_formula(Options& o) {
  require(o.c.empty() && o.d.empty(), "lse", "--c", "is a file; with a formula there is --constraints");
  require(!o.constraints.empty(), "lse", "--constraints", "is missing, such as \"x1 + x2 = 1\"");
  o.load_model("lse");
  o.parsed = std::make_shared<const Constraints>(parse_constraints(o.constraints, *o.model));
  o.p = o.parsed->c.rows();
}

void resolve(Options& o) {
  o.require_complex("lse", choices(lse_table<std::complex<double>>()));
  require_holds_numbers("lse", o.common, {{"--out-multipliers", &o.out_multipliers}});
  o.complete("lse");
  require(!o.method.library() || o.out_multipliers.empty(), "lse", "--out-multipliers", "--method ", o.method.name,
          " has none");
  require(!o.method.library() || !(o.rcond > 0), "lse", "--rcond", "--method ", o.method.name, " decides no rank");
  if (o.formula.given()) return load_formula(o);
  require(o.constraints.empty(), "lse", "--constraints", "belongs to a formula");
  std::vector<InputFile> files{{"--a", o.a}, {"--b", o.b}, {"--c", o.c}, {"--d", o.d}};
  if (probe_all("lse", files)) {
    require_rows_of("lse", files[0], files[1]);
    require_columns_of("lse", files[0], files[2]);
    require_rows_of("lse", files[2], files[3]);
    require_columns_of("lse", files[1], files[3]);
    o.take_sizes(files[0], files[1], true);
    o.p = files[2].shape.rows;
  }
  o.default_sizes(256, 4);
  if (o.p < 0) o.p = o.n / 4;
}

/// Returns the multipliers without their exponents.
template <class T>
HostMatrix<T> multipliers_of(const ConstrainedLeastSquares<T>& answer) {
  HostMatrix<T> result = answer.multipliers.clone();
  for (index_t k = 0; k < result.cols(); ++k)
    for (index_t i = 0; i < result.rows(); ++i)
      result(i, k) = times_power_of_two(result(i, k), answer.multiplier_exponents[static_cast<std::size_t>(k)] +
                                                          answer.multiplier_row_exponents[static_cast<std::size_t>(i)]);
  return result;
}

/// Reports the regression of a formula, whose unknowns are tested within the constraints.
template <class T>
void report_table(const Options& o, const ConstrainedLeastSquares<T>& answer, Report& report) {
  Uncertainty<T> found;
  const index_t rank = answer.constraint_rank + answer.rank;
  if (rank == o.n)
    for (const double error : constrained_errors(o.model->a, o.parsed->c, answer.dropped_rows))
      found.errors.push_back(static_cast<T>(error));
  report_uncertainty<T>(o.uncertainty, found,
                        {answer.X, answer.residual_norms, o.m - answer.rank, rank, false, o.regression_names(false)},
                        report);
  o.note_formula(report);
}

template <class T>
int run_lse(Options o) {
  Report report("lse", o.common);
  resolve(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), p = static_cast<double>(o.p),
             r = static_cast<double>(o.rhs);
  require_memory("lse", "A, C and their factors",
                 ((o.streamed ? 0 : 2 * m * n) + 3 * n * (n + p) + 2 * (m + n + p) * r) * sizeof(T));
  LseProblem<T> problem{{o.method, o.rcond, o.tile, {o.m, o.n}, o.rhs, o.common.seed}};
  problem.command = "lse";
  if (o.model != nullptr) {
    o.read(problem);
    if constexpr (!is_complex<T>) {
      problem.c = in_precision<T>("lse", o.parsed->c);
      problem.d = in_precision<T>("lse", o.parsed->d);
    }
  } else if (o.a.empty()) {
    problem.generate_constrained(o.p, o.random, o.random_b, o.inconsistent);
  } else {
    o.read(problem);
    problem.c = read_matrix<T>(o.c);
    problem.d = read_matrix<T>(o.d);
  }
  report.problem() = o.describe();
  report.problem().update({{"p", o.p},
                           {"constraints", o.model != nullptr ? o.constraints
                                           : o.a.empty()      ? o.random_b
                                                              : o.c}});
  const ConstrainedLeastSquares<T> answer = solve<T>(o, report, lse_table<T>(), problem).answer;
  report.check("constraint_rank", static_cast<double>(answer.constraint_rank));
  report.check("rank", static_cast<double>(answer.rank));
  report.check("constraint_condition", answer.constraint_condition);
  report.check("condition", answer.condition);
  report.dropped_rows(answer.dropped_rows);
  report_distances(answer.distances, answer.status == SolveStatus::inconsistent, report,
                   [&](std::size_t j) { return !(answer.distances[j] > 0); });
  const auto measure = [&] {
    const LseError error = measure_lse(problem, answer);
    report.check("residual_norm", error.residual_norm);
    report.check("constraint_residual", {error.constraint, answer.constraint_error.bound, 2 * answer.cut});
    // For the least norm in the unknowns' own units, errors are of the size of A's largest column.
    const double size = answer.status == SolveStatus::rank_deficient && answer.original_units ? error.column_ratio : 1;
    report.check("optimality",
                 measured_optimality<T>(error.optimality / size, std::max({o.m, o.n, o.p}), 2 * answer.cut));
  };
  const auto write = [&] {
    if constexpr (!is_complex<T>)
      if (o.model != nullptr && !o.method.library()) report_table(o, answer, report);
    write_matrices(report, {{"X", o.out, answer.X, o.column_form()},
                            {"multipliers", o.out_multipliers, multipliers_of(answer), o.column_form()}});
  };
  return report_solution(o, report, answer, answer.constraint_rank + answer.rank == o.n, measure, write);
}

const Command lse_command(Command::Group::top, "lse", "min ||A x - b|| with C x = d, any shape and rank", [](App& app) {
  auto o = std::make_shared<Options>();
  o->method.name = "auto";
  add_least_squares_options(
      app, *o,
      {.files = {{"--c", &o->c, "read the constraints' C from FILE (rows that other rows imply are dropped and named)"},
                 {"--d", &o->d,
                  "read d, the columns of D, from FILE (as many as b; a d that contradicts C ends as inconsistent)"}},
       .m = "rows of a generated A (default: 4n)",
       .n = "columns of a generated A (default: 256)",
       .p_option = "--rows-c",
       .p = "rows p of a generated C (default: n/4)",
       .rhs = "right-hand sides: uniform b, and d = C x of a random x",
       .random_b = "generate C as --random does A",
       .inconsistent = "a generated d is uniform: with p > n there is no solution",
       .outputs = {{"--out-multipliers", &o->out_multipliers,
                    "write lambda, p x rhs, with A'(b - A x) = C' lambda (' conjugates, too), to FILE"}},
       .rcond = "singular values up to this times the largest count as zero, of C with rows of one size and of A "
                "on C's null space (default: max(m, n, p) eps)",
       .formula = true,
       .complex = true},
      choices(lse_table<double>()));
  app.add_option(
         "--constraints", o->constraints,
         "with FORMULA: linear equations of the unknowns, \"x1 + x2 = 1, x3 = 0\"; names that are no plain names "
         "need backquotes")
      ->type_name("EQUATIONS");
  app.footer(
      "Examples:\n"
      "  tesela lse data.csv \"y ~ x1 + x2\" --constraints \"x1 + x2 = 1\"\n"
      "  tesela lse --a A.mtx --b b.mtx --c C.mtx --d d.mtx --out x.mtx\n"
      "  tesela lse --m 4000 --n 300 --rows-c 80 --random-b rank:60 --json -\n"
      "  tesela lse --m 400 --n 30 --precision z");
  return std::function<int()>(
      [o] { return run_for_number_type(*o, []<class T>(Options& options) { return run_lse<T>(options); }); });
});

}  // namespace
}  // namespace tesela::cli
