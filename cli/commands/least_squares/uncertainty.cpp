#include "cli/commands/least_squares/uncertainty.hpp"

#include "cli/app/outputs.hpp"
#include <tesela/runtime/errors.hpp>

namespace tesela::cli {

void UncertaintyOptions::add_to(CLI::App& app) {
  app.add_flag("--std-errors", errors,
               "standard errors of the unknowns, for errors of the variance that is given, or 1");
  add_output(app, Output::matrix, "--out-covariance", covariance,
             "write the covariance of the unknowns, n x n, to FILE; not for deficient ranks");
}

void UncertaintyOptions::require_graph(const char* command, const QrMethod& method) const {
  if (wanted() && method.library())
    throw ArgumentError(command, errors ? "--std-errors" : "--out-covariance",
                        "needs a triangle, which --method " + method.name + " does not leave");
}

}  // namespace tesela::cli
