#pragma once

#include "tools/app/report.hpp"
#include "tools/checks/eig_error.hpp"
#include <tesela/algorithms/eigen/eig_iteration.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace tesela::cli {

/// The options of `tesela eig --method qr-iteration|lr|cholesky-lr`.
struct IterationChoice {
  std::string factor, stop, shift;  ///< empty: the default
  double tolerance = 0;
  index_t most = 0;
  bool deflate = false, positive = false;

  void add_to(CLI::App& app);
  /// Throws ArgumentError for options that the method does not have.
  void require_valid(const std::string& method, bool generalized) const;
  /// With the vectors and the selection of the other methods' options.
  EigIterationOptions options(EigIteration method, const SymmetricEigOptions& wanted) const;
  void describe(const IterationFacts& facts, nlohmann::json& problem) const;
};

void report_iteration(const IterationFacts& facts, index_t deflations, Report& report);

/// Returns the bounds for an iteration's result, at most 1e-2. The rounding errors of its similarities add up like a
/// random walk, and each row keeps one element below the tolerance.
EigBounds iteration_bounds(EigBounds bounds, index_t n, index_t iterations, const IterationFacts& facts);

/// Returns the norm of D's off-diagonal elements, with a bound that keeps the values accurate: rounding errors and one
/// element below the tolerance.
Measured remaining(EigBounds bounds, index_t iterations, const IterationFacts& facts);

}  // namespace tesela::cli
