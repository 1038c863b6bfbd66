#include <tesela/algorithms/econometrics/sem_summary.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

namespace tesela {
namespace {

/// Formats as std::printf.
template <class... Arguments>
std::string text(const char* format, const Arguments&... arguments) {
  const int size = std::snprintf(nullptr, 0, format, arguments...);
  std::string result(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(result.data(), result.size(), format, arguments...);
  result.pop_back();
  return result;
}

/// Formats a number as std::printf, after a space, in at least `width` characters; "-" replaces NaN.
std::string number(std::size_t width, const char* format, double x) {
  const std::string result = std::isnan(x) ? "-" : text(format, x);
  return std::string(1 + (result.size() < width ? width - result.size() : 0), ' ') + result;
}

/// Returns a name in a column of 24 characters; UTF-8 characters count once.
std::string in_column(const std::string& name) {
  std::size_t width = 0;
  for (const char c : name) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return name + std::string(width < 24 ? 24 - width : 0, ' ');
}

std::string chi_squared(const char* name, const TestStatistic& test) {
  if (std::isnan(test.statistic)) return {};
  return text("%s: chi2(%lld) %.6g, p %.3g\n", name, static_cast<long long>(test.df), test.statistic,
              p_of_chi_squared(test.statistic, static_cast<double>(test.df)));
}

std::string fisher(const TestStatistic& f) {
  return text("F(%lld, %lld) %.6g", static_cast<long long>(f.df), static_cast<long long>(f.df2), f.statistic);
}

std::string coefficients_of(const EquationEstimate& e, const Equation& equation, const ModelData& model,
                            SemDivisor divisor, double level) {
  const std::string interval = text("%.4g %% interval", 100 * level);
  std::string result = text("%-24s %14s %14s %9s %9s %27s\n", "", "estimate", "std error",
                            divisor == SemDivisor::small ? "t" : "z", "p", interval.c_str());
  for (std::size_t p = 0; p < e.coefficients.size(); ++p) {
    const CoefficientTest t = test_of(e, p, divisor, level);
    result += in_column(model.name(equation.regressors[p]));
    result += number(14, "%.7g", e.coefficients[p]) + number(14, "%.7g", e.standard_errors[p]);
    result += number(9, "%.3f", t.statistic) + number(9, "%.3g", t.p);
    result += number(13, "%.6g", t.low) + number(13, "%.6g", t.high) + "\n";
  }
  return result;
}

std::string tests_of(const EquationEstimate& e, const Equation& equation, const ModelData& model,
                     const SemOptions& options) {
  std::string result = "R2" + number(0, "%.6f", e.r2) + ", adjusted" + number(0, "%.6f", e.adjusted_r2) + ", sigma" +
                       number(0, "%.6g", e.sigma);
  if (!std::isnan(e.f.statistic))
    result += ", slopes " +
              (options.divisor == SemDivisor::small ? fisher(e.f)
                                                    : text("Wald chi2(%lld) %.6g", static_cast<long long>(e.f.df),
                                                           e.f.statistic * static_cast<double>(e.f.df))) +
              text(", p %.3g", p_of_slopes(e.f, options.divisor));
  result += "\n" + (options.robust ? chi_squared("overidentification, Hansen's J", e.hansen)
                                   : chi_squared("overidentification, Sargan", e.sargan));
  const char* const covariance = !options.robust ? "classical" : model.groups.empty() ? "robust" : "clustered";
  for (std::size_t p = 0; p < e.first_stage.size(); ++p)
    if (const TestStatistic& f = e.first_stage[p]; f.df2 > 0)
      result += "first stage of " + model.name(equation.regressors[p]) + ": " + covariance + ' ' + fisher(f) +
                text(", p %.3g\n", p_of_f(f.statistic, static_cast<double>(f.df), static_cast<double>(f.df2)));
  return result;
}

std::string equation_text(const EquationEstimate& e, const Equation& equation, const ModelData& model,
                          const SemOptions& options, SemStatus system, index_t D, double level) {
  const std::string status = e.status == EquationStatus::ok ? description(system) : description(e);
  std::string why;
  if (e.status != EquationStatus::ok || system != SemStatus::ok) why = "  " + status;
  for (std::size_t k = 0; k < e.dependent_regressors.size(); ++k)
    why += (k == 0 ? ", because of " : ", ") + model.name(e.dependent_regressors[k]);
  if (e.coefficients.empty()) return why + "\n";
  if (e.status == EquationStatus::collinear) why += "; coefficients of least norm";
  return why + (why.empty() ? "" : ",") +
         text("  %lld observations, %lld degrees of freedom%s\n", static_cast<long long>(D),
              static_cast<long long>(e.degrees_of_freedom), e.perfect_fit ? ", the fit is exact up to rounding" : "") +
         coefficients_of(e, equation, model, options.divisor, level) + tests_of(e, equation, model, options);
}

}  // namespace

std::string covariance_name(const SemOptions& options, const std::vector<index_t>& groups) {
  if (!options.robust) return "classical";
  if (groups.empty()) return options.divisor == SemDivisor::small ? "robust (HC1)" : "robust (HC0)";
  return text("clustered (%zu clusters)", std::set<index_t>(groups.begin(), groups.end()).size());
}

CoefficientTest test_of(const EquationEstimate& e, std::size_t p, SemDivisor divisor, double level) {
  const double df = divisor == SemDivisor::small ? static_cast<double>(e.degrees_of_freedom)
                                                 : std::numeric_limits<double>::infinity();
  return test_coefficient(e.coefficients[p], e.standard_errors[p], df, level);
}

double p_of_slopes(const TestStatistic& f, SemDivisor divisor) {
  const auto df = static_cast<double>(f.df);
  if (std::isnan(f.statistic)) return f.statistic;
  return divisor == SemDivisor::small ? p_of_f(f.statistic, df, static_cast<double>(f.df2))
                                      : p_of_chi_squared(f.statistic * df, df);
}

std::string summary(const SimultaneousEquations& answer, const ModelData& model, const SemOptions& options,
                    double level, std::size_t most) {
  std::string result = "\nstandard errors and tests: " + covariance_name(options, model.groups) + "\n";
  if (answer.system_solver == SystemSolver::gradients)
    result = text("\nno standard errors: the system was solved by conjugate gradients (%lld steps)\n",
                  static_cast<long long>(answer.gradient_steps));
  // The caller may have moved the data into the estimate.
  const index_t observations = std::max(answer.triangle.observations, model.rows().m);
  for (std::size_t i = 0; i < std::min(answer.equations.size(), most); ++i) {
    const Equation& equation = model.model.equations[i];
    result += "\n" + model.labels[i] + ": " + model.name(equation.dependent) +
              equation_text(answer.equations[i], equation, model, options, answer.status, observations, level);
  }
  if (answer.equations.size() > most)
    result += text("\n%lld more equations\n", static_cast<long long>(answer.equations.size() - most));
  if (!is_joint(options.method)) return result;
  if (!std::isnan(answer.mcelroy_r2)) result += text("\nsystem: McElroy's R2 %.6f\n", answer.mcelroy_r2);
  return result + chi_squared("overidentification of the system, Hansen and Sargan", answer.hansen_sargan) +
         chi_squared("overidentification of the system, Hansen's J", answer.hansen);
}

}  // namespace tesela
