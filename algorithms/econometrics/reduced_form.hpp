#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

namespace tesela {

/// The unrestricted reduced form, Y = X P + errors by least squares: P = R1^-1 Y11, K x N. Rows of instruments that
/// earlier ones imply are NaN. Waits for the graph, and throws as Graph::wait does.
[[nodiscard]] HostMatrix<double> reduced_form(Graph& g, const ModelTriangle& triangle, const SimultaneousModel& model,
                                              const SemOptions& options = {});

}  // namespace tesela
