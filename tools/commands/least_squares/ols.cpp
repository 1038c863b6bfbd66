#include "tools/app/sizes.hpp"
#include "tools/commands/least_squares/solution.hpp"
#include <tesela/host/range_exponent.hpp>

#include <algorithm>
#include <complex>
#include <memory>

namespace tesela::cli {
namespace {

struct Options : LeastSquaresOptions {
  RegularizationOptions regularization;
};

template <class T>
int run_ols(Options o) {
  Report report("ols", o.common);
  o.require_complex("ols", choices(ols_table<std::complex<double>>()));
  require(!o.common.complex() || !o.regularization.wanted(), "ols", "--precision", o.common.precision,
          ": --ridge and --truncate have no complex numbers");
  o.regularization.require_valid(o);
  o.complete("ols");
  if (o.regularization.wanted()) o.uncertainty = {};
  if (o.formula.given()) o.load_model("ols");
  o.complete_sizes("ols");
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), r = static_cast<double>(o.rhs);
  const double matrices = o.streamed ? 0 : m < n ? 3 : 2;
  require_memory("ols", "A, its factors and B", (matrices * m * n + 2 * (m + n) * r) * sizeof(T));
  OlsProblem<T> p{o.method, o.rcond, o.tile, {o.m, o.n}, o.rhs, o.common.seed};
  p.keep_triangle = o.uncertainty.wanted();
  o.load(p);
  if constexpr (!is_complex<T>)
    if (o.regularization.wanted()) return run_regularized(o.regularization, o, p, report);
  report.problem() = o.describe();
  if (!o.method.library()) {
    if (p.rows == nullptr) p.unit_a = range_exponent(MatrixView<T>(p.a)), p.unit_b = range_exponent(MatrixView<T>(p.b));
    const OlsOptions chosen = p.options(o.method.name);
    o.share_rows = chosen.method == OlsMethod::tall_skinny;
    if (chosen.method == OlsMethod::tiles) report.problem()["tree"] = chosen.qr.tree;
  }
  const auto solved = solve<T>(o, report, ols_table<T>(), p);
  report.check("rank", static_cast<double>(solved.answer.rank));
  report.check("condition", solved.answer.condition);
  return report_regression<T>(o, report, solved, [&] { return measure_ols(p, o.method.name, solved.answer); });
}

const Command ols_command(Command::Group::top, "ols", "min ||A x - b||, any shape and rank", [](App& app) {
  auto o = std::make_shared<Options>();
  o->method.name = "auto";
  add_least_squares_options(
      app, *o,
      {.m = "rows of a generated A (default: 4n)",
       .n = "columns of a generated A (default: 512)",
       .rhs = "right-hand sides, uniform random numbers",
       .rcond = "singular values up to this times the largest count as zero, of A with columns scaled to unit norm, "
                "with gelsd of the unscaled A (default: max(m, n) eps)",
       .uncertainty = true,
       .formula = true,
       .complex = true},
      choices(ols_table<double>()));
  o->regularization.add_to(app);
  app.footer(
      "Without a unique answer (fewer rows than columns, or a deficient rank) x is the one of least norm.\n"
      "Examples:\n"
      "  tesela ols data.csv \"y ~ x1 * x2 + log(x3) + C(region)\"\n"
      "  tesela ols data.csv \"y ~ x1 + x2\" --ridge auto --svg gcv.svg\n"
      "  tesela ols --a A.mtx --b b.mtx --out x.mtx\n"
      "  tesela ols --m 4000 --n 300 --random rank:200 --json -\n"
      "  tesela ols --m 400 --n 30 --precision z");
  return std::function<int()>(
      [o] { return run_for_number_type(*o, []<class T>(Options& options) { return run_ols<T>(options); }); });
});

}  // namespace
}  // namespace tesela::cli
