#include "tools/app/arguments.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/factor_error.hpp"
#include "tools/commands/dense/direct_solve.hpp"
#include "tools/problems/support/symmetric_input.hpp"
#include <tesela/runtime/simulation/simulation.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace tesela::cli {
namespace {

struct Options : DirectOptions {
  std::string uplo, out_r;
  bool symmetrize = false;
};

template <class T>
HostMatrix<T> load_a(const Options& o, std::vector<std::string>& notes) {
  if (o.a.empty() && is_simulated()) return HostMatrix<T>(o.n, o.n);
  if (o.a.empty()) {
    const SymmetricMatrix matrix = generated("cholesky", "--random", o.random, o.n, o.common.seed);
    return filled<T>({o.n, o.n}, [&](index_t i, index_t j) { return matrix.element<T>(i, j); });
  }
  return read_symmetric<T>({"cholesky", "--a", o.a, "A", o.uplo, o.symmetrize}, notes);
}

template <class T>
int run(Options o) {
  Report report("cholesky", o.common);
  require_holds_numbers("cholesky", o.common, {{"--out-r", &o.out_r}});
  parse_symmetric_kind(o.random);
  o.resolve("cholesky");
  if (o.common.plan) return run_plan<T>(o, DirectKind::cholesky, "cholesky");
  std::vector<std::string> notes;
  DirectProblem<T> p{DirectKind::cholesky, o.tile, o.n};
  p.a = load_a<T>(o, notes);
  p.b = load_b<T>(o);
  report.problem() = o.describe();
  for (const std::string& note : notes) report.note(note);
  const auto n = static_cast<double>(o.n);
  const double flops = flops_each<T> * (n * n * n / 3 + 2 * n * n * static_cast<double>(o.rhs));
  const DirectFactors factors = run_direct(o, p, flops, report);
  if (factors.stop > 0) {
    report.fail(fmt::format("not positive definite: the leading minor of order {} is not positive", factors.stop));
    return report.finish();
  }
  const double bound = factor_bound<T>(o.n, false);
  if (o.common.check) report.check("backward_error", Measured{cholesky_error(p.a, p.work).backward, bound});
  check_condition<T>(cholesky_condition(p.a, p.work), report);
  check_solution(o, p, bound, report);
  if (report.good() && !o.out_r.empty()) {
    HostMatrix<T> r = HostMatrix<T>::zeros(o.n, o.n);
    for (index_t j = 0; j < o.n; ++j)
      for (index_t i = 0; i <= j; ++i) r(i, j) = p.work(i, j);
    write_matrices(report, {{"R", o.out_r, r}});
  }
  return report.finish();
}

const Command cholesky_command(
    Command::Group::top, "cholesky", "A = R^T R, and A X = B, for a symmetric positive definite A", [](App& app) {
      auto o = std::make_shared<Options>();
      o->add_to(app, symmetric_kinds(), "geometric:100");
      auto* one = app.add_option("--uplo", o->uplo, "read only the lower or the upper triangle of A")
                      ->check(one_of({"lower", "upper"}));
      app.add_flag("--symmetrize", o->symmetrize, "use (A + A^T) / 2, with conjugates if A is complex")->excludes(one);
      add_tile(app, o->tile, "NB or NBxWIDTH, a multiple of NB");
      add_output(app, Output::matrix, "--out-r", o->out_r,
                 "write R, upper triangular, to FILE (.mtx, .npy, .csv or .txt)");
      o->common.add_to(app, {.complex = true, .streams = 2});  // diagonal blocks beside updates
      app.footer(
          "Examples:\n"
          "  tesela cholesky --a A.mtx --b B.mtx --out X.mtx\n"
          "  tesela cholesky --n 4000 --random geometric:1e6 --json -\n"
          "  tesela cholesky --n 1000 --rhs 3 --precision z\n"
          "  tesela cholesky --n 300 --by stages");
      return std::function<int()>(
          [o] { return run_for_number_type(*o, []<class T>(Options& options) { return run<T>(options); }); });
    });

}  // namespace
}  // namespace tesela::cli
