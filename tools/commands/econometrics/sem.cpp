#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/commands/econometrics/sem_report.hpp"
#include "tools/problems/least_squares/formula_data.hpp"
#include <tesela/algorithms/econometrics/reduced_form.hpp>
#include <tesela/algorithms/econometrics/reuse_tree.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace tesela::cli {
namespace {

struct Options {
  CommonOptions common;
  SemInput input;
  std::string method = "2sls", divisor = "n", engine = "auto", solver = "auto", cov = "classical";
  bool iterate = false;
  double tolerance = 1e-10, level = 0.95, rcond = 0;
  std::string out, out_reduced, out_fitted, out_residuals, out_data, out_model;
};

/// Writes a good report's table. NaN, a missing value, is written as NA; an infinity fails the report.
void write_table(Report& report, const char* name, const std::string& path, const std::vector<std::string>& names,
                 const HostMatrix<double>& columns, const std::vector<std::string>& rows = {}) {
  if (std::any_of(columns.data(), columns.data() + columns.size(), [](double x) { return std::isinf(x); }))
    report.fail(std::string("not finite: an element of ") + name + " is infinite");
  if (report.good()) write_csv(path, names, columns, rows);
}

void write_outputs(const Options& o, const SemOutcome& outcome, const HostMatrix<double>& reduced, Report& report) {
  const SemProblem& p = outcome.problem;
  if (!o.out.empty()) write_coefficients(o.out, outcome);
  if (!o.out_fitted.empty())
    write_table(report, "the fitted values", o.out_fitted, p.labels, equation_residuals(p, outcome.answer, true));
  if (!o.out_residuals.empty())
    write_table(report, "the residuals", o.out_residuals, p.labels, equation_residuals(p, outcome.answer));
  if (o.out_reduced.empty()) return;
  const auto K = p.names.begin() + p.model.instruments;
  write_table(report, "the reduced form", o.out_reduced, {K, p.names.end()}, reduced, {p.names.begin(), K});
}

void write_generated(const Options& o, const SemProblem& p) {
  if (!o.out_data.empty()) {
    HostMatrix<double> columns(p.data.rows(), p.data.cols() - 1);  // a formula adds the intercept
    for (index_t c = 0; c < columns.cols() && columns.rows() > 0; ++c)
      std::copy_n(&p.data(0, c + 1), columns.rows(), &columns(0, c));
    write_csv(o.out_data, {p.names.begin() + 1, p.names.end()}, columns);
  }
  if (o.out_model.empty()) return;
  AtomicFile file(o.out_model);
  file.write(p.formulas);
  file.commit();
}

constexpr std::string_view cluster = "cluster:";

/// Returns the options of the estimates. Throws ArgumentError for options that contradict each other.
SemOptions resolve(Options& o) {
  if (o.cov.starts_with(cluster)) o.input.clusters = o.cov.substr(cluster.size());
  const SemMethod method = *find_named(sem_methods(), o.method);
  const SemOptions options{.method = method,
                           .engine = *find_named(sem_engines(), o.engine),
                           .system_solver = *find_named(system_solvers(), o.solver),
                           .iterate = o.iterate,
                           .tolerance = o.tolerance,
                           .divisor = *find_named(sem_divisors(), o.divisor),
                           .rcond = o.rcond,
                           .robust = o.cov != "classical"};
  const bool system = is_joint(method), instrumental = uses_instruments(method);
  const auto require = [](bool good, const char* option, const std::string& problem) {
    if (!good) throw ArgumentError("sem", option, problem);
  };
  require(!o.iterate || system, "--iterate", "belongs to --method 3sls or sur");
  require(o.solver == "auto" || system, "--system-solver", "belongs to --method 3sls or sur");
  require(o.out_reduced.empty() || instrumental, "--out-reduced", "belongs to --method 2sls, 3sls or ils");
  require(o.input.generated() || (o.out_data.empty() && o.out_model.empty()), "--out-data",
          "and --out-model belong to a generated model");
  o.input.hold = options.robust || !o.out_data.empty();
  return options;
}

SemProblem load(const Options& o, const SemOptions& options) {
  constexpr const char* memory = "the data, their copy and five triangles of all variables";
  if (o.input.generated()) {
    const ModelSizes& s = o.input.sizes;
    const auto columns = static_cast<double>(s.exogenous) + static_cast<double>(s.equations);
    const double rows = o.input.rows_at_once > 0 && !o.input.hold ? static_cast<double>(o.input.rows_at_once)
                                                                  : static_cast<double>(s.observations);
    require_memory("sem", memory, (16.0 * rows + 40.0 * columns) * columns);
  }
  SemProblem p = load_sem(o.input, options.method, o.common.seed);
  if (!o.input.generated()) {
    const auto rows = static_cast<double>(p.is_streamed() ? std::max<index_t>(o.input.rows_at_once, 0) : p.rows().m),
               columns = static_cast<double>(p.rows().n);
    require_memory("sem", memory, (16.0 * rows + 40.0 * columns) * columns);
  }
  p.options = options;
  p.rows_at_once = o.input.rows_at_once;
  write_generated(o, p);
  return p;
}

void report_problem(const Options& o, const SemProblem& p, Report& report) {
  report.problem() = {{"input", o.input.generated() ? "generated" : o.input.data},
                      {"observations", p.rows().m},
                      {"streamed", p.is_streamed()},
                      {"dropped_rows", p.dropped},
                      {"equations", p.model.equations.size()},
                      {"instruments", p.model.instruments},
                      {"variables", p.rows().n},
                      {"method", o.method},
                      {"engine", o.engine},
                      {"dof", o.divisor},
                      {"cov", o.cov},
                      {"level", o.level},
                      {"seed", o.common.seed}};
  constexpr std::size_t most_planned = 500;  // equations: their tree is planned in O(N^3)
  const SemOptions& options = p.options;
  if (options.engine == SemEngine::reuse ||
      (options.engine == SemEngine::givens && p.model.equations.size() <= most_planned)) {
    SimultaneousModel model = p.model;
    if (!uses_instruments(options.method)) model.instruments = p.rows().n;
    const ReuseTree tree = reuse_tree(model);
    report.problem()["reuse"] = {{"rotation_flops", tree.flops_alone},
                                 {"rotation_flops_along_tree", tree.flops_reused},
                                 {"from_the_data", std::count(tree.parents.begin(), tree.parents.end(), -1)}};
  }
  if (!o.input.weights.empty()) report.problem()["rows_of_weight_0"] = p.without_weight;
  note_factors(p.factors, report);
  note_rows(p.dropped, p.without_weight, report);
}

int run_sem(Options o) {
  Report report("sem", o.common);
  const SemOptions options = resolve(o);
  SemProblem p = load(o, options);
  report_problem(o, p, report);
  SimultaneousEquations answer;
  HostMatrix<double> reduced;
  SemError error;
  {
    Runtime runtime(o.common.runtime());
    const auto solver = find_method(sem_table(), o.engine).solver(p);
    run_timed(o.common, runtime, report, {solver.prepare, [&](Graph& g, bool) {
                                            solver.run(&g);
                                            return 0.0;
                                          }});
    answer = solver.result();
    Graph g(runtime);
    if (!o.out_reduced.empty()) reduced = reduced_form(g, answer.triangle, p.model, options);
    error.normal_residuals.assign(answer.equations.size(), std::numeric_limits<double>::quiet_NaN());
    if (o.common.check) error = measure_sem(runtime, p, answer);
  }
  report.problem()["dropped_instruments"] = nlohmann::json::array();
  for (const index_t c : answer.dropped_instruments) report.problem()["dropped_instruments"].push_back(p.name(c));
  const SemOutcome outcome{p, answer, error, o.level};
  report_outcome(outcome, report);
  if (report.good()) write_outputs(o, outcome, reduced, report);
  report.results([&] { print_equations(outcome); });
  return report.finish();
}

const Command sem_command(
    Command::Group::top, "sem", "simultaneous equations: 2SLS, 3SLS, ILS, OLS and SUR of whole models", [](App& app) {
      auto o = std::make_shared<Options>();
      SemInput& in = o->input;
      auto* data = add_input(app, "--data,data", in.data,
                             "read the variables from FILE, also without --data (CSV with a header, or .npy)");
      add_input(app, "--names", in.names, "the names of a .npy file's columns, one a line");
      add_input(app, "--model,model", in.model,
                "equations and instruments as R's formulas (see below), or a FILE of them, one a line")
          ->type_name("FORMULA");
      add_input(app, "--select", in.select,
                "instead of a model: a matrix of 0 and 1, N x (K + N), whose row i selects the regressors of the "
                "data's last columns' i-th (the first K are the instruments)");
      Choices().add(sem_methods()).add_option(app, "--method", o->method);
      Choices().add(sem_engines()).add_option(app, "--engine", o->engine);
      Choices().add(system_solvers()).add_option(app, "--system-solver", o->solver);
      app.add_flag("--iterate", o->iterate, "3sls and sur: repeat until no coefficient moves");
      app.add_option("--tolerance", o->tolerance, "... by more than this times its size and standard error")
          ->positive()
          ->show_default();
      Choices().add(sem_divisors()).add_option(app, "--dof", o->divisor);
      app.add_option("--cov", o->cov,
                     "standard errors: classical, robust (variances differ: HC0, with --dof small HC1) or "
                     "cluster:COLUMN (rows of one cluster depend on each other)")
          ->check({[](const std::string& text) {
                     const bool good = text == "classical" || text == "robust" ||
                                       (text.starts_with(cluster) && text.size() > cluster.size());
                     const bool by_name = text.starts_with("HC") || text.starts_with("hc");
                     return good ? std::string()
                                 : "'" + text + "' is none of classical, robust, cluster:COLUMN" +
                                       (by_name ? " (HC0 is --cov robust, HC1 --cov robust --dof small)" : "");
                   },
                   ""})
          ->show_default();
      app.add_option("--level", o->level, "probability of the intervals")
          ->check(cli::between(1e-6, 1 - 1e-6))
          ->show_default();
      app.add_option("--missing", in.missing, "rows that lack a used value: drop or error")
          ->check(one_of({"drop", "error"}))
          ->show_default();
      app.add_option("--na", in.na,
                     "a further code of missing values in a CSV (NA, NaN, null, -, . and the like are known)")
          ->type_name("CODE");
      app.add_option(
             "--rows-at-once", in.rows_at_once,
             "process the .npy file or the generated data in blocks of N rows instead of holding them in memory "
             "(default: blocks for a file, and for generated data that would fill half of the memory)")
          ->positive();
      app.add_option("--weights", in.weights, "weigh rows by this column of the data, or by the numbers in a file")
          ->type_name("COLUMN");
      app.add_option("--rcond", o->rcond,
                     "columns depend on others where these leave up to this of them (default: 10 max(D, K + N) eps)")
          ->check(cli::between(0, 0.1));
      add_sizes(app, in.sizes, data);
      const Check a_table = ends_with({".csv", ".txt"}, "a table with names", true);
      add_output(app, Output::text, "-o,--out", o->out, "write the coefficients to FILE, as CSV")->check(a_table);
      add_output(app, Output::text, "--out-reduced", o->out_reduced,
                 "write the reduced form, what each endogenous variable is of the instruments, to FILE, as CSV")
          ->check(a_table);
      add_output(app, Output::text, "--out-fitted", o->out_fitted, "write fitted values to FILE, as CSV")
          ->check(a_table);
      add_output(app, Output::text, "--out-residuals", o->out_residuals, "write residuals to FILE, as CSV")
          ->check(a_table);
      add_output(app, Output::text, "--out-data", o->out_data, "write generated data to FILE, as CSV")->check(a_table);
      add_output(app, Output::text, "--out-model", o->out_model, "write the generated model to FILE");
      o->common.add_to(app, {.precision = false, .streams = 2});
      app.footer(
          "A model file has one equation a line, and a line of instruments:\n"
          "  demand: quantity ~ price + income\n"
          "  supply: log(quantity) ~ price + rain * trend + lag(price) + C(region) - 1\n"
          "  instruments: ~ income + rain * trend + lag(price) + C(region)\n"
          "Examples:\n"
          "  tesela sem --data market.csv --model market.txt --method 3sls --dof small\n"
          "  tesela sem --data wages.csv --model 'wage ~ age + [hours ~ experience]'\n"
          "  tesela sem --samples 1000 --endogenous 20 --exogenous 40 --included 10 --json -");
      return std::function<int()>([o] { return run_sem(*o); });
    });

}  // namespace
}  // namespace tesela::cli
