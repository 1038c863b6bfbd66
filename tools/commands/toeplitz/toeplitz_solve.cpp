#include "tools/problems/toeplitz/toeplitz_solve.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/command.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/problems/toeplitz/toeplitz_options.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_superfast.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <cmath>

namespace tesela::cli {

using namespace kernels;
namespace {

struct Options {
  CommonOptions common;
  ToeplitzInput input;
  double sigma = 0;
  index_t rhs = 1;
  std::string method = "auto", b, out;
  bool known = false;
  double bytes = 0;  ///< of the method's factors
};

void resolve(Options& o) {
  o.input.resolve(4096);
  if (!o.b.empty()) {
    const Shape shape = probe_matrix(o.b).shape;
    require(shape.rows == o.input.n, "toeplitz solve", "--b", o.b, " has ", shape.rows, " rows, the matrix ",
            o.input.n);
    o.rhs = shape.cols;
  }
  require(!o.input.general() || solves_nonsymmetric(o.method), "toeplitz solve", "--method", o.method,
          " needs a symmetric matrix; use auto, lookahead, dense or lapack-lu");
  if (o.common.complex()) {
    const auto rows = toeplitz_solve_table<std::complex<double>>();
    require(std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == o.method; }),
            "toeplitz solve", "--method", o.method, " has no complex numbers: use auto, schur, lookahead or dense");
  }
  require_holds_numbers("toeplitz solve", o.common, {{"--out", &o.out}});
  const double square =
      static_cast<double>(o.input.n) * static_cast<double>(o.input.n) * static_cast<double>(o.common.number_bytes());
  if (o.method.starts_with("cauchy")) o.bytes = square / 2;  // the factors
  if (o.method.starts_with("superfast"))                     // the trees
    o.bytes = o.common.precision == "s" ? superfast_bytes<float>(o.input.n) : superfast_bytes<double>(o.input.n);
  if (o.method.starts_with("lapack")) o.bytes = square;  // the dense matrix
  if (o.method == "dense") o.bytes = square * (o.common.precision == "s" || o.common.precision == "c" ? 2 : 1);
  require(std::isfinite(o.sigma), "toeplitz solve", "--sigma", fmt::format("{} is not finite", o.sigma));
}

template <class T>
ToeplitzAnswer<T> solve(const Options& o, ToeplitzSystem<T>& system, Report& report) {
  const auto method = find_method(toeplitz_solve_table<T>(), o.method);
  if (method.library())
    return solve_by_library(o.common, report, method, system,
                            dense_solve_flops(o.method, o.input.n, o.rhs, is_complex<T>));
  Runtime runtime(o.common.runtime());
  system.runtime = &runtime;
  const Solver<ToeplitzAnswer<T>> solver = method.solver(system);
  const auto run = [&](Graph& g, bool last) {
    system.verdict = last;
    solver.run(&g);
    solver.finish();
    return solver.result().solved.verdict_seconds;
  };
  run_timed(o.common, runtime, report, {solver.prepare, run});
  return solver.result();
}

template <class T>
int run_solve(Options o) {
  Report report("toeplitz solve", o.common);
  resolve(o);
  const index_t n = o.input.n;
  require_memory("toeplitz solve", "t, B, X and the method's factors",
                 static_cast<double>(n) * (20 + 9 * static_cast<double>(o.rhs)) * sizeof(T) + o.bytes);
  report.problem() = o.input.describe(o.common.seed);
  report.problem().update(
      {{"rhs", o.rhs}, {"sigma", o.sigma}, {"method", o.method}, {"precision", o.common.precision}});
  // The shift that the solver sees.
  const auto sigma = static_cast<double>(in_precision<real_t<T>>("toeplitz solve", "--sigma", o.sigma));

  ToeplitzSystem<T> system{o.input.load<T>(o.common.seed), o.b.empty() ? HostMatrix<T>(n, o.rhs) : read_matrix<T>(o.b),
                           converted<T>(sigma)};
  system.row = o.input.load_row<T>(o.common.seed, system.t);
  const HostMatrix<T>&t = system.t, &b = system.b;
  const T* const row = system.row.data();  // null if T is symmetric and real
  const HostMatrix<T> truth = o.known ? random_columns<T>(n, o.rhs, o.common.seed) : HostMatrix<T>();
  if (o.known)
    toeplitz_product<T>(n, t.data(), row, sigma, o.rhs, truth.data(), system.b.data());
  else if (o.b.empty())
    system.b = random_columns<T>(n, o.rhs, o.common.seed);

  const ToeplitzAnswer<T> answer = solve(o, system, report);
  const HostMatrix<T>& x = *answer.x;
  const ToeplitzSolution& solved = answer.solved;
  const ToeplitzAttempt& taken = solved.taken;
  if (taken.method != ToeplitzMethod::automatic) report.problem()["method"] = toeplitz_method_name(taken.method);
  if (o.method == toeplitz_method_name(ToeplitzMethod::automatic))
    for (const ToeplitzAttempt& attempt : solved.attempts)
      report.problem()["tried"].push_back(toeplitz_method_name(attempt.method));
  if (taken.growth) report.check("growth", *taken.growth);
  if (taken.largest_step) report.check("largest_step", static_cast<double>(*taken.largest_step));
  if (taken.negative) report.check("negative_pivots", static_cast<double>(*taken.negative));
  if (!answer.failure.empty()) report.fail(answer.failure);
  if (taken.order > 0) report.check("order", static_cast<double>(taken.order));
  const Measured residual{toeplitz_residual<T>(n, t.data(), row, sigma, o.rhs, x.data(), b.data()),
                          toeplitz_residual_bound<T>(n)};
  report.check("residual", residual);
  if (!std::isnan(solved.condition)) {
    report.check("condition", solved.condition);
    report.check("forward_bound",
                 {2 * solved.condition * std::max(residual.error, solved.rounding), solved.forward_bound().bound});
  }
  if (o.known) {
    double error = 0, size = 0;
    for (index_t e = 0; e < x.size(); ++e) {
      const auto right = converted<with_parts<T, double>>(truth.data()[e]);
      const double here = std::abs(converted<with_parts<T, double>>(x.data()[e]) - right);
      error = here > error || std::isnan(here) ? here : error;
      size = std::max(size, std::abs(right));
    }
    report.check("forward_error", error == 0 ? 0 : error / size);
  }
  write_matrices(report, {{"X", o.out, x}});
  return report.finish();
}

const Command solve_command(
    Command::Group::toeplitz, "solve", "(T - sigma I) X = B, T symmetric or not, without forming T", [](App& app) {
      auto o = std::make_shared<Options>();
      o->input.add_to(app);
      o->input.add_row_to(app);
      app.add_option("--sigma", o->sigma, "the shift")->show_default();
      auto* rhs =
          app.add_option("--rhs", o->rhs, "right-hand sides, uniform random numbers")->positive()->show_default();
      choices(toeplitz_solve_table<double>()).add_option(app, "--method", o->method);
      auto* known =
          app.add_flag("--known", o->known, "make B from a known X, and report the forward error")->generates();
      add_input(app, "-b,--b", o->b, "read the right-hand sides from FILE, a column each")
          ->excludes(rhs)
          ->excludes(known)
          ->belongs_to_files({"--rhs", "--known"}, "--rhs K for K random right-hand sides");
      add_output(app, Output::matrix, "-o,--out", o->out, "write X to FILE (.mtx, .npy, .csv or .txt)");
      o->common.add_to(app, {.complex = true});
      app.footer(
          "If a method breaks down, the status and the checks name the order. X is written if the status is ok.\n"
          "Examples:\n"
          "  tesela toeplitz solve --n 65536 --random spd --known --json -\n"
          "  tesela toeplitz solve --t t.npy --b b.npy --sigma 0.5 --out x.npy\n"
          "  tesela toeplitz solve --n 4096 --random spd --precision z\n"
          "  tesela toeplitz solve --t c.npy --row r.npy --b b.npy --out x.npy");
      return std::function<int()>(
          [o] { return run_for_number_type(*o, []<class T>(Options& options) { return run_solve<T>(options); }); });
    });

}  // namespace
}  // namespace tesela::cli
