#pragma once

#include "tools/app/command.hpp"
#include "tools/app/report.hpp"
#include "tools/problems/dense/direct.hpp"

#include <functional>
#include <string>

namespace tesela::cli {

/// Options of the commands that factor one square matrix and solve systems with it.
struct DirectOptions {
  CommonOptions common;
  index_t n = -1, rhs = 0;
  std::string a, b, out, random, tile, by = "tiles";

  /// Adds the options. `kinds` lists the kinds of --random, `otherwise` is their default.
  void add_to(App& app, const char* kinds, const char* otherwise);
  /// Reads sizes from the files. Throws ArgumentError and FileError, of this command, and unless --plan is given
  /// EnvironmentError if the host's memory is too small.
  void resolve(const char* command);
  nlohmann::json describe() const;
};

/// Reports the memory of a run (--plan). Returns the exit code.
template <class T>
int run_plan(const DirectOptions& o, DirectKind kind, const char* command);

/// Returns the right-hand sides: of the file, or uniform random numbers.
template <class T>
HostMatrix<T> load_b(const DirectOptions& o);

/// Factors, and solves if there are right-hand sides, as often as --repeat demands, and reports times.
template <class T>
DirectFactors run_direct(const DirectOptions& o, DirectProblem<T>& problem, double flops, Report& report);

/// Reports `condition`, an estimate, and fails if its reciprocal is below eps: A is singular to working precision, or,
/// if `growth` returns more than 0.01 / eps, the elimination has lost A.
template <class T>
void check_condition(double condition, Report& report, const std::function<double()>& growth = {});

/// Checks and writes X.
template <class T>
void check_solution(const DirectOptions& o, const DirectProblem<T>& problem, double bound, Report& report);

}  // namespace tesela::cli
