#include "tools/problems/least_squares/glm.hpp"

#include "tools/app/sizes.hpp"
#include "tools/commands/least_squares/solution.hpp"

#include <algorithm>
#include <complex>
#include <memory>

namespace tesela::cli {

using namespace kernels;
namespace {

struct Options : LeastSquaresOptions {
  std::string factor, out_u;
  std::string noise, effects;    ///< a column and terms, with a formula
  std::size_t first_effect = 0;  ///< among the model's further formulas
};

/// Returns the terms between the plus signs outside parentheses.
std::vector<std::string> terms_of(const std::string& effects) {
  std::vector<std::string> terms(1);
  int depth = 0;
  for (const char c : effects) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == '+' && depth == 0)
      terms.emplace_back();
    else
      terms.back() += c;
  }
  return terms;
}

/// Loads a formula's problem: B = [diag(noise) effects]. Each term of the effects is a formula without an intercept,
/// so that every factor has a column for each level.
void load_formula(Options& o) {
  require(o.factor.empty(), "glm", "--factor", "is a file; with a formula there are --noise and --effects");
  if (!o.noise.empty()) o.formula.further.push_back(o.noise + " ~ 1");
  o.first_effect = o.formula.further.size();
  if (!o.effects.empty())
    for (const std::string& term : terms_of(o.effects)) o.formula.further.push_back("1 ~ 0 + " + term);
  o.load_model("glm");
  o.p = o.m;
  for (std::size_t k = o.first_effect; k < o.model->more.size(); ++k) o.p += o.model->more[k].cols();
}

template <class T>
HostMatrix<T> factor_of(const Options& o) {
  HostMatrix<double> b = HostMatrix<double>::zeros(o.m, o.p);
  for (index_t i = 0; i < o.m; ++i) b(i, i) = o.noise.empty() ? 1 : o.model->dependents.front()(i, 0);
  index_t column = o.m;
  for (std::size_t k = o.first_effect; k < o.model->more.size(); ++k)
    for (index_t j = 0; j < o.model->more[k].cols(); ++j) std::copy_n(&o.model->more[k](0, j), o.m, &b(0, column++));
  return in_precision<T>("glm", b);
}

void resolve(Options& o) {
  o.require_complex("glm", choices(glm_table<std::complex<double>>()));
  require_holds_numbers("glm", o.common, {{"--out-u", &o.out_u}});
  o.complete("glm");
  if (o.formula.given()) return load_formula(o);
  require(o.noise.empty() && o.effects.empty(), "glm", "--noise", "and --effects belong to a formula");
  std::vector<InputFile> files{{"--a", o.a}, {"--factor", o.factor}, {"--b", o.b}};
  if (probe_all("glm", files)) {
    require_rows_of("glm", files[0], files[1]);
    require_rows_of("glm", files[0], files[2]);
    o.take_sizes(files[0], files[2], false);
    o.p = files[1].shape.cols;
  }
  o.default_sizes(256, 2);
  if (o.p < 0) o.p = o.m;
}

template <class T>
int run_glm(Options o) {
  Report report("glm", o.common);
  resolve(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), p = static_cast<double>(o.p),
             r = static_cast<double>(o.rhs);
  require_memory("glm", "A, B and their factors", (2 * m * n + 3 * m * p + 2 * (m + n + p) * r) * sizeof(T));
  GlmProblem<T> problem{{o.method, o.rcond, o.tile, {o.m, o.n}, o.rhs, o.common.seed}};
  problem.command = "glm";
  problem.keep_triangle = o.uncertainty.wanted();
  problem.multipliers = true;
  if (!o.has_input()) {
    problem.generate_model(o.p, o.random, o.random_b, o.inconsistent);
  } else {
    o.read(problem);
    if constexpr (!is_complex<T>)
      if (o.model != nullptr) problem.factor = factor_of<T>(o);
    if (o.model == nullptr) problem.factor = read_matrix<T>(o.factor);
  }
  report.problem() = o.describe();
  report.problem().update({{"p", o.p},
                           {"factor", o.model != nullptr ? "formula"
                                      : o.a.empty()      ? o.random_b
                                                         : o.factor}});
  const auto [answer, uncertainty] = solve<T>(o, report, glm_table<T>(), problem);
  if (!o.method.library()) report.problem()["method_used"] = name_of(glm_methods(), answer.used);
  report.check("rank", static_cast<double>(answer.rank));
  report.check("rank_b", static_cast<double>(answer.rank_b));
  report.check("condition", answer.condition);
  report.check("condition_b", answer.condition_b);
  if (!answer.distances.empty())
    report_distances(answer.distances, answer.status == SolveStatus::inconsistent, report,
                     [&answer = answer](std::size_t j) { return answer.consistent[j]; });
  const auto measure = [&, &answer = answer] {
    const GlmError error = measure_glm(problem, answer);
    const double bound = answer.backward_error.bound, cut = answer.backward_error.cut;
    report.check("constraint_residual", {error.constraint, bound, cut});
    report.check("optimality", {error.optimality, bound * error.optimality_scale, cut * error.optimality_scale});
    report.check("u_norm", static_cast<double>(euclidean_norm(answer.U.size(), answer.U.data())));
  };
  const auto write = [&, &answer = answer, &uncertainty = uncertainty] {
    report_uncertainty<T>(
        o.uncertainty, uncertainty,
        {answer.X, column_norms(answer.U), answer.rank_b, answer.rank, false, o.regression_names(false)}, report);
    o.note_formula(report);
    write_matrices(report, {{"X", o.out, answer.X, o.column_form()}, {"U", o.out_u, answer.U, o.column_form()}});
  };
  return report_solution(o, report, answer, answer.rank == o.n, measure, write);
}

const Command glm_command(Command::Group::top, "glm", "min ||u|| with b = A x + B u, any shape and rank", [](App& app) {
  auto o = std::make_shared<Options>();
  o->method.name = "seminormal";
  add_least_squares_options(
      app, *o,
      {.files = {{"--factor", &o->factor, "read B, a factor of the covariance B B', from FILE"}},
       .m = "rows (default: 2n)",
       .n = "columns of a generated A (default: 256)",
       .p_option = "--columns-b",
       .p = "columns p of a generated B (default: m)",
       .rhs = "right-hand sides A x + B u of random x and u",
       .random_b = "generate B as --random does A",
       .inconsistent = "generated right-hand sides need have no solution",
       .outputs = {{"--out-u", &o->out_u, "write U, p x rhs, to FILE"}},
       .rcond = "singular values up to this times the largest count as zero, of A with columns and of the rest of "
                "B with rows of unit norm (default: max(m, n, p) eps)",
       .uncertainty = true,
       .formula = true,
       .complex = true},
      choices(glm_table<double>()));
  app.add_option(
         "--noise", o->noise,
         "with FORMULA: column of the standard deviations of the rows' own errors (default: 1; 0: the row holds "
         "exactly)")
      ->type_name("COLUMN");
  app.add_option("--effects", o->effects,
                 "with FORMULA: terms whose columns are errors that rows share, such as \"C(firm)\" (B = [diag(noise) "
                 "effects])")
      ->type_name("TERMS");
  app.footer(
      "Examples:\n"
      "  tesela glm data.csv \"y ~ x\" --effects \"C(firm)\"\n"
      "  tesela glm --a A.mtx --factor B.mtx --b b.mtx --out x.mtx --out-u u.mtx\n"
      "  tesela glm --m 300 --n 90 --columns-b 100 --inconsistent --json -\n"
      "  tesela glm --m 400 --n 30 --precision z");
  return std::function<int()>(
      [o] { return run_for_number_type(*o, []<class T>(Options& options) { return run_glm<T>(options); }); });
});

}  // namespace
}  // namespace tesela::cli
