#include "tools/app/arguments.hpp"
#include "tools/app/choices.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/factor_error.hpp"
#include "tools/commands/dense/direct_solve.hpp"
#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/dense/range_scaling.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace tesela::cli {
namespace {

struct Options : DirectOptions {
  std::string pivot, out_l, out_u, out_rows;
};

/// Returns L, or U, of the factors.
template <class T>
HostMatrix<T> triangle(const HostMatrix<T>& factors, bool upper) {
  HostMatrix<T> t = HostMatrix<T>::zeros(factors.rows(), factors.cols());
  for (index_t j = 0; j < t.cols(); ++j)
    for (index_t i = upper ? 0 : j; i < (upper ? j + 1 : t.rows()); ++i)
      t(i, j) = i == j && !upper ? T(1) : factors(i, j);
  return t;
}

/// Returns why to factor D A E in place of A, or nothing. Rows more than half of the digits apart would decide the
/// pivots, and sums with larger rows would lose the smaller rows (as in lu_solve).
template <class T>
std::string reason_to_scale(const DirectProblem<T>& p) {
  const SystemRange range = range_of(p.a, p.b);
  if (p.b.cols() > 0 && range.template leaves<T>()) return "numbers of A and B, or their products, leave the range";
  const bool rows_decide = p.kind == DirectKind::lu && spread(range.rows) > std::numeric_limits<real_t<T>>::digits / 2;
  return rows_decide ? "the sizes of A's rows would decide the pivots" : "";
}

/// Returns max |D' U E| for P D A E = (D' L D'^-1) (D' U E), where D and E scale rows and columns to sizes near 1.
template <class T>
double growth_in_units(const HostMatrix<T>& a, const HostMatrix<T>& factors, const std::vector<index_t>& rows) {
  const index_t n = a.rows();
  const Units units = units_of(n, n, [&](const auto& f) {
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) f(i, j, largest_part(a(i, j)));
  });
  double growth = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) {
      const int unit = units.rows[at(rows.empty() ? i : rows[at(i)])] + units.columns[at(j)];
      const double size = std::ldexp(static_cast<double>(largest_part(factors(i, j))), -unit);
      if (!(size <= growth)) growth = size;
    }
  return growth;
}

void resolve(Options& o) {
  o.resolve("lu");
  require(o.by == "tiles" || o.pivot != "tournament", "lu", "--pivot",
          "tournament belongs to --by tiles, not to stages");
  if (o.pivot.empty()) o.pivot = o.by == "tiles" ? "tournament" : "none";
}

template <class T>
int run(Options o) {
  Report report("lu", o.common);
  require_holds_numbers("lu", o.common, {{"--out-l", &o.out_l}, {"--out-u", &o.out_u}});
  const RandomMatrix random = parse_random_kind(o.random);
  resolve(o);
  if (o.common.plan) return run_plan<T>(o, DirectKind::lu, "lu");
  DirectProblem<T> p{o.pivot == "none" ? DirectKind::lu_without_pivots : DirectKind::lu, o.tile, o.n};
  p.a = o.a.empty() ? generate<T>({o.n, o.n}, random, o.common.seed) : read_matrix<T>(o.a);
  p.b = load_b<T>(o);
  report.problem() = o.describe();
  report.problem()["pivot"] = o.pivot;
  const auto n = static_cast<double>(o.n);
  const double flops = flops_each<T> * (2 * n * n * n / 3 + 2 * n * n * static_cast<double>(o.rhs));
  const bool written = !o.out_l.empty() || !o.out_u.empty() || !o.out_rows.empty();
  std::optional<RangeScaling<T>> scaling;
  DirectProblem<T> scaled{p.kind, o.tile, o.n};  // D A E and D B
  const std::string reason = reason_to_scale(p);
  if (!reason.empty()) {
    scaling.emplace(p.a);
    scaled.a = scaling->matrix(p.a.clone());
    scaled.b = scaling->right_hand_sides(p.b.clone());
  }
  DirectFactors of_a, of_scaled;
  if (!scaling || written) of_a = run_direct(o, p, flops, report);
  if (scaling) of_scaled = run_direct(o, scaled, flops, report);
  if (const index_t stop = std::max(of_a.stop, of_scaled.stop); stop > 0) {
    report.fail(fmt::format("the pivot of column {} is zero or not finite", stop));
    return report.finish();
  }
  const auto& [shown, rows] = scaling && !written ? std::tie(scaled, of_scaled.rows) : std::tie(p, of_a.rows);
  const auto& [solved, order] = scaling ? std::tie(scaled, of_scaled.rows) : std::tie(p, of_a.rows);
  const FactorError error = o.common.check ? lu_error<T>(shown.a, shown.work, rows) : FactorError{};
  const double bound = factor_bound<T>(o.n, true);
  report.check("backward_error", Measured{error.backward, bound});
  if (o.common.check) report.check("growth", error.growth);
  if (o.common.check) report.check("largest_multiplier", error.multipliers);
  check_condition<T>(lu_condition(solved.a, solved.work, order), report,
                     [&a = solved.a, &f = solved.work, &by = order] { return growth_in_units(a, f, by); });
  if (scaling) {
    report.note(fmt::format("{} by L U = P D A E, for D and E powers of two: {}",
                            o.rhs > 0 ? "X is"
                            : written ? "the condition is"
                                      : "the checks are",
                            reason));
    p.x = scaling->solution(std::move(scaled.x));
  }
  check_solution(o, p, bound, report);
  if (!report.good()) return report.finish();
  HostMatrix<T> lower, upper;
  HostMatrix<real_t<T>> numbers(o.n, 1);
  if (!o.out_l.empty()) lower = triangle(shown.work, false);
  if (!o.out_u.empty()) upper = triangle(shown.work, true);
  for (index_t i = 0; i < o.n; ++i)
    numbers(i, 0) = static_cast<real_t<T>>((rows.empty() ? i : rows[static_cast<std::size_t>(i)]) + 1);
  write_matrices(report, {{"L", o.out_l, lower}, {"U", o.out_u, upper}, {"the order of rows", o.out_rows, numbers}});
  return report.finish();
}

const Command lu_command(Command::Group::top, "lu", "P A = L U, and A X = B", [](App& app) {
  auto o = std::make_shared<Options>();
  o->add_to(app, random_kinds(), "uniform");
  Choices().add(pivotings()).add_option(app, "--pivot", o->pivot, "(default: tournament, by stages none) ");
  add_tile(app, o->tile, "NB, columns");
  add_output(app, Output::matrix, "--out-l", o->out_l, "write L to FILE");
  add_output(app, Output::matrix, "--out-u", o->out_u, "write U to FILE");
  add_output(app, Output::matrix, "--out-rows", o->out_rows,
             "write the row numbers of A in the order of P A, from 1, to FILE");
  o->common.add_to(app, {.complex = true, .streams = 2});  // panels beside updates
  app.footer(
      "Examples:\n"
      "  tesela lu --a A.mtx --b B.mtx --out X.mtx\n"
      "  tesela lu --n 4000 --pivot none --random kappa:1e3 --json -\n"
      "  tesela lu --n 1000 --rhs 3 --precision z\n"
      "  tesela lu --n 300 --by stages --random kappa:1e3");
  return std::function<int()>(
      [o] { return run_for_number_type(*o, []<class T>(Options& options) { return run<T>(options); }); });
});

}  // namespace
}  // namespace tesela::cli
