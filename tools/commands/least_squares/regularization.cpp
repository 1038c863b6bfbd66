#include "tools/app/arguments.hpp"
#include "tools/app/outputs.hpp"
#include "tools/commands/least_squares/solution.hpp"
#include "tools/commands/support/pictures.hpp"
#include <tesela/algorithms/econometrics/model_formulas.hpp>
#include <tesela/algorithms/least_squares/regularized_least_squares.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/shortest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tesela::cli {

using namespace kernels;
namespace {

constexpr const char* automatic = "auto";
constexpr std::size_t most_curves = 8;

/// Accepts "auto" and numbers from 0 on.
Check auto_or_number(bool whole) {
  return {[whole](std::string& text) -> std::string {
            if (text == automatic) return {};
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error == std::errc() && end == text.data() + text.size() && value >= 0 && std::isfinite(value) &&
                (!whole || value == std::floor(value)))
              return {};
            return text + (whole ? " is neither auto nor a whole number from 0 on"
                                 : " is neither auto nor a number from 0 on");
          },
          "auto or NUMBER"};
}

RegularizedOptions options_of(const RegularizationOptions& o, bool intercept) {
  RegularizedOptions result;
  const bool ridge = !o.ridge.empty();
  const std::string& text = ridge ? o.ridge : o.truncate;
  result.kind = ridge ? Regularization::ridge : Regularization::truncated;
  if (text != automatic) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    result.parameter = value;
  }
  result.intercept = intercept;
  return result;
}

/// Returns A without the column of this number.
template <class T>
HostMatrix<T> without_column(const HostMatrix<T>& a, index_t skipped) {
  return filled<T>({a.rows(), a.cols() - 1}, [&](index_t i, index_t j) { return a(i, j < skipped ? j : j + 1); });
}

/// Measures the errors of X for the original rows. `constant` is the column of the intercept in A, or -1.
template <class T>
class RegularizedErrors {
 public:
  RegularizedErrors(const OlsProblem<T>& p, const Regularized<T>& answer, Regularization kind, index_t constant)
      : p_(p), answer_(answer), kind_(kind), constant_(constant), n_(answer.X.rows()) {}

  /// Returns the largest errors of all columns, and the norm of all residuals.
  NormalResidual<double>::Result result() const {
    NormalResidual<double>::Result worst;
    for (index_t j = 0; j < answer_.X.cols(); ++j) {
      const auto one = of_column(j);
      worst.residual_norm = std::hypot(worst.residual_norm, one.residual_norm);
      for (double NormalResidual<double>::Result::*const error :
           {&NormalResidual<double>::Result::backward_error, &NormalResidual<double>::Result::normal_residual})
        worst.*error = std::isnan(one.*error) ? one.*error : std::max(worst.*error, one.*error);
    }
    return worst;
  }

 private:
  NormalResidual<double>::Result of_column(index_t j) const {
    const RegularizedFit& fit = answer_.fits[static_cast<std::size_t>(j)];
    const bool truncated = kind_ == Regularization::truncated;
    const index_t used = truncated ? static_cast<index_t>(fit.parameter) : n_;
    const index_t columns = used + (constant_ >= 0 ? 1 : 0);
    HostMatrix<double> y = HostMatrix<double>::zeros(columns, 1);
    for (index_t c = 0; c < used; ++c)
      for (index_t i = 0; i < n_; ++i)
        y(c, 0) += (truncated ? answer_.V(i, c) : i == c ? 1 : 0) * static_cast<double>(answer_.X(i, j));
    if (constant_ >= 0) y(used, 0) = fit.intercept;
    NormalResidual<double> sums(y);
    p_.for_each_block([&](index_t first, const Block<const T>& rows) {
      const HostMatrix<double> z = design(rows, used, columns);
      const auto b = filled<double>({rows.rows, 1}, [&](index_t i, index_t) { return p_.b(first + i, j); });
      sums.add(rows.rows, z.data(), z.ld(), b.data(), b.ld());
    });
    if (fit.root > 0) {
      const auto penalty = filled<double>({n_, columns}, [&](index_t i, index_t c) { return i == c ? fit.root : 0; });
      const auto zero = HostMatrix<double>::zeros(n_, 1);
      auto result = sums.result();
      const double residual = result.residual_norm;
      sums.add(n_, penalty.data(), penalty.ld(), zero.data(), zero.ld());
      result = sums.result();
      result.residual_norm = residual;
      return result;
    }
    return sums.result();
  }

  /// Returns the rows of A, or of A V_k, and ones.
  HostMatrix<double> design(const Block<const T>& rows, index_t used, index_t columns) const {
    const auto a = filled<double>({rows.rows, n_}, [&](index_t i, index_t c) {
      return static_cast<double>(rows(i, constant_ >= 0 && c >= constant_ ? c + 1 : c));
    });
    HostMatrix<double> z(rows.rows, columns);
    if (rows.rows == 0) return z;
    if (kind_ == Regularization::ridge)
      std::copy_n(a.data(), a.size(), z.data());
    else if (used > 0)
      blas::gemm<double>(Op::none, Op::none, rows.rows, used, n_, 1, a.data(), a.ld(), answer_.V.data(), answer_.V.ld(),
                         0, z.data(), z.ld());
    if (constant_ >= 0) std::fill_n(&z(0, used), rows.rows, 1.0);
    return z;
  }

  const OlsProblem<T>& p_;
  const Regularized<T>& answer_;
  Regularization kind_;
  index_t constant_, n_;
};

/// Returns X with the intercept in its place among the unknowns.
template <class T>
HostMatrix<T> with_intercept(const Regularized<T>& answer, index_t constant) {
  if (constant < 0) return answer.X.clone();
  return filled<T>({answer.X.rows() + 1, answer.X.cols()}, [&](index_t i, index_t j) {
    return i == constant ? static_cast<T>(answer.fits[static_cast<std::size_t>(j)].intercept)
                         : answer.X(i < constant ? i : i - 1, j);
  });
}

template <class T>
void report_fits(const Regularized<T>& answer, const std::string& parameter, Report& report) {
  nlohmann::json all = nlohmann::json::array();
  for (const RegularizedFit& fit : answer.fits) {
    nlohmann::json one{{parameter, fit.parameter},
                       {"gcv", fit.gcv},
                       {"effective_df", fit.effective_df},
                       {"residual_norm", fit.residual_norm}};
    if (fit.root > 0 && !std::isnormal(fit.parameter)) {
      one["sqrt_lambda"] = fit.root;
      report.note(fmt::format("lambda is beyond the range of double precision; its root is {:.6g}", fit.root));
    }
    for (const GcvPoint& point : fit.curve) one["curve"].push_back({{parameter, point.parameter}, {"gcv", point.gcv}});
    all.push_back(one);
    if (fit.at_end) report.note("the cross-validation prefers the largest lambda: A explains nothing of b");
  }
  report.section("regularization", all);
  if (answer.fits.size() != 1) return;
  report.check(parameter, answer.fits.front().parameter);
  report.check("gcv", answer.fits.front().gcv);
  report.check("effective_df", answer.fits.front().effective_df);
}

template <class T>
void draw_curves(const std::string& path, const Regularized<T>& answer, bool ridge) {
  if (path.empty()) return;
  LinePicture picture{"generalized cross-validation", ridge ? "lambda" : "k", "G", ridge, true, {}};
  for (std::size_t j = 0; j < std::min(answer.fits.size(), most_curves); ++j) {
    const RegularizedFit& fit = answer.fits[j];
    LinePicture::Line line{answer.fits.size() > 1 ? fmt::format("right-hand side {}", j + 1) : "G"};
    for (const GcvPoint& point : fit.curve) line.points.emplace_back(point.parameter, point.gcv);
    line.marks = {{fit.parameter, fit.gcv}};
    picture.lines.push_back(line);
  }
  write_text(path, draw(picture));
}

}  // namespace

void RegularizationOptions::add_to(App& app) {
  auto* const of_ridge =
      app.add_option("--ridge", ridge,
                     "add LAMBDA ||x||^2 to ||A x - b||^2; columns are not scaled, and a formula's intercept is not "
                     "penalized; auto: by generalized cross-validation")
          ->check(auto_or_number(false))
          ->type_name("LAMBDA|auto");
  app.add_option("--truncate", truncate,
                 "use the K largest singular values of A alone; auto: by generalized cross-validation")
      ->check(auto_or_number(true))
      ->type_name("K|auto")
      ->excludes(of_ridge);
  add_output(app, Output::text, "--svg", svg, "draw the curve of --ridge auto or --truncate auto to FILE");
}

void RegularizationOptions::require_valid(const LeastSquaresOptions& o) const {
  const char* const option = ridge.empty() ? "--truncate" : "--ridge";
  require(svg.empty() || ridge == automatic || truncate == automatic, "ols", "--svg",
          "belongs to --ridge auto and --truncate auto");
  if (!wanted()) return;
  require(!o.method.library(), "ols", option, "is no part of --method ", o.method.name);
  require(!o.uncertainty.wanted(), "ols", option, "has no standard errors: its x is biased, and the bias is not known");
}

template <class T>
int run_regularized(const RegularizationOptions& regularization, LeastSquaresOptions& o, OlsProblem<T>& p,
                    Report& report) {
  const bool ridge = !regularization.ridge.empty();
  const std::string parameter = ridge ? "lambda" : "k";
  const index_t constant = o.model != nullptr && o.model->intercept ? o.model->find(intercept_name) : -1;
  HostMatrix<T> columns;
  if (constant >= 0) columns = without_column(p.a, constant);
  HostMatrix<T>& a = constant >= 0 ? columns : p.a;
  RegularizedOptions options = options_of(regularization, constant >= 0);
  const index_t values = std::min(o.m, o.n - (constant >= 0 ? 1 : 0));
  require(ridge || options.parameter.value_or(0) <= static_cast<double>(values), "ols", "--truncate",
          regularization.truncate, "; A has ", counted(values, "singular value"));
  report.problem() = o.describe();
  report.problem()[ridge ? "ridge" : "truncate"] = ridge ? regularization.ridge : regularization.truncate;
  OlsOptions reduction = p.options(o.method.name);
  reduction.column_ends.clear();
  report.problem()["method"] = method_name(p.method, reduction);
  options.reduction = reduction;
  Regularized<T> answer;
  {
    Runtime runtime(o.common.runtime());
    const auto compute = [&](Graph* g) {
      answer = p.rows != nullptr && p.shape.rows > 0 && p.shape.cols > 0
                   ? regularized_least_squares(*g, *p.rows, p.b, options)
                   : regularized_least_squares(*g, MatrixView<T>(a), MatrixView<T>(p.b), options);
    };
    const Solver<int> solver{[] {}, compute, {}, [] { return 0; }};
    run_timed(o.common, runtime, report, solver, p.flops());
  }
  if (answer.status != SolveStatus::inaccurate) report_status(o, answer.status, report);
  if (answer.X.cols() != o.rhs || answer.status == SolveStatus::not_finite) return report.finish();
  report.check("rank", static_cast<double>(answer.rank));
  if (!answer.values.empty()) report.check("condition", answer.values.front() / answer.values.back());
  report_fits(answer, parameter, report);
  const HostMatrix<T> x = with_intercept(answer, constant);
  if (o.common.check) {
    const blas::Threads threads(blas::all_cores());
    const auto errors = RegularizedErrors<T>(p, answer, options.kind, constant).result();
    report.check("residual_norm", errors.residual_norm);
    report.check("backward_error", {errors.backward_error, rounding_bound<T>(std::max(o.m, o.n)), 2 * answer.cut});
  }
  if (answer.status == SolveStatus::inaccurate && report.good()) report.fail(inaccurate(answer));
  report.check("solution_norm", static_cast<double>(euclidean_norm(answer.X.size(), answer.X.data())));
  if (answer.status == SolveStatus::rank_deficient) note_least_norm(false, true, report);
  if (o.model != nullptr) {
    nlohmann::json all = nlohmann::json::array();
    for (index_t j = 0; j < x.rows(); ++j)
      all.push_back({{"name", o.model->names[static_cast<std::size_t>(j)]}, {"estimate", x(j, 0)}});
    report_coefficients(o.model->dependent, all, report);
  }
  o.note_formula(report);
  draw_curves(regularization.svg, answer, ridge);
  write_matrices(report, {{"X", o.out, x, o.column_form()}});
  return report.finish();
}

TESELA_FUNCTIONS_FOR_REALS(run_regularized)

}  // namespace tesela::cli
