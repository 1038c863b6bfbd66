#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <vector>

namespace tesela {

/// Standard errors of 2SLS or OLS estimates where the errors' variances differ (White 1980), or where errors of one
/// cluster depend on each other: replaces standard_errors, f and sargan of each equation with numbers, and answers
/// Hansen's J of each, of the two-step estimate by moments, with no statistic where it is just identified.
///
///     F = diag(u) Z^ (Z^^T Z^)^-1, summed over each cluster's rows,  V = F^T F,  Z^ = what X explains of Z
///
/// for SemDivisor::small times D / (D - r), with clusters G / (G - 1) (D - 1) / (D - r). `clusters` has a number for
/// each row, or is empty. Reads the data again, as they were before model_triangle, D x (K + N). Waits for the graph.
/// Throws ArgumentError for other methods and other sizes, and as Graph::wait.
std::vector<TestStatistic> robust_errors(Graph& g, const HostMatrix<double>& data, const ModelTriangle& triangle,
                                         const SimultaneousModel& model, const SemOptions& options,
                                         const std::vector<index_t>& clusters, SimultaneousEquations& answer);

}  // namespace tesela
