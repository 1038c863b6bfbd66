#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <vector>

namespace tesela {

/// Standard errors of 2SLS or OLS estimates where the errors' variances differ (White 1980), or where errors of one
/// cluster depend on each other: replaces standard_errors and f of each equation with numbers, and returns Hansen's J
/// of each, of the two-step estimate by moments, with no statistic where it is just identified. `sargan` is not
/// replaced: it is valid for independent errors of one variance.
///
///     F = diag(u) Z^ (Z^^T Z^)^-1, summed over each cluster's rows,  V = F^T F,  Z^ = what X explains of Z
///
/// Z^ = Q R with the constant first: F = G R^-T with G = diag(u) Q, and Wald's statistic of the slopes b is
/// ||T^-T R_s b||^2, R_s and T the triangles of their part of Z^ and of G. None where clusters are fewer than slopes
/// and one, or V is singular.
///
/// for SemDivisor::small times D / (D - r), with clusters G / (G - 1) (D - 1) / (D - r). `clusters` has a number for
/// each row, or is empty. Reads the data again, as they were before model_triangle, D x (K + N). Waits for the graph.
/// Throws ArgumentError for other methods, other sizes, and rows of one cluster only; and as Graph::wait.
std::vector<TestStatistic> robust_errors(Graph& g, const HostMatrix<double>& data, const ModelTriangle& triangle,
                                         const SimultaneousModel& model, const SemOptions& options,
                                         const std::vector<index_t>& clusters, SimultaneousEquations& answer);

}  // namespace tesela
