#pragma once

#include "tools/app/report.hpp"
#include "tools/problems/econometrics/sem.hpp"

#include <string>

namespace tesela::cli {

/// The problem and the estimates of one command.
struct SemOutcome {
  const SemProblem& problem;
  const SimultaneousEquations& answer;
  const SemError& error;
  double level;
};

/// Reports `equations`, `system`, checks and status.
void report_outcome(const SemOutcome& outcome, Report& report);

/// Prints the coefficients as tables for a person.
void print_equations(const SemOutcome& outcome);

/// Writes the coefficients as CSV: equation, name, estimate, std_error, statistic, p, low, high.
void write_coefficients(const std::string& path, const SemOutcome& outcome);

/// Writes columns as CSV, after a column of row names if there are any. NaN becomes NA.
void write_csv(const std::string& path, const std::vector<std::string>& names, const HostMatrix<double>& columns,
               const std::vector<std::string>& rows = {});

}  // namespace tesela::cli
