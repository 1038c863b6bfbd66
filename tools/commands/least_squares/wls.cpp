#include "tools/problems/least_squares/wls.hpp"

#include "tools/app/help.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/least_squares_bounds.hpp"
#include "tools/commands/least_squares/solution.hpp"
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <complex>
#include <memory>
#include <optional>

namespace tesela::cli {
namespace {

struct Options : LeastSquaresOptions {
  std::string weights, factor, sigma, by = "weights";
  double spread = 1;

  bool by_weights() const { return by == "weights"; }
};

/// Loads a formula's problem, whose weights are a column.
void load_formula(Options& o) {
  if (!o.factor.empty() || !o.sigma.empty())
    throw ArgumentError("wls", "--factor, --sigma", "go without a formula, which needs --weights");
  if (o.weights.empty()) throw ArgumentError("wls", "--weights", "is missing: the column or the file of the weights");
  o.formula.weights = o.weights;
  o.load_model("wls");
}

void load_files(Options& o) {
  const std::pair<const char*, const std::string*> kinds[] = {
      {"weights", &o.weights}, {"factor", &o.factor}, {"sigma", &o.sigma}};
  const std::string* covariance = nullptr;
  for (const auto& [name, file] : kinds) {
    if (file->empty()) continue;
    require(covariance == nullptr, "wls", "--" + std::string(name), "and --", o.by, ": give one of them");
    covariance = file;
    o.by = name;
  }
  const std::string option = "--" + o.by, empty;
  require(covariance != nullptr || o.a.empty(), "wls", "--a", "needs --weights, --factor or --sigma");
  std::vector<InputFile> files{
      {"--a", o.a}, {"--b", o.b}, {option.c_str(), covariance != nullptr ? *covariance : empty}};
  if (!probe_all("wls", files)) return;
  require_rows_of("wls", files[0], files[1]);
  require_rows_of("wls", files[0], files[2]);
  if (const index_t wanted = o.by_weights() ? 1 : files[0].shape.rows; files[2].shape.cols != wanted)
    throw ArgumentError(
        "wls", option,
        *covariance + " has " + std::to_string(files[2].shape.cols) + " columns, not " + std::to_string(wanted));
  o.take_sizes(files[0], files[1], o.by_weights());
}

void resolve(Options& o) {
  o.require_complex("wls", choices(wls_table<std::complex<double>>()));
  o.complete("wls");
  o.formula.given() ? load_formula(o) : load_files(o);
  require(o.spread >= 0 && o.spread <= 15, "wls", "--spread",
          "is the largest exponent of a generated weight, from 0 to 15");
  o.default_sizes(256, 4);
}

template <class T>
WlsProblem<T> load(const Options& o) {
  WlsProblem<T> p{{{o.method, o.rcond, o.tile, {o.m, o.n}, o.rhs, o.common.seed}}, o.by};
  p.command = "wls";
  p.keep_triangle = o.uncertainty.wanted();
  p.multipliers = true;
  if constexpr (!is_complex<T>)
    if (o.model != nullptr) {
      o.read(p);
      const auto& weights = o.model->weights;
      HostMatrix<double> column(std::ssize(weights), 1);
      std::copy(weights.begin(), weights.end(), column.data());
      const HostMatrix<T> rounded = in_precision<T>("wls: weights", column);
      p.weights.assign(rounded.data(), rounded.data() + rounded.rows());
      return p;
    }
  if (o.a.empty()) {
    p.generate_weighted(o.random, o.random_b, o.inconsistent, o.spread);
    return p;
  }
  if (!o.by_weights()) {
    o.read(p);
    p.factor = read_matrix<T>(p.by_sigma() ? o.sigma : o.factor);
    return p;
  }
  p.read_weights(o.weights);
  // A row of weight 0 does not count, whatever it holds.
  o.read(p, [weights = p.weights](index_t i, index_t) { return weights[static_cast<std::size_t>(i)] > 0; });
  return p;
}

template <class T>
void check_model(const WlsProblem<T>& p, const GeneralizedLeastSquares<T>& answer, Report& report) {
  const GlmError error = measure_model(p, answer);
  const double bound = answer.backward_error.bound, cut = answer.backward_error.cut;
  const auto constraint = [&](double found) {
    if (!p.by_sigma()) return Measured{found, bound, cut};
    return measured_constraint<T>(found, std::max<index_t>({p.shape.rows, p.shape.cols, 1}), answer.backward_error);
  };
  report.check("constraint_residual", constraint(error.constraint));
  if (!p.by_sigma())
    report.check("optimality", {error.optimality, bound * error.optimality_scale, cut * error.optimality_scale});
  report.check("normal_residual", {error.gradient, bound, cut});
  report.check("backward_error", constraint(std::max(error.constraint, error.gradient)));
}

template <class T>
int run_wls(Options o) {
  Report report("wls", o.common);
  resolve(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), r = static_cast<double>(o.rhs);
  const double matrices = (o.streamed ? 0 : 3 * m * n) + (o.by_weights() ? 0 : 4 * m * m);
  require_memory("wls", "A, its factors, B and the covariance", (matrices + 3 * (m + n) * r + 2 * m) * sizeof(T));
  WlsProblem<T> p = load<T>(o);
  report.problem() = o.describe();
  report.problem()["by"] = o.by;
  const auto solved = solve<T>(o, report, wls_table<T>(), p);
  const GeneralizedLeastSquares<T>& answer = solved.answer;
  report.check("rank", static_cast<double>(answer.rank));
  report.check("condition", answer.condition);
  if (!o.by_weights()) {
    report.problem()["path"] = description(answer.path);
    report.check("covariance_rank", static_cast<double>(answer.covariance_rank));
    report.check("factor_condition", answer.factor_condition);
    report_distances(answer.distances, answer.status == SolveStatus::inconsistent, report,
                     [&](std::size_t j) { return !(answer.distances[j] > 0); });
  }
  return report_regression<T>(o, report, solved, [&]() -> std::optional<OlsErrors<T>> {
    if (o.by_weights() || answer.path != CovariancePath::model) return measure_wls(p, answer);
    check_model(p, answer, report);
    return std::nullopt;
  });
}

const Command wls_command(
    Command::Group::top, "wls", "weighted and generalized least squares, min ||A x - b|| by weights or a covariance",
    [](App& app) {
      auto o = std::make_shared<Options>();
      o->method.name = "auto";
      add_least_squares_options(
          app, *o,
          {.files = {{"--weights", &o->weights,
                      "read weights w, m x 1, from FILE, or with FORMULA from this column of the table (min sum w_i (A "
                      "x - b)_i^2; a row of weight 0 does not count)"},
                     {"--factor", &o->factor,
                      "read F, m x m, from FILE (the errors have the covariance F F'; ' conjugates, too)"},
                     {"--sigma", &o->sigma,
                      "read the errors' covariance itself, m x m, from FILE (a singular covariance holds some "
                      "equations exactly; "
                      "if they contradict each other, the status is inconsistent)"}},
           .m = "rows of a generated A (default: 4n)",
           .n = "columns of a generated A (default: 256)",
           .rhs = "right-hand sides: by weights uniform, else A x + F u of random x and u",
           .random_b = "generate F, or sigma = F F', as --random does A",
           .inconsistent = "generated right-hand sides are uniform",
           .rcond = "singular values up to this times the largest count as zero, of A with columns scaled to unit norm "
                    "(default: max(m, n) eps)",
           .uncertainty = true,
           .formula = true,
           .complex = true},
          choices(wls_table<double>()));
      auto* a = app.get_option("--a");
      app.add_option("--by", o->by, "what to generate")
          ->check(one_of({"weights", "factor", "sigma"}))
          ->excludes(a)
          ->show_default()
          ->group(more_options);
      app.add_option("--spread", o->spread, "generated weights are 10^e, e uniform between -SPREAD and SPREAD")
          ->excludes(a)
          ->show_default();
      app.footer(
          "Examples:\n"
          "  tesela wls data.csv \"y ~ x\" --weights w\n"
          "  tesela wls --a A.npy --b b.mtx --weights w.mtx --out x.mtx --std-errors\n"
          "  tesela wls --m 400 --n 30 --by sigma --random-b kappa:1e3 --json -\n"
          "  tesela wls --m 400 --n 30 --precision z");
      return std::function<int()>(
          [o] { return run_for_number_type(*o, []<class T>(Options& options) { return run_wls<T>(options); }); });
    });

}  // namespace
}  // namespace tesela::cli
