#pragma once

#include "tools/app/report.hpp"
#include "tools/checks/sem_error.hpp"
#include "tools/problems/econometrics/sem_problem.hpp"

#include <string>

namespace tesela::cli {

/// The options, the problem and the estimates of one SEM command.
struct SemOutcome {
  const SemProblem& problem;
  const SemOptions& options;
  const SimultaneousEquations& answer;
  const SemError& error;
  double level;
  std::vector<TestStatistic> hansen = {};  ///< with robust covariances, of each equation
};

/// `equations`, `system`, checks and status of the report.
void print_error(const SemOutcome& outcome, Report& report);

/// The coefficients as tables for a person.
void print_equations(const SemOutcome& outcome);

/// The same as a CSV: equation, name, estimate, std_error, statistic, p, low, high.
void write_coefficients(const std::string& path, const SemOutcome& outcome);

/// y - Z b or Z b of each equation that has numbers, in the data's units whatever the weights, and for each row of the
/// data; NaN of other equations, and of rows that were left out.
HostMatrix<double> residuals(const SemOutcome& outcome, bool fitted);

}  // namespace tesela::cli
