#include "tools/app/choices.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/commands/least_squares/distances.hpp"
#include "tools/commands/least_squares/glm_library.hpp"
#include "tools/commands/least_squares/wls_problem.hpp"
#include "tools/problems/least_squares/ols.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/filled.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela::cli {

using namespace kernels;
namespace {

/// Returns the flops of ols, plus m^2 (n + r) for the division by a covariance's factor, plus m^3 / 3 for the factor of
/// sigma.
double wls_flops(const WlsOptions& o) {
  const auto m = static_cast<double>(o.m);
  return ols_flops({o.m, o.n}, o.rhs) + (o.by_weights() ? 0 : m * m * static_cast<double>(o.n + o.rhs)) +
         (o.by_sigma() ? m * m * m / 3 : 0);
}

template <class T>
GeneralizedLeastSquares<T> of_rows(LeastSquares<T> answer) {
  GeneralizedLeastSquares<T> result;
  static_cast<LeastSquares<T>&>(result) = std::move(answer);
  result.path = CovariancePath::rows;
  return result;
}

/// Without a report the problem is solved once.
template <class T>
GeneralizedLeastSquares<T> solve_by_graph(const WlsOptions& o, const WlsProblem<T>& p, Report* report,
                                          Uncertainty<T>& uncertainty) {
  Runtime runtime(o.common.runtime());
  OlsOptions options = ols_options(o.method, o.rcond, {o.m, o.n}, o.rhs);
  options.keep_triangle = o.uncertainty.wanted();
  options.multipliers = true;
  if (report != nullptr) report->problem()["method"] = method_name(o.method, options);
  GeneralizedLeastSquares<T> answer;
  const auto timed = [&](const std::function<void()>& prepare, const auto& solve) {
    const auto run = [&](Graph& g, bool) { return answer = solve(g), 0.0; };
    if (report == nullptr) {
      prepare();
      Graph g(runtime);
      return solve(g);
    }
    run_timed(o.common, runtime, *report, {prepare, run, wls_flops(o)});
    uncertainty = uncertainty_of<T>(o.uncertainty, runtime, answer);
    return std::move(answer);
  };
  if (o.streamed) return timed({}, [&](Graph& g) { return of_rows(wls(g, *p.rows, p.b, p.weights, options)); });
  const TileShape wanted = parse_tile(o.tile, suitable_ols_tile(runtime, options.method, o.m, o.n)),
                  tile = possible_ols_tile(options.method, wanted, o.m, o.n);
  if (report != nullptr) {
    report->problem()["mb"] = tile.mb;
    report->problem()["nb"] = tile.nb;
  }
  HostMatrix<T> a(o.m, o.n), b(o.m, o.rhs);
  const auto A = TileMatrix<T>::map(runtime, a.data(), o.m, o.n, a.ld(), tile, "A");
  const auto B = TileMatrix<T>::map(runtime, b.data(), o.m, o.rhs, b.ld(), {tile.mb, tile.nb}, "B");
  HostMatrix<T> covariance;
  const auto prepare = [&] {
    A.copy_from(p.a.data(), p.a.ld());
    B.copy_from(p.b.data(), p.b.ld());
    covariance = p.covariance.clone();
  };
  return timed(prepare, [&](Graph& g) {
    if (o.by_weights()) return of_rows(wls(g, A, B, p.weights, options));
    return o.by_sigma() ? gls_covariance(g, A, B, std::move(covariance), options)
                        : gls_factor(g, A, B, std::move(covariance), options);
  });
}

/// Rows are scaled, or sigma factored, outside the time. With a covariance, Tesela's ranks, conditions, distances and
/// multipliers check the library's X and U: ggglm determines no rank.
template <class T>
GeneralizedLeastSquares<T> solve_by_library(const WlsOptions& o, const WlsProblem<T>& p, Report& report) {
  report.problem()["method"] = o.method.name;
  if (o.by_weights()) {
    OlsProblem<T> scaled{o.method, o.rcond, o.tile, {o.m, o.n}, o.rhs};
    scaled.command = "wls";
    scaled.a = p.a.clone();
    scaled.b = p.b.clone();
    const T unit = weight_unit(p.weights);
    scale_rows(p.weights, unit, 0, {scaled.a.data(), o.m, o.n, scaled.a.ld()});
    scale_rows(p.weights, unit, 0, {scaled.b.data(), o.m, o.rhs, scaled.b.ld()});
    const auto method = find_method(ols_table<T>(), o.method.name);
    return of_rows(solve_by_library(o.common, report, method, scaled, wls_flops(o)));
  }
  Timed runs;
  HostMatrix<T> factor = p.covariance.clone();
  if (o.by_sigma()) {
    if (lapack::potrf(o.m, factor.data(), factor.ld()) != 0)
      throw ArgumentError("wls", "--method", o.method.name + " needs a positive definite sigma");
    for (index_t j = 0; j < o.m; ++j)
      for (index_t i = 0; i < j; ++i) factor(j, i) = std::exchange(factor(i, j), T(0));
  }
  LibraryModel<T> found = time_glm_library("wls", o.common, o.method, p.a, factor, p.b, runs);
  report_library(o.common, report, runs, wls_flops(o));
  Uncertainty<T> none;
  GeneralizedLeastSquares<T> answer = solve_by_graph(o, p, nullptr, none);
  if (answer.status == SolveStatus::ok && !found.regular) answer.status = SolveStatus::rank_deficient;
  if (answer.status != SolveStatus::not_finite && (!all_finite(found.X) || !all_finite(found.U)))
    answer.status = SolveStatus::not_finite;
  answer.X = std::move(found.X);
  answer.U = std::move(found.U);
  return answer;
}

template <class T>
void print_error(const WlsOptions& o, const GeneralizedLeastSquares<T>& answer, Report& report) {
  report.check("rank", static_cast<double>(answer.rank));
  report.check("condition", answer.condition);
  if (o.by_weights()) return;
  report.problem()["path"] = description(answer.path);
  report.check("covariance_rank", static_cast<double>(answer.covariance_rank));
  report.check("factor_condition", answer.factor_condition);
  report_distances(answer.distances, answer.status == SolveStatus::inconsistent, report,
                   [&](std::size_t j) { return !(answer.distances[j] > 0); });
}

template <class T>
int run_wls(WlsOptions o) {
  Report report("wls", o.common);
  resolve(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), r = static_cast<double>(o.rhs);
  const double matrices = (o.streamed ? 0 : 3 * m * n) + (o.by_weights() ? 0 : 4 * m * m);
  require_memory("wls", "A, its factors, B and the covariance", (matrices + 3 * (m + n) * r + 2 * m) * sizeof(T));
  const WlsProblem<T> p = load_wls<T>(o);
  report.problem() = {{"m", o.m},
                      {"n", o.n},
                      {"rhs", o.rhs},
                      {"by", o.by},
                      {"input", o.a.empty() ? o.random : o.a},
                      {"precision", o.common.precision},
                      {"seed", o.common.seed}};
  if (o.streamed) report.problem()["streamed"] = true;
  Uncertainty<T> uncertainty;
  const GeneralizedLeastSquares<T> answer =
      o.method.library() ? solve_by_library(o, p, report) : solve_by_graph(o, p, &report, uncertainty);
  print_error(o, answer, report);
  if (answer.status == SolveStatus::rank_deficient && !o.method.library())
    report.remark(description(answer.status));
  else if (answer.status != SolveStatus::ok)
    report.fail(description(answer.status));
  if (answer.status != SolveStatus::not_finite && answer.status != SolveStatus::inconsistent) {
    const bool exact_fit = measure_wls(o, p, answer, report);
    report.check("solution_norm", static_cast<double>(euclidean_norm(answer.X.size(), answer.X.data())));
    note_least_norm(answer.rank == o.n, answer.original_units, report);
    report_uncertainty<T>(o.uncertainty, uncertainty,
                          {answer.X, answer.residual_norms, answer.degrees_of_freedom, answer.rank, exact_fit}, report);
    write_matrices(report, {{"X", o.out, answer.X}});
  }
  return report.finish();
}

const Command wls_command(
    Command::Group::top, "wls", "min ||A x - b|| by weights or a covariance, any shape and rank", [](CLI::App& app) {
      auto o = std::make_shared<WlsOptions>();
      o->method.name = "auto";
      auto* a = add_input(app, "--a", o->a, "read A from FILE (Matrix Market or .npy)");
      auto* b = add_input(app, "--b", o->b, "read the right-hand sides, the columns of b, from FILE");
      add_input(app, "--weights", o->weights, "read weights w, m x 1, from FILE: min sum w_i (A x - b)_i^2");
      add_input(app, "--factor", o->factor, "read F, m x m, from FILE: the errors have the covariance F F'");
      add_input(app, "--sigma", o->sigma, "read the errors' covariance itself, m x m, from FILE");
      app.add_option("-m,--m", o->m, "rows of a generated A (default: 4n)")
          ->transform(cli::non_negative())
          ->excludes(a);
      app.add_option("-n,--n", o->n, "columns of a generated A (default: 256)")
          ->transform(cli::non_negative())
          ->excludes(a);
      app.add_option("--rhs", o->rhs, "right-hand sides: by weights uniform, else A x + F u of random x and u")
          ->transform(cli::non_negative())
          ->excludes(b)
          ->capture_default_str();
      app.add_option("--by", o->by, "what to generate")
          ->check(CLI::IsMember({"weights", "factor", "sigma"}))
          ->excludes(a)
          ->capture_default_str();
      app.add_option("--spread", o->spread, "generated weights are 10^e, e uniform between -SPREAD and SPREAD")
          ->excludes(a)
          ->capture_default_str();
      add_random(app, o->random, random_kinds())->excludes(a);
      app.add_option("--random-b", o->random_b, "generate F, or sigma = F F', as --random does A")
          ->type_name("KIND")
          ->excludes(a)
          ->capture_default_str();
      app.add_flag("--inconsistent", o->inconsistent, "generated right-hand sides are uniform")->excludes(a);
      add_output(app, Output::matrix, "-o,--out", o->out, "write X, n x rhs, to FILE (.mtx or .npy)");
      o->uncertainty.add_to(app);
      Choices()
          .add(ols_methods())
          .add(givens_methods())
          .add("lapack", "gels on scaled rows, or ggglm, full rank only")
          .add("cusolver", "geqrf, ormqr and trsm on a GPU, full rank only, transfers timed")
          .add_option(app, "--method", o->method.name);
      app.add_option("--rcond", o->rcond,
                     "singular values up to this times the largest count as zero, of A with columns scaled to unit "
                     "norm (default: max(m, n) eps)");
      add_tile(app, o->tile, "MB or MBxNB");
      add_to(app, o->method);
      o->common.add_to(app, {.streams = 2});  // panels beside updates
      app.footer(
          "A row of weight 0 does not count. A singular covariance holds some equations exactly; where they "
          "contradict\n"
          "each other the status is inconsistent.\n"
          "Examples:\n"
          "  tesela wls --a A.npy --b b.mtx --weights w.mtx --out x.mtx --std-errors\n"
          "  tesela wls --m 400 --n 30 --by sigma --random-b kappa:1e3 --json -");
      return std::function<int()>(
          [o] { return o->common.precision == "s" ? run_wls<float>(*o) : run_wls<double>(*o); });
    });

}  // namespace
}  // namespace tesela::cli
