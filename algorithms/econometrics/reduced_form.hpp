#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

namespace tesela {

/// Estimates the unrestricted reduced form Y = X P + errors by least squares: P = R1^-1 Y11.
///
/// Returns  P, K x N. Rows of instruments that earlier instruments imply are NaN.
/// Waits    for the graph; throws as Graph::wait.
[[nodiscard]] HostMatrix<double> reduced_form(Graph& g, const ModelTriangle& triangle, const SimultaneousModel& model,
                                              const SemOptions& options = {});

}  // namespace tesela
