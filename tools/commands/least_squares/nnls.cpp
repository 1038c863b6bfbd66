#include "tools/app/sizes.hpp"
#include "tools/checks/least_squares_bounds.hpp"
#include "tools/commands/least_squares/solution.hpp"
#include <tesela/algorithms/least_squares/nonnegative_least_squares.hpp>

#include <algorithm>
#include <memory>

namespace tesela::cli {
namespace {

template <class T>
Solver<LeastSquares<T>> by_graph(OlsProblem<T>& p, const std::string& name) {
  const OlsOptions options = p.options(name);
  return graph_solver<LeastSquares<T>>(
      p, options, [options](Graph& g, const auto& A, const auto& B) { return nnls(g, A, B, options); },
      [&p, options](Graph& g) { return nnls(g, *p.rows, p.b, options); });
}

template <class T>
int run_nnls(LeastSquaresOptions o) {
  Report report("nnls", o.common);
  o.complete("nnls");
  o.complete_sizes("nnls");
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), r = static_cast<double>(o.rhs);
  require_memory("nnls", "A, its triangle and B", ((o.streamed ? 0 : 2 * m * n) + 2 * (m + n) * r) * sizeof(T));
  OlsProblem<T> p{o.method, o.rcond, o.tile, {o.m, o.n}, o.rhs, o.common.seed};
  p.command = "nnls";
  o.load(p);
  report.problem() = o.describe();
  o.share_rows = p.options(o.method.name).method == OlsMethod::tall_skinny;
  const auto answer = solve<T>(o, report, graph_rows(ols_methods(), by_graph<T>), p).answer;
  report.check("rank", static_cast<double>(answer.rank));
  report.check("condition", answer.condition);
  const auto measure = [&] {
    const auto residual = measure_ols(p, o.method.name, answer).residual;
    const auto* const x = answer.X.data();
    report.check("residual_norm", residual.residual_norm);
    report.check("positive", static_cast<double>(std::count_if(x, x + answer.X.size(), [](T e) { return e > T(0); })));
    report.check("optimality", measured_optimality<T>(residual.nonnegative_error, std::max(o.m, o.n), answer.cut));
    if (answer.rank < o.n) report.note("x may not be unique: A's rank is less than the number of unknowns");
  };
  return report_solution(o, report, answer, true, measure, [&] { write_matrices(report, {{"X", o.out, answer.X}}); });
}

const Command nnls_command(Command::Group::top, "nnls", "min ||A x - b|| with x >= 0", [](App& app) {
  auto o = std::make_shared<LeastSquaresOptions>();
  o->method.name = "auto";
  add_least_squares_options(
      app, *o,
      {.m = "rows of a generated A (default: 4n)",
       .n = "columns of a generated A (default: 512)",
       .rhs = "right-hand sides, uniform random numbers",
       .rcond = "columns of A that are this near, relative to their norm, to the span of others stay at zero (default: "
                "max(m, n) eps)"},
      choices(graph_rows(ols_methods(), by_graph<double>)));
  app.footer(
      "Example:\n"
      "  tesela nnls --a A.mtx --b b.mtx --out x.mtx");
  return std::function<int()>([o] { return run_in_precision(*o, run_nnls<float>, run_nnls<double>); });
});

}  // namespace
}  // namespace tesela::cli
