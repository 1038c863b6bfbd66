#include "tools/app/arguments.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/commands/least_squares/solution.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/econometrics/model_formulas.hpp>
#include <tesela/algorithms/least_squares/total_least_squares.hpp>
#include <tesela/algorithms/support/centred.hpp>
#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace tesela::cli {
namespace {

struct Options {
  CommonOptions common;
  FormulaInput formula;
  std::string a, b, out, random = "uniform";
  index_t m = -1, n = -1, rhs = 1;
};

/// A, B, and the names of a formula.
template <class T>
struct TlsData {
  HostMatrix<T> a, b;
  std::vector<std::string> names = {};
  std::string dependent = {};
  bool intercept = false;
  std::unique_ptr<const FormulaData> formula = {};
};

template <class T>
TlsData<T> read(Options& o) {
  std::vector<InputFile> files{{"--a", o.a}, {"--b", o.b}};
  if (o.formula.given()) {
    require(o.a.empty() && o.b.empty(), "tls", "DATA FORMULA", "goes without files of matrices");
    auto data = std::make_unique<const FormulaData>(load_formula("tls", o.formula));
    const index_t constant = data->intercept ? data->find(intercept_name) : data->a.cols();
    TlsData<T> result{in_precision<T>("tls", data->a), in_precision<T>("tls", data->b)};
    result.dependent = data->dependent;
    result.intercept = data->intercept;
    for (index_t j = 0; j < data->a.cols(); ++j)
      if (j != constant) result.names.push_back(data->names[static_cast<std::size_t>(j)]);
    if (data->intercept)
      result.a = filled<T>({data->a.rows(), data->a.cols() - 1},
                           [&](index_t i, index_t j) { return static_cast<T>(data->a(i, j < constant ? j : j + 1)); });
    result.formula = std::move(data);
    return result;
  }
  if (probe_all("tls", files)) {
    require_rows_of("tls", files[0], files[1]);
    return {read_matrix<T>(o.a), read_matrix<T>(o.b)};
  }
  if (o.n < 0) o.n = 100;
  if (o.m < 0) o.m = 4 * o.n;
  return {generate<T>({o.m, o.n}, parse_random_kind(o.random), o.common.seed),
          uniform<T>({o.m, o.rhs}, o.common.seed + 1)};
}

/// Reports the errors of X for the original data, about their means with an intercept.
template <class T>
void report_errors(const TlsData<T>& data, const TotalLeastSquares<T>& answer, Report& report) {
  const index_t m = data.a.rows(), n = data.a.cols(), all = n + data.b.cols();
  auto both = filled<double>(
      {m, all}, [&](index_t i, index_t j) { return static_cast<double>(j < n ? data.a(i, j) : data.b(i, j - n)); });
  if (data.intercept) centre(both);
  const blas::Threads threads(blas::all_cores());
  const TlsError error = tls_error(both, answer.X);
  const double bound = answer.backward_error.bound;
  report.check("invariance", Measured{error.invariance, bound});
  report.check("column_error", Measured{error.column, answer.column_error.bound});
  report.check("correction_error",
               Measured{error.norm > 0 ? std::abs(error.correction - answer.correction) / error.norm : 0, bound});
}

/// Prints the coefficients of a formula with their names.
template <class T>
void report_names(const TlsData<T>& data, const TotalLeastSquares<T>& answer, Report& report) {
  nlohmann::json all = nlohmann::json::array();
  if (data.intercept) all.push_back({{"name", intercept_name}, {"estimate", answer.intercepts.front()}});
  for (std::size_t j = 0; j < data.names.size(); ++j)
    all.push_back({{"name", data.names[j]}, {"estimate", answer.X(static_cast<index_t>(j), 0)}});
  report_coefficients(data.dependent, all, report);
  note_factors(data.formula->factors, report);
  note_rows(data.formula->dropped, 0, report);
}

template <class T>
int run(Options o) {
  Report report("tls", o.common);
  TlsData<T> data = read<T>(o);
  const index_t m = data.a.rows(), n = data.a.cols(), r = data.b.cols();
  const double elements = static_cast<double>(m) * static_cast<double>(n + r), order = static_cast<double>(n + r);
  require_memory("tls", "A, B and their copies", (4 * elements + 5 * order * order) * sizeof(T));
  report.problem() = {{"m", m},
                      {"n", n},
                      {"rhs", r},
                      {"input", data.formula  ? o.formula.data
                                : o.a.empty() ? o.random
                                              : o.a},
                      {"precision", o.common.precision},
                      {"seed", o.common.seed}};
  if (data.formula) report.problem()["formula"] = o.formula.formula;
  TotalLeastSquares<T> answer;
  {
    Runtime runtime(o.common.runtime());
    const auto compute = [&](Graph* g) {
      answer = tls(*g, MatrixView<T>(data.a), MatrixView<T>(data.b), TlsOptions{.intercept = data.intercept});
    };
    const Solver<int> solver{[] {}, compute, {}, [] { return 0; }};
    run_timed(o.common, runtime, report, solver, svd_flops(m, n + r, SvdVectors::none));
  }
  if (answer.status == TlsStatus::not_unique)
    report.remark(description(answer.status));
  else if (answer.status != TlsStatus::ok)
    report.fail(description(answer.status));
  if (answer.status == TlsStatus::nongeneric)
    report.note(
        "no smallest correction: b has no part, or only rounding errors, in the smallest singular vectors of [A b], as "
        "for dependent columns of A, or for a b much larger than A");
  if (answer.X.cols() != r || (answer.X.rows() != n && n > 0)) return report.finish();
  report.check("correction", answer.correction);
  report.check("relative_gap", answer.gap);
  if (o.common.check) report_errors(data, answer, report);
  report.check("solution_norm", static_cast<double>(kernels::euclidean_norm(answer.X.size(), answer.X.data())));
  if (answer.status == TlsStatus::not_unique) report.note("x is not unique: of all solutions it has the least ||x||");
  if (data.formula) report_names(data, answer, report);
  report.section("singular_values", answer.values);
  write_matrices(report, {{"X", o.out, answer.X}});
  return report.finish();
}

const Command tls_command(Command::Group::top, "tls", "total least squares, errors in A and b", [](App& app) {
  auto o = std::make_shared<Options>();
  Option* const data =
      add_formula(app, o->formula, "a table, CSV with a header, for FORMULA, also without --data",
                  "R's formula, \"y ~ x1 + log(x2)\", also without --model; the intercept has no error");
  auto* a = add_input(app, "-a,--a", o->a, "read A from FILE (.mtx, .npy, .csv or .txt)");
  auto* b = add_input(app, "-b,--b", o->b, "read the right-hand sides, the columns of B, from FILE");
  const auto generated = [&](Option* option, Option* file) { return option->excludes(file)->excludes(data); };
  generated(app.add_option("-m,--m", o->m, "rows of a generated A (default: 4n)")->non_negative()->generates(), a);
  generated(app.add_option("-n,--n", o->n, "columns of a generated A (default: 100)")->non_negative()->generates(), a);
  generated(app.add_option("--rhs", o->rhs, "right-hand sides, uniform random numbers")->non_negative()->show_default(),
            b);
  generated(add_random(app, o->random, random_kinds()), a);
  add_output(app, Output::matrix, "-o,--out", o->out, "write X, n x rhs, to FILE (.mtx, .npy, .csv or .txt)");
  o->common.add_to(app);
  app.footer(
      "Finds the least ||[E F]|| with (A + E) X = B + F. Scale columns whose errors differ in size.\n"
      "Examples:\n"
      "  tesela tls data.csv \"y ~ x\"\n"
      "  tesela tls --a A.mtx --b b.mtx --out x.mtx");
  return std::function<int()>([o] { return run_in_precision(*o, run<float>, run<double>); });
});

}  // namespace
}  // namespace tesela::cli
