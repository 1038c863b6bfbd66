#include "tools/app/choices.hpp"
#include "tools/app/matrix_outputs.hpp"
#include "tools/app/options.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/factor_condition.hpp"
#include "tools/checks/factor_error.hpp"
#include "tools/commands/dense/direct_solve.hpp"
#include "tools/commands/dense/stage_method.hpp"
#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/dense/range_scaling.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tesela::cli {
namespace {

struct Options : DirectOptions {
  std::string pivot, out_l, out_u, out_rows;
};

template <class T>
class TileLu : public DirectMethod<T> {
 public:
  explicit TileLu(Pivoting pivoting) : pivoting_(pivoting) {}
  TileShape tile(const Runtime& runtime, index_t n, const std::string& wanted) const override {
    return {std::max<index_t>(n, 1), parse_tile(wanted, suitable_lu_tile(runtime, n)).nb};
  }
  void factor(Graph& g, const TileMatrix<T>& A) override { factors_.emplace(lu(g, A, pivoting_)); }
  index_t stop() const override { return factors_->zero_pivot(); }
  void solve(Graph& g, const TileMatrix<T>& X) const override { factors_->solve(g, X); }
  bool whole_columns() const override { return true; }
  void finish() override {
    if (factors_) rows_ = factors_->rows();
    factors_.reset();
  }
  const std::vector<index_t>& rows() const { return rows_; }

 private:
  Pivoting pivoting_;
  std::optional<LuFactorization<T>> factors_;
  std::vector<index_t> rows_;
};

/// L, or U, of the factors.
template <class T>
HostMatrix<T> triangle(const HostMatrix<T>& factors, bool upper) {
  HostMatrix<T> t = HostMatrix<T>::zeros(factors.rows(), factors.cols());
  for (index_t j = 0; j < t.cols(); ++j)
    for (index_t i = upper ? 0 : j; i < (upper ? j + 1 : t.rows()); ++i)
      t(i, j) = i == j && !upper ? T(1) : factors(i, j);
  return t;
}

void resolve(Options& o) {
  o.resolve("lu");
  if (o.by == "stages" && o.pivot == "tournament")
    throw ArgumentError("lu", "--pivot", "tournament belongs to --by tiles, not to stages");
  if (o.pivot.empty()) o.pivot = o.by == "tiles" ? "tournament" : "none";
}

template <class T>
struct Factored {
  DirectResult<T> result;
  std::vector<index_t> rows;  ///< none without pivoting
};

template <class T>
Factored<T> factor(const Options& o, const HostMatrix<T>& a, const HostMatrix<T>& b, double flops, Report& report) {
  if (o.by == "tiles") {
    TileLu<T> method(*find_named(pivotings(), o.pivot));
    DirectResult<T> result = run_direct(o, method, a, b, flops, report);
    return {std::move(result), method.rows()};
  }
  StageMethod<T> method(false);
  return {run_direct(o, method, a, b, flops, report), {}};
}

template <class T>
int run(Options o) {
  Report report("lu", o.common);
  const RandomMatrix random = parse_random_kind(o.random);
  resolve(o);
  const HostMatrix<T> a = o.a.empty() ? generate<T>({o.n, o.n}, random, o.common.seed) : read_matrix<T>(o.a);
  const HostMatrix<T> b = load_b<T>(o);
  report.problem() = o.describe();
  report.problem()["pivot"] = o.pivot;
  const auto n = static_cast<double>(o.n);
  const double flops = 2 * n * n * n / 3 + 2 * n * n * static_cast<double>(o.rhs);
  const bool written = !o.out_l.empty() || !o.out_u.empty() || !o.out_rows.empty();
  std::optional<RangeScaling<T>> scaling;
  if (o.rhs > 0 && range_of(a, b).template leaves<T>()) scaling.emplace(a);
  const HostMatrix<T> scaled = scaling ? scaling->matrix(a.clone()) : HostMatrix<T>(),
                      scaled_b = scaling ? scaling->right_hand_sides(b.clone()) : HostMatrix<T>();
  Factored<T> of_a, solved;  // L and U of A itself, only if they are written; and with B, of D A E where A is scaled
  if (scaling && written) of_a = factor(o, a, b, flops, report);
  solved = factor(o, scaling ? scaled : a, scaling ? scaled_b : b, flops, report);
  const bool apart = scaling && written;
  const auto& [result, rows] = apart ? of_a : solved;
  if (const index_t stop = std::max(result.stop, solved.result.stop); stop > 0) {
    report.fail(fmt::format("the pivot of column {} is zero or not finite", stop));
    return report.finish();
  }
  const FactorError error = lu_error<T>(scaling && !apart ? scaled : a, result.factors, rows);
  const double bound = factor_bound<T>(o.n, true);
  report.check("backward_error", Measured{error.backward, bound});
  report.check("growth", error.growth);
  report.check("largest_multiplier", error.multipliers);
  check_condition<T>(lu_condition(scaling ? scaled : a, solved.result.factors, solved.rows), report);
  if (scaling) {
    report.note(
        "X is by L U = P D A E, for D and E powers of two: numbers of A and B, or their products, leave the range");
    solved.result.x = scaling->solution(std::move(solved.result.x));
  }
  check_solution(o, a, b, solved.result.x, bound, report);
  if (!report.good()) return report.finish();
  HostMatrix<T> lower, upper, order(o.n, 1);
  if (!o.out_l.empty()) lower = triangle(result.factors, false);
  if (!o.out_u.empty()) upper = triangle(result.factors, true);
  for (index_t i = 0; i < o.n; ++i)
    order(i, 0) = static_cast<T>((rows.empty() ? i : rows[static_cast<std::size_t>(i)]) + 1);
  write_matrices(report, {{"L", o.out_l, lower}, {"U", o.out_u, upper}, {"the order of rows", o.out_rows, order}});
  return report.finish();
}

const Command lu_command(Command::Group::top, "lu", "P A = L U, and A X = B", [](CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->add_to(app, random_kinds(), "uniform");
  Choices().add(pivotings()).add_option(app, "--pivot", o->pivot, "(default: tournament, by stages none) ");
  add_tile(app, o->tile, "NB, columns");
  add_output(app, Output::matrix, "--out-l", o->out_l, "write L to FILE");
  add_output(app, Output::matrix, "--out-u", o->out_u, "write U to FILE");
  add_output(app, Output::matrix, "--out-rows", o->out_rows,
             "write the row numbers of A in the order of P A, from 1, to FILE");
  o->common.add_to(app, {.streams = 2});  // panels beside updates
  app.footer(
      "Examples:\n"
      "  tesela lu --a A.mtx --b B.mtx --out X.mtx\n"
      "  tesela lu --n 4000 --pivot none --random kappa:1e3 --json -\n"
      "  tesela lu --n 300 --by stages --random kappa:1e3");
  return std::function<int()>([o] { return o->common.precision == "s" ? run<float>(*o) : run<double>(*o); });
});

}  // namespace
}  // namespace tesela::cli
