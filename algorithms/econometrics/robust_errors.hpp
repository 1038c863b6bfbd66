#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <vector>

namespace tesela {

/// Computes heteroscedasticity-robust standard errors of 2SLS or OLS estimates (White 1980), or cluster-robust ones.
///
///     F = diag(u) Z^ (Z^^T Z^)^-1, summed over each cluster's rows,  V = F^T F,  Z^ = the projection of Z on X
///
/// data      the original data, D x (K + N), unchanged by model_triangle.
/// clusters  a cluster number for each row; empty for independent errors.
/// answer    its standard_errors and f are replaced for each equation with estimates. f is NaN if there are no more
///           clusters (or rows) than slopes, or if V is singular. `sargan` is kept: it is valid for independent errors
///           of one variance.
/// Returns   Hansen's J of each equation from the two-step estimate by moments; NaN if the equation is just identified.
/// Throws    ArgumentError for other methods, other sizes, and if all rows belong to one cluster; as Graph::wait.
/// Waits     for the graph.
/// Method    Z^ = Q R with the constant first: F = G R^-T with G = diag(u) Q. Wald's statistic of the slopes b is
///           ||T^-T R_s b||^2 with the triangles R_s and T of the slopes' part of Z^ and of G. SemDivisor::small
///           multiplies V by D / (D - r), with G clusters by G / (G - 1) (D - 1) / (D - r).
std::vector<TestStatistic> robust_errors(Graph& g, const HostMatrix<double>& data, const ModelTriangle& triangle,
                                         const SimultaneousModel& model, const SemOptions& options,
                                         const std::vector<index_t>& clusters, SimultaneousEquations& answer);

}  // namespace tesela
