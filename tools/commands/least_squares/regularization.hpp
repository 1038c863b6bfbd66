#pragma once

#include "tools/commands/least_squares/solution.hpp"

#include <string>

namespace tesela::cli {

/// --ridge, --truncate and --svg of `tesela ols`.
struct RegularizationOptions {
  std::string ridge, truncate, svg;

  bool wanted() const { return !ridge.empty() || !truncate.empty(); }
  void add_to(App& app);
  /// Throws ArgumentError for a method or a table of standard errors that regularized problems lack, and for --svg
  /// without a curve.
  void require_valid(const LeastSquaresOptions& o) const;
};

/// Solves the problem of `tesela ols` with --ridge or --truncate, reports and writes. Returns the exit code.
template <class T>
int run_regularized(const RegularizationOptions& regularization, LeastSquaresOptions& o, OlsProblem<T>& p,
                    Report& report);

}  // namespace tesela::cli
