#include "tools/commands/least_squares/uncertainty.hpp"

#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/outputs.hpp"
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/scalar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {
namespace {

/// Adds the names and the fit of a formula's regression to its table.
void add_fit(const RegressionNames& names, double residual_norm, index_t rank, index_t degrees_of_freedom,
             nlohmann::json& table) {
  table["dependent"] = names.dependent;
  for (std::size_t j = 0; j < names.unknowns.size(); ++j) table["coefficients"][j]["name"] = names.unknowns[j];
  if (std::isnan(names.total_norm)) return;
  const FitTest fit = test_fit(names.total_norm, residual_norm, rank, names.intercept, degrees_of_freedom);
  table.update(
      {{"r2", fit.r2}, {"adjusted_r2", fit.adjusted_r2}, {"f", fit.f}, {"f_p", fit.p}, {"f_df", {fit.df1, fit.df2}}});
}

/// Returns the regression with the unknowns `x`; real numbers have tests as well.
template <class T>
nlohmann::json json_of(const Regression& one, const T* x, double level) {
  const bool known = std::isinf(one.degrees_of_freedom);
  nlohmann::json unknowns = nlohmann::json::array();
  for (std::size_t j = 0; j < one.standard_errors.size(); ++j) {
    nlohmann::json unknown{{"unknown", j + 1}, {"std_error", one.standard_errors[j]}};
    if constexpr (is_complex<T>)
      unknown["estimate"] = {x[j].real(), x[j].imag()};
    else
      unknown.update({{"estimate", x[j]},
                      {"statistic", one.tests[j].statistic},
                      {"p", one.tests[j].p},
                      {"low", one.tests[j].low},
                      {"high", one.tests[j].high}});
    unknowns.push_back(unknown);
  }
  nlohmann::json all{{"sigma", one.sigma},
                     {"degrees_of_freedom", known ? nlohmann::json() : nlohmann::json(one.degrees_of_freedom)},
                     {"covariance", known ? "known variances" : "classical"},
                     {"coefficients", unknowns}};
  if (!is_complex<T>) all.update({{"statistic", known ? "z" : "t"}, {"level", level}});
  return all;
}

/// Returns whether the unknowns do not depend on errors: their variances are then 0 for errors of any variance.
template <class T>
bool is_exact(const Uncertainty<T>& found) {
  const auto zero = [](auto x) { return x == decltype(x)(0); };
  const HostMatrix<T>& V = found.covariance;
  return std::all_of(found.errors.begin(), found.errors.end(), zero) &&
         std::all_of(V.data(), V.data() + V.size(), zero);
}

/// Returns why there are no standard errors; empty if there are.
template <class T>
std::string why_none(const UncertaintyOptions& options, const Uncertainty<T>& found, const RegressionData<T>& data) {
  const index_t n = data.X.rows();
  if (n == 0) return {};
  if (data.rank < n)
    return fmt::format("the rank {} is less than the {} unknowns, which leaves some undetermined", data.rank, n);
  if (!options.regression.known_variances && data.degrees_of_freedom <= 0 && !is_exact(found))
    return "no degree of freedom is left to estimate the errors' variance; --known-variances takes it as given";
  return {};
}

}  // namespace

void UncertaintyOptions::add_to(App& app) {
  app.add_flag("--std-errors", errors,
               "standard errors, t, p and intervals of the unknowns, of complex ones standard errors (the errors' "
               "variance, E|e|^2, is estimated: ||r||^2 / degrees of freedom)");
  app.add_flag("--known-variances", regression.known_variances,
               "standard errors, z and p for errors of the variances that are given (of ols 1), which nothing scales");
  app.add_option("--level", regression.level, "probability of the intervals")
      ->check(cli::between(1e-6, 1 - 1e-6))
      ->show_default();
  add_output(
      app, Output::matrix, "--out-covariance", covariance,
      "write the covariance of the unknowns, n x n, to FILE; with several right-hand sides, whose variances differ, "
      "n x n rhs; not for deficient ranks");
}

void UncertaintyOptions::require_valid(const char* command, const QrMethod& method) const {
  require(!wanted() || !method.library(), command, errors ? "--std-errors" : "--out-covariance",
          "needs a triangle, which --method ", method.name, " does not leave");
  require(!regression.known_variances || wanted(), command, "--known-variances",
          "belongs to --std-errors or --out-covariance");
  require(regression.level == RegressionOptions{}.level || errors, command, "--level", "belongs to --std-errors");
}

template <class T>
void report_uncertainty(const UncertaintyOptions& options, const Uncertainty<T>& found, const RegressionData<T>& data,
                        Report& report) {
  if (!options.wanted()) return;
  const index_t df = data.degrees_of_freedom;
  const bool known = options.regression.known_variances;
  const std::string none = why_none(options, found, data);
  const std::vector<Regression> all =
      regressions(data.X, found.errors, data.residual_norms, data.degrees_of_freedom, options.regression);
  if (options.errors) {
    nlohmann::json errors = nlohmann::json::array(), variances = nlohmann::json::array(),
                   tables = nlohmann::json::array();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Regression& one = all[k];
      tables.push_back(json_of(one, data.X.data() + static_cast<index_t>(k) * data.X.ld(), options.regression.level));
      if (!data.names.unknowns.empty())
        add_fit(data.names, static_cast<double>(data.residual_norms.front()), data.rank, df, tables.back());
      for (const double error : one.standard_errors)
        if (none.empty()) errors.push_back(error);
    }
    for (const double norm : data.residual_norms) {
      if (df <= 0) continue;
      const double variance = norm * norm / static_cast<double>(df);
      variances.push_back(std::isnormal(variance) || norm == 0 ? variance : NAN);  // null beyond the range
    }
    report.section("regression", tables);
    report.section("standard_errors", errors);
    report.section("residual_variances", variances);
    if (!none.empty()) report.note("no standard errors: " + none);
    if (none.empty() && data.exact_fit && !known)
      report.note("the fit is exact up to rounding: these standard errors measure rounding errors");
  }
  if (options.covariance.empty()) return;
  if (!none.empty()) return report.fail("no covariance: " + none);
  write_matrices(report, {{"covariance", options.covariance, covariances(found.covariance, all, options.regression)}});
}

TESELA_FUNCTIONS_FOR_NUMBERS(report_uncertainty)

}  // namespace tesela::cli
