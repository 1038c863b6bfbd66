#include "tools/commands/econometrics/sem_report.hpp"

#include <tesela/algorithms/econometrics/regression.hpp>
#include <tesela/algorithms/econometrics/sem_summary.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::cli {
namespace {

using nlohmann::json;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

json chi_squared_test(const TestStatistic& test) {
  if (std::isnan(test.statistic)) return nullptr;
  return {{"statistic", test.statistic},
          {"df", test.df},
          {"p", p_of_chi_squared(test.statistic, static_cast<double>(test.df))}};
}

json matrix(const HostMatrix<double>& a) {
  json rows = json::array();
  for (index_t i = 0; i < a.rows(); ++i) {
    rows.push_back(json::array());
    for (index_t j = 0; j < a.cols(); ++j) rows.back().push_back(a(i, j));
  }
  return rows;
}

/// Returns the status of the equation, or of its system if the equation is ok.
const char* status_of(const SemOutcome& o, const EquationEstimate& e) {
  return e.status == EquationStatus::ok ? description(o.answer.status) : description(e.status);
}

CoefficientTest test_of(const SemOutcome& o, const EquationEstimate& e, std::size_t p) {
  return tesela::test_of(e, p, o.problem.options.divisor, o.level);
}

json equation_json(const SemOutcome& o, std::size_t i) {
  const EquationEstimate& e = o.answer.equations[i];
  const Equation& equation = o.problem.model.equations[i];
  json result = {
      {"label", o.problem.labels[i]}, {"status", status_of(o, e)}, {"dependent", o.problem.name(equation.dependent)}};
  if (!e.dependent_regressors.empty()) {
    result["because_of"] = json::array();
    for (const index_t c : e.dependent_regressors) result["because_of"].push_back(o.problem.name(c));
  }
  if (e.status == EquationStatus::not_identified_order)
    result["excluded_instruments"] = {{"given", e.excluded}, {"needed", e.endogenous}};
  if (e.coefficients.empty()) return result;
  const std::string covariance = covariance_name(o.problem.options, o.problem.groups);
  result["covariance"] = covariance;
  result["coefficients"] = json::array();
  for (std::size_t p = 0; p < e.coefficients.size(); ++p) {
    const CoefficientTest t = test_of(o, e, p);
    result["coefficients"].push_back({{"name", o.problem.name(equation.regressors[p])},
                                      {"estimate", e.coefficients[p]},
                                      {"std_error", e.standard_errors[p]},
                                      {"statistic", t.statistic},
                                      {"p", t.p},
                                      {"low", t.low},
                                      {"high", t.high}});
  }
  result.update({{"degrees_of_freedom", e.degrees_of_freedom},
                 {"sigma", e.sigma},
                 {"r2", e.r2},
                 {"adjusted_r2", e.adjusted_r2},
                 {"f", e.f.statistic},
                 {"slopes", nullptr},
                 {"condition", e.condition},
                 {"perfect_fit", e.perfect_fit}});
  if (!std::isnan(e.f.statistic))
    result["slopes"] = {{"wald", e.f.statistic * static_cast<double>(e.f.df)},
                        {"df1", e.f.df},
                        {"df2", e.f.df2},
                        {"p", p_of_slopes(e.f, o.problem.options.divisor)}};
  const bool robust = o.problem.options.robust;
  result[robust ? "hansen" : "sargan"] = chi_squared_test(robust ? e.hansen : e.sargan);
  result["first_stage"] = json::object();
  for (std::size_t p = 0; p < e.first_stage.size(); ++p) {
    const TestStatistic& f = e.first_stage[p];
    if (f.df2 > 0)
      result["first_stage"][o.problem.name(equation.regressors[p])] = {
          {"f", f.statistic},
          {"df1", f.df},
          {"df2", f.df2},
          {"p", p_of_f(f.statistic, static_cast<double>(f.df), static_cast<double>(f.df2))},
          {"covariance", covariance}};
  }
  if (!std::isnan(o.error.normal_residuals[i])) result["normal_residual"] = o.error.normal_residuals[i];
  return result;
}

/// Returns the largest error of a coefficient, relative to the largest of its equation; NaN without coefficients.
double truth_error(const SemOutcome& o) {
  double most = nan;
  for (std::size_t i = 0; i < o.problem.truth.size(); ++i) {
    double size = 0, distance = 0;
    const std::vector<double>& b = o.answer.equations[i].coefficients;
    for (std::size_t p = 0; p < b.size(); ++p) {
      size = std::max(size, std::abs(o.problem.truth[i][p]));
      distance = std::max(distance, std::abs(b[p] - o.problem.truth[i][p]));
    }
    if (!b.empty()) most = std::fmax(most, distance / size);
  }
  return most;
}

void report_status(const SemOutcome& o, Report& report) {
  if (o.answer.status == SemStatus::singular_covariance) {
    std::string names;
    for (const index_t i : o.answer.singular)
      names += (names.empty() ? ": " : ", ") + o.problem.labels[static_cast<std::size_t>(i)];
    const auto equations = std::ranges::count(o.answer.equations, EquationStatus::ok, &EquationEstimate::status);
    if (const index_t D = o.problem.rows().m; D < equations)
      names += fmt::format(" ({} observations of {} equations)", D, equations);
    report.fail(description(o.answer.status) + names);
  }
  for (std::size_t i = 0; i < o.answer.equations.size(); ++i) {
    const EquationEstimate& e = o.answer.equations[i];
    if (e.status == EquationStatus::ok) continue;
    const std::string status = o.problem.labels[i] + ": " + description(e);
    if (e.coefficients.empty()) {
      report.fail(status);
    } else {
      if (report.good()) report.remark(status);
      report.note(o.problem.labels[i] + ": its coefficients are not unique, and have the least norm");
    }
  }
  if (o.answer.status == SemStatus::not_converged)
    report.fail(fmt::format("not converged: {} iterations, the last moved a coefficient by {:.2g}", o.answer.iterations,
                            o.answer.last_change));
}

/// Notes the equations whose residuals are rounding errors alone.
void note_perfect_fits(const SemOutcome& o, Report& report) {
  constexpr index_t most_named = 5;
  std::string names;
  index_t count = 0;
  for (std::size_t i = 0; i < o.answer.equations.size(); ++i) {
    const EquationEstimate& e = o.answer.equations[i];
    if (!e.perfect_fit || e.coefficients.empty()) continue;
    if (++count <= most_named) names += (names.empty() ? "" : ", ") + o.problem.labels[i];
  }
  if (count > most_named) names += fmt::format(" and {} more", count - most_named);
  if (count > 0)
    report.note(names + ": the fit is exact up to rounding: the standard errors count as 0, and there are no tests");
}

/// Returns a CSV field, in quotes if it needs them.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",;\"\n\r\t") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

void report_outcome(const SemOutcome& o, Report& report) {
  json equations = json::array();
  for (std::size_t i = 0; i < o.answer.equations.size(); ++i) equations.push_back(equation_json(o, i));
  report.section("equations", equations);
  json system = json::object();
  if (o.answer.residual_covariance.rows() > 0) {
    system["residual_covariance"] = matrix(o.answer.residual_covariance);
    system["correlation"] = matrix(o.answer.residual_correlation);
  }
  if (o.answer.weighting_covariance.rows() > 0) system["weighting_covariance"] = matrix(o.answer.weighting_covariance);
  system["mcelroy_r2"] = o.answer.mcelroy_r2;
  system["hansen_sargan"] = chi_squared_test(o.answer.hansen_sargan);
  if (o.problem.options.robust) system["hansen"] = chi_squared_test(o.answer.hansen);
  if (o.answer.iterations > 0) system["iterations"] = o.answer.iterations, system["last_change"] = o.answer.last_change;
  if (o.answer.system_solver != SystemSolver::automatic)
    system["solver"] = name_of(system_solvers(), o.answer.system_solver);
  if (o.answer.system_solver == SystemSolver::gradients) {
    system["gradient_steps"] = o.answer.gradient_steps;
    system["std_errors"] = "none by conjugate gradients";
  }
  report.section("system", system);
  report_status(o, report);
  note_perfect_fits(o, report);

  if (const double normal = o.error.normal_residual(); !std::isnan(normal))
    report.check("normal_residual", Measured{normal, o.error.bound});
  if (!std::isnan(o.error.system_residual))
    report.check("system_residual", Measured{o.error.system_residual, o.error.bound});
  if (const double truth = truth_error(o); !std::isnan(truth)) report.check("truth_error", truth);
}

void print_equations(const SemOutcome& o) {
  fmt::print("{}\n", summary(o.answer, o.problem, o.problem.options, o.level));
}

void write_coefficients(const std::string& path, const SemOutcome& o) {
  AtomicFile file(path);
  file.write("equation,name,estimate,std_error,statistic,p,low,high\n");
  for (std::size_t i = 0; i < o.answer.equations.size(); ++i) {
    const EquationEstimate& e = o.answer.equations[i];
    for (std::size_t p = 0; p < e.coefficients.size(); ++p) {
      const CoefficientTest t = test_of(o, e, p);
      std::string line =
          csv_field(o.problem.labels[i]) + ',' + csv_field(o.problem.name(o.problem.model.equations[i].regressors[p]));
      for (const double x : {e.coefficients[p], e.standard_errors[p], t.statistic, t.p, t.low, t.high})
        line += ',' + (std::isfinite(x) ? fmt::format("{}", x) : std::string("NA"));
      file.write(line + '\n');
    }
  }
  file.commit();
}

void write_csv(const std::string& path, const std::vector<std::string>& names, const HostMatrix<double>& columns,
               const std::vector<std::string>& rows) {
  AtomicFile file(path);
  std::string line = rows.empty() ? "" : "name,";
  for (std::size_t c = 0; c < names.size(); ++c) line += (c > 0 ? "," : "") + csv_field(names[c]);
  file.write(line + '\n');
  for (index_t t = 0; t < columns.rows(); ++t) {
    line = rows.empty() ? "" : csv_field(rows[static_cast<std::size_t>(t)]) + ',';
    for (index_t c = 0; c < columns.cols(); ++c) {
      const double x = columns(t, c);
      line += (c > 0 ? "," : "") + (std::isfinite(x) ? fmt::format("{}", x) : std::string("NA"));
    }
    file.write(line + '\n');
  }
  file.commit();
}

}  // namespace tesela::cli
