#pragma once

#include "cli/app/report.hpp"
#include "cli/commands/qr/qr_methods.hpp"
#include <tesela/algorithms/least_squares/covariance.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// --std-errors and --out-covariance.
struct UncertaintyOptions {
  bool errors = false;
  std::string covariance;  ///< its file

  bool wanted() const { return errors || !covariance.empty(); }
  void add_to(CLI::App& app);
  /// Throws ArgumentError where a library, which leaves no triangle, is to solve.
  void require_graph(const char* command, const QrMethod& method) const;
};

/// What they ask of an answer that kept what covariance() needs.
template <class T>
struct Uncertainty {
  std::vector<T> errors;
  HostMatrix<T> covariance;
};

template <class T, class Answer>
Uncertainty<T> uncertainty_of(const UncertaintyOptions& options, Runtime& runtime, const Answer& answer) {
  Uncertainty<T> result;
  if (!options.wanted()) return result;
  Graph g(runtime);
  if (options.errors) result.errors = standard_errors(g, answer);
  if (!options.covariance.empty()) result.covariance = covariance(g, answer);
  return result;
}

/// Tells the standard errors, and of each right-hand side ||r||^2 / degrees of freedom, the variance of errors that it
/// speaks for; writes a good report's covariance to its file.
template <class T>
void report_uncertainty(const UncertaintyOptions& options, const Uncertainty<T>& found,
                        const std::vector<T>& residual_norms, index_t degrees_of_freedom, Report& report) {
  if (report.good() && found.covariance.size() > 0) write_matrix(options.covariance, found.covariance);
  if (!options.errors) return;
  std::vector<double> variances;
  for (const double norm : residual_norms)
    if (degrees_of_freedom > 0) variances.push_back(norm * norm / static_cast<double>(degrees_of_freedom));
  report.standard_errors({found.errors.begin(), found.errors.end()}, variances);
}

}  // namespace tesela::cli
