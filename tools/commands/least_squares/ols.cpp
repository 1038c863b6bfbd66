#include "tools/problems/least_squares/ols.hpp"

#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/commands/least_squares/uncertainty.hpp"
#include "tools/problems/support/input_files.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <memory>

namespace tesela::cli {

using namespace kernels;
namespace {

struct Options {
  CommonOptions common;
  index_t m = -1, n = -1, rhs = 1;
  std::string a, b, out;
  std::string random = "uniform";
  std::string tile;
  double rcond = 0;
  QrMethod method;
  UncertaintyOptions uncertainty;
  bool streamed = false;  ///< A stays in its file
};

void resolve(Options& o) {
  settle_automatic(o.method);
  require_valid("ols", o.method, o.tile, o.common);
  require_rcond("ols", o.rcond);
  o.uncertainty.require_valid("ols", o.method);
  std::vector<InputFile> files{{"--a", o.a}, {"--b", o.b}};
  if (probe_all("ols", files)) {
    require_rows_of("ols", files[0], files[1]);
    o.m = files[0].shape.rows;
    o.n = files[0].shape.cols;
    o.rhs = files[1].shape.cols;
    o.streamed = can_stream(o.method, o.a, files[0].shape, o.rhs);
  }
  if (o.n < 0) o.n = 512;
  if (o.m < 0) o.m = 4 * o.n;
}

/// Reads or generates A and B.
template <class T>
void load(const Options& o, OlsProblem<T>& p) {
  if (o.streamed)
    p.rows = std::make_unique<MatrixRows<T>>(o.a);
  else
    p.a = o.a.empty() ? generate<T>({o.m, o.n}, parse_random_kind(o.random), o.common.seed) : read_matrix<T>(o.a);
  p.b = o.b.empty() ? generate<T>({o.m, o.rhs}, Generator<T>{Pattern::uniform, T(0), 0, o.common.seed + 1})
                    : read_matrix<T>(o.b);
}

/// Solves by a graph, and reports its method and tiles.
template <class T>
LeastSquares<T> solve_by_graph(const Options& o, OlsProblem<T>& p, Report& report, Uncertainty<T>& uncertainty) {
  RuntimeOptions machine = o.common.runtime();
  const OlsOptions options = p.options(o.method.name);
  if (!machine.grid && options.method == OlsMethod::tall_skinny) machine.grid = {0, 1};  // all ranks share its rows
  Runtime runtime(machine);
  p.runtime = &runtime;
  report.problem()["method"] = method_name(o.method, options);
  if (!o.streamed) {
    const TileShape tile = p.tiles(options);
    report.problem().update({{"mb", tile.mb}, {"nb", tile.nb}});
    if (options.method == OlsMethod::tiles) report.problem()["tree"] = options.qr.tree;
  }
  const auto solver = find_method(ols_table<T>(), o.method.name).solver(p);
  run_timed(o.common, runtime, report, solver, ols_flops(p.shape, o.rhs));
  LeastSquares<T> answer = solver.result();
  uncertainty = uncertainty_of<T>(o.uncertainty, runtime, answer);
  p.runtime = nullptr;
  return answer;
}

template <class T>
int run_ols(Options o) {
  Report report("ols", o.common);
  resolve(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), r = static_cast<double>(o.rhs);
  const double matrices = o.streamed ? 0 : m < n ? 3 : 2;
  require_memory("ols", "A, its factors and B", (matrices * m * n + 2 * (m + n) * r) * sizeof(T));
  OlsProblem<T> p{o.method, o.rcond, o.tile, {o.m, o.n}, o.rhs, o.common.seed};
  p.keep_triangle = o.uncertainty.wanted();
  load(o, p);
  report.problem() = {{"m", o.m},
                      {"n", o.n},
                      {"rhs", o.rhs},
                      {"method", o.method.name},
                      {"input", o.a.empty() ? o.random : o.a},
                      {"precision", o.common.precision},
                      {"seed", o.common.seed}};
  if (o.streamed) report.problem()["streamed"] = true;
  Uncertainty<T> uncertainty;
  const LeastSquares<T> answer =
      o.method.library()
          ? solve_by_library(o.common, report, find_method(ols_table<T>(), o.method.name), p, ols_flops(p.shape, o.rhs))
          : solve_by_graph(o, p, report, uncertainty);

  report.check("rank", static_cast<double>(answer.rank));
  report.check("condition", answer.condition);
  if (answer.status == SolveStatus::rank_deficient && (!o.method.library() || o.method.name == "gelsd"))
    report.remark(description(answer.status));
  else if (answer.status != SolveStatus::ok)
    report.fail(description(answer.status));
  if (answer.status != SolveStatus::not_finite) {
    const OlsErrors<T> errors = measure_ols(p, o.method.name, answer);
    report.check("residual_norm", errors.residual.residual_norm);
    report.check("normal_residual", errors.residual.normal_residual);
    report.check("solution_norm", static_cast<double>(euclidean_norm(answer.X.size(), answer.X.data())));
    report.check("backward_error", errors.backward);
    note_least_norm(answer.rank == o.n, answer.original_units, report);
    report_uncertainty<T>(
        o.uncertainty, uncertainty,
        {answer.X, answer.residual_norms, answer.degrees_of_freedom, answer.rank, errors.residual.normal_residual == 0},
        report);
    write_matrices(report, {{"X", o.out, answer.X}});
  }
  return report.finish();
}

const Command ols_command(Command::Group::top, "ols", "min ||A x - b||, any shape and rank", [](CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->method.name = "auto";
  auto* a = add_input(app, "--a", o->a, "read A from FILE (Matrix Market or .npy)");
  auto* b = add_input(app, "--b", o->b, "read the right-hand sides, the columns of B, from FILE");
  app.add_option("-m,--m", o->m, "rows of a generated A (default: 4n)")->transform(cli::non_negative())->excludes(a);
  app.add_option("-n,--n", o->n, "columns of a generated A (default: 512)")
      ->transform(cli::non_negative())
      ->excludes(a);
  app.add_option("--rhs", o->rhs, "right-hand sides, uniform random numbers")
      ->transform(cli::non_negative())
      ->excludes(b)
      ->capture_default_str();
  add_random(app, o->random, random_kinds())->excludes(a);
  add_output(app, Output::matrix, "-o,--out", o->out, "write X, n x rhs, to FILE (.mtx or .npy)");
  o->uncertainty.add_to(app);
  choices(ols_table<double>()).add_option(app, "--method", o->method.name);
  app.add_option(
      "--rcond", o->rcond,
      "singular values up to this times the largest count as zero, of A with columns scaled to unit norm, with "
      "gelsd of A as it is (default: max(m, n) eps)");
  add_tile(app, o->tile, "MB or MBxNB");
  add_to(app, o->method);
  o->common.add_to(app, {.streams = 2});  // panels beside updates
  app.footer(
      "Without a unique answer (fewer rows than columns, or a deficient rank) x is the one of least norm.\n"
      "Examples:\n"
      "  tesela ols --a A.mtx --b b.mtx --out x.mtx\n"
      "  tesela ols --m 4000 --n 300 --random rank:200 --json -");
  return std::function<int()>([o] { return o->common.precision == "s" ? run_ols<float>(*o) : run_ols<double>(*o); });
});

}  // namespace
}  // namespace tesela::cli
