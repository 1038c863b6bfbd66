#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/glm_error.hpp"
#include "tools/commands/least_squares/distances.hpp"
#include "tools/commands/least_squares/glm_library.hpp"
#include "tools/commands/least_squares/uncertainty.hpp"
#include "tools/problems/least_squares/ols.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include "tools/problems/support/input_files.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/column_ends.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <cmath>
#include <limits>
#include <memory>

namespace tesela::cli {

using namespace kernels;
namespace {

struct Options {
  CommonOptions common;
  index_t m = -1, n = -1, p = -1, rhs = 1;
  std::string a, factor, b, out, out_u;
  std::string random = "uniform", random_b = "uniform";
  std::string tile;
  double rcond = 0;
  bool inconsistent = false;
  QrMethod method;
  UncertaintyOptions uncertainty;
};

template <class T>
struct Problem {
  HostMatrix<T> a, factor, b;
};

GlmOptions glm_options(const Options& o) {
  GlmOptions options;
  options.rcond = o.rcond;
  options.multipliers = true;
  options.keep_spread = o.uncertainty.wanted();
  if (givens_method(o.method.name)) {
    options.method = GlmMethod::givens;
    options.givens = givens_options(o.method);
  } else if (!o.method.library()) {
    options.method = *find_named(glm_methods(), o.method.name);
    options.qr = qr_options(o.method);
  }
  return options;
}

/// Returns the flops of R of A, Q^T [B b], and the QR of the last m - n rows of Q^T B. All methods are rated by this
/// cheaper way.
double glm_flops(const Options& o) {
  const auto m = static_cast<double>(o.m), k = static_cast<double>(std::min(o.m, o.n)),
             columns = static_cast<double>(o.p + o.rhs);
  return qr_flops(o.m, o.n) + 2 * k * columns * (2 * m - k) + qr_flops(o.p, o.m - std::min(o.m, o.n));
}

/// Without a report the problem is solved once.
template <class T>
Glm<T> solve_by_graph(const Options& o, const Problem<T>& p, Report* report, Uncertainty<T>& uncertainty) {
  Runtime runtime(o.common.runtime());
  GlmOptions options = glm_options(o);
  options.column_ends = column_ends(p.a);
  GlmTiles tiles = suitable_glm_tiles(runtime, options.method, o.m, o.n, o.p);
  if (!o.tile.empty()) {
    tiles.a = parse_tile(o.tile, tiles.a);
    if (options.method == GlmMethod::givens) tiles.a.mb = std::max<index_t>(o.m, 1);
    tiles.b = tiles.a;
  }
  HostMatrix<T> a(o.m, o.n), factor(o.m, o.p), b(o.m, o.rhs);
  const auto A = TileMatrix<T>::map(runtime, a.data(), o.m, o.n, a.ld(), tiles.a, "A");
  const auto B = TileMatrix<T>::map(runtime, factor.data(), o.m, o.p, factor.ld(), tiles.b, "B");
  const auto y =
      TileMatrix<T>::map(runtime, b.data(), o.m, o.rhs, b.ld(), {tiles.a.mb, std::clamp<index_t>(o.rhs, 1, 256)}, "b");
  Glm<T> answer;
  const auto prepare = [&] {
    A.copy_from(p.a.data(), p.a.ld());
    B.copy_from(p.factor.data(), p.factor.ld());
    y.copy_from(p.b.data(), p.b.ld());
  };
  const auto run = [&](Graph& g, bool) { return answer = glm(g, A, B, y, options), 0.0; };
  if (report == nullptr) {
    prepare();
    Graph g(runtime);
    run(g, true);
    return answer;
  }
  report->problem()["mb"] = tiles.a.mb;
  report->problem()["nb"] = tiles.a.nb;
  run_timed(o.common, runtime, *report, {prepare, run, glm_flops(o)});
  uncertainty = uncertainty_of<T>(o.uncertainty, runtime, answer);
  return answer;
}

/// Returns the library's X and U, checked by Tesela's ranks, conditions, distances and multipliers: ggglm determines no
/// rank.
template <class T>
Glm<T> solve_by_library(const Options& o, const Problem<T>& p, Report& report) {
  Timed runs;
  LibraryModel<T> found = time_glm_library("glm", o.common, o.method, p.a, p.factor, p.b, runs);
  report_library(o.common, report, runs, glm_flops(o));
  Uncertainty<T> none;
  Glm<T> answer = solve_by_graph(o, p, nullptr, none);
  const bool full = answer.rank == o.n && answer.rank_b == o.m - o.n;
  if (answer.status == SolveStatus::ok && (!found.regular || !full)) answer.status = SolveStatus::rank_deficient;
  if (answer.status != SolveStatus::not_finite && (!all_finite(found.X) || !all_finite(found.U)))
    answer.status = SolveStatus::not_finite;
  answer.X = std::move(found.X);
  answer.U = std::move(found.U);
  return answer;
}

void resolve(Options& o) {
  require_valid("glm", o.method, o.tile, o.common);
  require_rcond("glm", o.rcond);
  o.uncertainty.require_valid("glm", o.method);
  std::vector<InputFile> files{{"--a", o.a}, {"--factor", o.factor}, {"--b", o.b}};
  if (probe_all("glm", files)) {
    require_rows_of("glm", files[0], files[1]);
    require_rows_of("glm", files[0], files[2]);
    o.m = files[0].shape.rows;
    o.n = files[0].shape.cols;
    o.p = files[1].shape.cols;
    o.rhs = files[2].shape.cols;
  }
  if (o.n < 0) o.n = 256;
  if (o.m < 0) o.m = 2 * o.n;
  if (o.p < 0) o.p = o.m;
}

template <class T>
Problem<T> load(const Options& o) {
  if (!o.a.empty()) return {read_matrix<T>(o.a), read_matrix<T>(o.factor), read_matrix<T>(o.b)};
  Problem<T> p{generate<T>({o.m, o.n}, parse_random_kind(o.random), o.common.seed),
               generate<T>({o.m, o.p}, parse_random_kind(o.random_b, "--random-b"), o.common.seed + 1),
               {}};
  const auto uniform = [&](index_t rows, std::uint64_t seed) {
    return generate<T>({rows, o.rhs}, Generator<T>{Pattern::uniform, T(0), 0, o.common.seed + seed});
  };
  if (o.inconsistent) {
    p.b = uniform(o.m, 2);
    return p;
  }
  const blas::Threads threads(blas::all_cores());
  p.b = HostMatrix<T>::zeros(o.m, o.rhs);
  const auto add = [&](const HostMatrix<T>& a, const HostMatrix<T>& x) {
    if (p.b.size() > 0 && a.cols() > 0)
      blas::gemm(Op::none, Op::none, o.m, o.rhs, a.cols(), T(1), a.data(), a.ld(), x.data(), x.ld(), T(1), p.b.data(),
                 p.b.ld());
  };
  add(p.a, uniform(o.n, 3));
  add(p.factor, uniform(o.p, 4));
  return p;
}

template <class T>
void tell_columns(const Glm<T>& answer, Report& report) {
  if (answer.distances.empty()) return;
  report_distances(answer.distances, answer.status == SolveStatus::inconsistent, report,
                   [&](std::size_t j) { return answer.consistent[j]; });
}

template <class T>
int run_glm(Options o) {
  Report report("glm", o.common);
  resolve(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), p = static_cast<double>(o.p),
             r = static_cast<double>(o.rhs);
  require_memory("glm", "A, B and their factors", (2 * m * n + 3 * m * p + 2 * (m + n + p) * r) * sizeof(T));
  const Problem<T> problem = load<T>(o);
  report.problem() = {{"m", o.m},
                      {"n", o.n},
                      {"p", o.p},
                      {"rhs", o.rhs},
                      {"method", o.method.name},
                      {"input", o.a.empty() ? o.random : o.a},
                      {"factor", o.a.empty() ? o.random_b : o.factor},
                      {"precision", o.common.precision},
                      {"seed", o.common.seed}};
  const bool library = o.method.library();
  Uncertainty<T> uncertainty;
  const Glm<T> answer =
      library ? solve_by_library(o, problem, report) : solve_by_graph(o, problem, &report, uncertainty);
  if (!library) report.problem()["method_used"] = name_of(glm_methods(), answer.used);
  report.check("rank", static_cast<double>(answer.rank));
  report.check("rank_b", static_cast<double>(answer.rank_b));
  report.check("condition", answer.condition);
  report.check("condition_b", answer.condition_b);
  tell_columns(answer, report);
  if (answer.status == SolveStatus::rank_deficient && !library)
    report.remark(description(answer.status));
  else if (answer.status != SolveStatus::ok)
    report.fail(description(answer.status));
  if (answer.X.cols() == o.rhs && answer.U.cols() == o.rhs && answer.status != SolveStatus::not_finite &&
      answer.status != SolveStatus::inconsistent) {
    const GlmError error = glm_error(problem.a, problem.factor, problem.b, answer.X, answer.U, answer.multipliers,
                                     answer.multiplier_exponents);
    const double bound = answer.backward_error.bound, cut = answer.backward_error.cut;
    report.check("constraint_residual", {error.constraint, bound, cut});
    report.check("optimality", {error.optimality, bound * error.optimality_scale, cut * error.optimality_scale});
    report.check("solution_norm", static_cast<double>(euclidean_norm(answer.X.size(), answer.X.data())));
    report.check("u_norm", static_cast<double>(euclidean_norm(answer.U.size(), answer.U.data())));
    note_least_norm(answer.rank == o.n, answer.original_units, report);
    report_uncertainty<T>(o.uncertainty, uncertainty, {answer.X, column_norms(answer.U), answer.rank_b, answer.rank},
                          report);
    write_matrices(report, {{"X", o.out, answer.X}, {"U", o.out_u, answer.U}});
  }
  return report.finish();
}

const Command glm_command(
    Command::Group::top, "glm", "min ||u|| with b = A x + B u, any shape and rank", [](CLI::App& app) {
      auto o = std::make_shared<Options>();
      auto* a = add_input(app, "--a", o->a, "read A from FILE (Matrix Market or .npy)");
      add_input(app, "--factor", o->factor, "read B, a factor of the covariance B B', from FILE");
      auto* b = add_input(app, "--b", o->b, "read the right-hand sides, the columns of b, from FILE");
      app.add_option("-m,--m", o->m, "rows (default: 2n)")->transform(cli::non_negative())->excludes(a);
      app.add_option("-n,--n", o->n, "columns of a generated A (default: 256)")
          ->transform(cli::non_negative())
          ->excludes(a);
      app.add_option("--columns-b", o->p, "columns p of a generated B (default: m)")
          ->transform(cli::non_negative())
          ->excludes(a);
      app.add_option("--rhs", o->rhs, "right-hand sides A x + B u of random x and u")
          ->transform(cli::non_negative())
          ->excludes(b)
          ->capture_default_str();
      add_random(app, o->random, random_kinds())->excludes(a);
      app.add_option("--random-b", o->random_b, "generate B as --random does A")
          ->type_name("KIND")
          ->excludes(a)
          ->capture_default_str();
      app.add_flag("--inconsistent", o->inconsistent, "generated right-hand sides need have no solution")->excludes(a);
      add_output(app, Output::matrix, "-o,--out", o->out, "write X, n x rhs, to FILE (.mtx or .npy)");
      add_output(app, Output::matrix, "--out-u", o->out_u, "write U, p x rhs, to FILE");
      o->uncertainty.add_to(app);
      o->method.name = "seminormal";
      Choices()
          .add(glm_methods())
          .add(givens_methods())
          .add("lapack", "ggglm, full rank only, a call for each right-hand side")
          .add("cusolver", "geqrf, ormqr and trsm on a GPU, full rank only, transfers timed")
          .add_option(app, "--method", o->method.name);
      app.add_option("--rcond", o->rcond,
                     "singular values up to this times the largest count as zero, of A with columns and of the rest "
                     "of B with rows of unit norm (default: max(m, n, p) eps)");
      add_tile(app, o->tile, "MB or MBxNB");
      add_to(app, o->method);
      o->common.add_to(app, {.streams = 2});  // panels beside updates
      app.footer(
          "Examples:\n"
          "  tesela glm --a A.mtx --factor B.mtx --b b.mtx --out x.mtx --out-u u.mtx\n"
          "  tesela glm --m 300 --n 90 --columns-b 100 --inconsistent --json -");
      return std::function<int()>(
          [o] { return o->common.precision == "s" ? run_glm<float>(*o) : run_glm<double>(*o); });
    });

}  // namespace
}  // namespace tesela::cli
