#pragma once

#include "tools/app/arguments.hpp"
#include "tools/app/report.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include <tesela/algorithms/econometrics/regression.hpp>
#include <tesela/algorithms/least_squares/covariance.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// --std-errors, --out-covariance and their options.
struct UncertaintyOptions {
  bool errors = false;
  std::string covariance;  ///< its file
  RegressionOptions regression;

  bool wanted() const { return errors || !covariance.empty(); }
  void add_to(App& app);
  /// Throws ArgumentError for a library's method, which keeps no triangle, and for known variances if nothing is
  /// wanted.
  void require_valid(const char* command, const QrMethod& method) const;
};

/// For errors of variance 1; empty without a full rank.
template <class T>
struct Uncertainty {
  std::vector<real_t<T>> errors;
  HostMatrix<T> covariance;
};

/// Computes standard errors and covariance, as wanted, from the triangle or spread kept in `answer`.
template <class T, class Answer>
Uncertainty<T> uncertainty_of(const UncertaintyOptions& options, Runtime& runtime, const Answer& answer) {
  Uncertainty<T> result;
  if (!options.wanted()) return result;
  Graph g(runtime);
  if (options.errors) result.errors = standard_errors(g, answer);
  if (!options.covariance.empty()) result.covariance = covariance(g, answer);
  return result;
}

/// The names of a formula's regression.
struct RegressionNames {
  std::vector<std::string> unknowns = {};  ///< empty: numbers from 1
  std::string dependent = {};
  bool intercept = false;
  double total_norm = 0;  ///< of the right-hand side, as of test_fit(); NaN: no R2
};

/// The parts of a solution that a regression needs.
template <class T>
struct RegressionData {
  const HostMatrix<T>& X;
  const std::vector<real_t<T>>& residual_norms;
  index_t degrees_of_freedom, rank;
  bool exact_fit = false;  ///< residuals are rounding errors
  RegressionNames names = {};
};

/// Reports the regression of each right-hand side, or notes why there are no standard errors, and writes a good
/// report's covariances. Fails the report if they are wanted and there are none.
template <class T>
void report_uncertainty(const UncertaintyOptions& options, const Uncertainty<T>& found, const RegressionData<T>& data,
                        Report& report);

}  // namespace tesela::cli
