#pragma once

#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/commands/least_squares/uncertainty.hpp"
#include "tools/problems/least_squares/formula_data.hpp"
#include "tools/problems/least_squares/ols.hpp"
#include "tools/problems/support/symmetric_input.hpp"
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tesela::cli {

/// The options that `tesela ols`, `lse`, `wls` and `glm` share.
struct LeastSquaresOptions {
  CommonOptions common;
  index_t m = -1, n = -1, p = -1, rhs = 1;  ///< p: rows of C, or columns of F
  std::string a, b, out;
  FormulaInput formula;
  std::shared_ptr<const FormulaData> model = {};  ///< of the formula
  std::string random = "uniform", random_b = "uniform";
  std::string tile;
  double rcond = 0;
  bool inconsistent = false;
  QrMethod method;
  UncertaintyOptions uncertainty;
  bool streamed = false;    ///< A stays in its file
  bool share_rows = false;  ///< all ranks share the rows

  /// Completes the method and checks the options.
  void complete(const char* command);
  /// Throws ArgumentError for a method and for options that have no complex numbers if the precision is complex;
  /// `methods` have them.
  void require_complex(const char* command, const Choices& methods) const;
  /// Completes the sizes of generated matrices, m = ratio n.
  void default_sizes(index_t default_n, index_t ratio);
  bool has_input() const { return !a.empty() || model != nullptr; }
  /// Returns the form of one column in an output: a vector for a formula.
  OneColumn column_form() const { return model != nullptr ? OneColumn::vector : OneColumn::as_input; }
  /// Loads the formula's problem, which sets m, n and rhs. Throws ArgumentError if files or sizes are given too.
  void load_model(const char* command);
  /// Takes the sizes from the files of A and B, or the default ones; a real A may stay in its file.
  void complete_sizes(const char* command);
  /// Takes m, n and rhs from the files of A and B; a real A stays in its file if the method can read it by rows.
  void take_sizes(const InputFile& of_a, const InputFile& of_b, bool stream);
  /// Reads A, or opens its file, and B; elements that do not count may be anything.
  template <class T>
  void read(OlsProblem<T>& problem, const Counted& counted = {}) const;
  /// Reads the files of A and B, or generates A as --random says and a uniform B.
  template <class T>
  void load(OlsProblem<T>& problem) const;
  /// Returns the properties of a regression for a table with names; `total` is false if R2 has no meaning.
  RegressionNames regression_names(bool total = true) const;
  /// Adds notes on rows that were left out and on the bases of factors.
  void note_formula(Report& report) const;
  /// Returns the entries of a report that all commands have.
  nlohmann::json describe() const;
};

/// Adds DATA, FORMULA and their options; returns DATA.
Option* add_formula(App& app, FormulaInput& in,
                    const char* of_data = "a table, CSV with a header, for FORMULA, also without --data",
                    const char* of_formula =
                        "R's formula, \"y ~ x1 * x2 + log(x3) + C(region)\", also without "
                        "--model: prints the regression");

/// The texts of options that differ; an option without text is not added.
struct LeastSquaresTexts {
  std::vector<std::tuple<const char*, std::string*, const char*>> files = {};  ///< more inputs: option, path and text
  const char *m = nullptr, *n = nullptr, *p_option = nullptr, *p = nullptr, *rhs = nullptr, *random_b = nullptr,
             *inconsistent = nullptr;
  std::vector<std::tuple<const char*, std::string*, const char*>> outputs = {};  ///< more outputs
  const char* rcond = nullptr;
  bool uncertainty = false;
  bool formula = false;  ///< whether a table and a formula replace the files
  bool complex = false;  ///< whether numbers may be complex
};
void add_least_squares_options(App& app, LeastSquaresOptions& o, const LeastSquaresTexts& texts,
                               const Choices& methods);

/// Reports `distance`, the largest distance of a right-hand side from the consistent ones, and for an inconsistent
/// problem with several right-hand sides the inconsistent `columns`.
void report_distances(const std::vector<double>& distances, bool inconsistent, Report& report,
                      const std::function<bool(std::size_t)>& possible);

/// Reports the coefficients of a formula, objects with `name` and `estimate`, and prints them in place of a table of
/// standard errors.
void report_coefficients(const std::string& dependent, const nlohmann::json& coefficients, Report& report);

/// Fails the report unless the status is ok, or a deficient rank that the method decided.
inline void report_status(const LeastSquaresOptions& o, SolveStatus status, Report& report) {
  if (status == SolveStatus::rank_deficient && (!o.method.library() || o.method.name == "gelsd"))
    report.remark(description(status));
  else if (status != SolveStatus::ok)
    report.fail(description(status));
}

/// A solution, and its uncertainty if wanted.
template <class T, class Answer>
struct Solved {
  Answer answer;
  Uncertainty<T> uncertainty = {};
};

/// Puts a library's solution in place of ours, whose ranks, conditions and multipliers judge it.
template <class Answer>
void adopt(Answer& ours, Answer found, bool full_rank) {
  bool finite = kernels::all_finite(found.X);
  if constexpr (requires { found.U; }) {
    finite = finite && kernels::all_finite(found.U);
    ours.U = std::move(found.U);
  }
  if (ours.status == SolveStatus::ok && (found.status != SolveStatus::ok || !full_rank))
    ours.status = SolveStatus::rank_deficient;
  if (!finite) ours.status = SolveStatus::not_finite;
  ours.X = std::move(found.X);
}

/// Solves by the row of --method, and reports its times, method and tiles. Libraries run before a Runtime exists, whose
/// workers would take their cores.
template <class T, class Problem, class Answer>
Solved<T, Answer> solve(const LeastSquaresOptions& o, Report& report, const std::vector<Method<Problem, Answer>>& rows,
                        Problem& p) {
  const auto method = find_method(rows, o.method.name);
  RuntimeOptions machine = o.common.runtime();
  if (!machine.grid && o.share_rows) machine.grid = {0, 1};
  Solved<T, Answer> solved;
  if (method.library()) {
    report.problem()["method"] = o.method.name;
    solved.answer = solve_by_library(o.common, report, method, p, p.flops());
    if constexpr (requires { p.judge(); }) {
      if (p.judge() == nullptr) return solved;
      Runtime runtime(machine);
      p.runtime = &runtime;
      const auto solver = find_method(rows, p.judge()).solver(p);
      solver.prepare();
      {
        Graph g(runtime);
        solver.run(&g);
      }
      Answer ours = solver.result();
      adopt(ours, std::move(solved.answer), p.full_rank(ours));
      solved.answer = std::move(ours);
      p.runtime = nullptr;
    }
    return solved;
  }
  Runtime runtime(machine);
  p.runtime = &runtime;
  p.describe(o.method.name, report.problem());
  const auto solver = method.solver(p);
  run_timed(o.common, runtime, report, solver, p.flops());
  solved.answer = solver.result();
  if constexpr (requires(Graph & g) { standard_errors(g, solved.answer); })
    solved.uncertainty = uncertainty_of<T>(o.uncertainty, runtime, solved.answer);
  p.runtime = nullptr;
  return solved;
}

/// Returns the status of an inaccurate result whose checks are within their limits.
template <class Answer>
std::string inaccurate(const Answer& answer) {
  std::string reason;
  if constexpr (requires { answer.backward_error; })
    reason = is_wrong("error of the factored problem", answer.backward_error);
  return reason.empty() ? description(SolveStatus::inaccurate) : reason;
}

/// Reports the status, and for a solution measure()'s checks, its norm, which norm is least unless x is `unique`, and
/// the uncertainty; then write() writes the matrices. Returns the exit code.
template <class Answer>
int report_solution(const LeastSquaresOptions& o, Report& report, const Answer& answer, bool unique,
                    const std::function<void()>& measure, const std::function<void()>& write) {
  if (answer.status != SolveStatus::inaccurate) report_status(o, answer.status, report);
  const bool solution = answer.X.cols() == o.rhs && answer.status != SolveStatus::not_finite &&
                        answer.status != SolveStatus::inconsistent;
  if (solution && o.common.check) measure();
  if (answer.status == SolveStatus::inaccurate && report.good()) report.fail(inaccurate(answer));
  if (!solution) return report.finish();
  report.check("solution_norm", static_cast<double>(kernels::euclidean_norm(answer.X.size(), answer.X.data())));
  note_least_norm(unique, answer.original_units, report);
  write();
  return report.finish();
}

/// Reports the solution of min ||A x - b|| with its errors, which measure() returns unless it reported them itself, and
/// its regression; writes X. Returns the exit code.
template <class T, class Answer>
int report_regression(const LeastSquaresOptions& o, Report& report, const Solved<T, Answer>& solved,
                      const std::function<std::optional<OlsErrors<T>>()>& measure) {
  const Answer& answer = solved.answer;
  bool exact_fit = false;
  const auto check = [&] {
    const std::optional<OlsErrors<T>> errors = measure();
    if (!errors) return;
    report.check("residual_norm", errors->residual.residual_norm);
    report.check("normal_residual", errors->residual.normal_residual);
    report.check("backward_error", errors->backward);
    exact_fit = errors->residual.normal_residual == 0;
    if constexpr (!is_complex<T>)
      if (o.model != nullptr) exact_fit = o.model->is_rounding(answer.X, errors->residual.residual_norm);
  };
  const auto write = [&] {
    report_uncertainty<T>(
        o.uncertainty, solved.uncertainty,
        {answer.X, answer.residual_norms, answer.degrees_of_freedom, answer.rank, exact_fit, o.regression_names()},
        report);
    o.note_formula(report);
    write_matrices(report, {{"X", o.out, answer.X, o.column_form()}});
  };
  return report_solution(o, report, answer, answer.rank == o.n, check, write);
}

/// --ridge, --truncate and --svg of `tesela ols`.
struct RegularizationOptions {
  std::string ridge, truncate, svg;

  bool wanted() const { return !ridge.empty() || !truncate.empty(); }
  void add_to(App& app);
  /// Throws ArgumentError for a method or a table of standard errors that regularized problems lack, and for --svg
  /// without a curve.
  void require_valid(const LeastSquaresOptions& o) const;
};

/// Solves the problem of `tesela ols` with --ridge or --truncate, reports and writes. Returns the exit code.
template <class T>
int run_regularized(const RegularizationOptions& regularization, LeastSquaresOptions& o, OlsProblem<T>& p,
                    Report& report);

}  // namespace tesela::cli
