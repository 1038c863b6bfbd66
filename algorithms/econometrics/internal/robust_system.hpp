#pragma once

#include <tesela/algorithms/econometrics/internal/data_rows.hpp>
#include <tesela/algorithms/econometrics/internal/system_statistics.hpp>

namespace tesela::detail {

/// Robust statistics of the third stage.
struct RobustSystem {
  HostMatrix<double> scores;  ///< see ErrorOptions
  TestStatistic hansen = {};
};

/// Computes the scores of the last correction, with the residuals of the data, and Hansen's J.
///
///     scores: row t of X^_i R_i^-1 times sum_j P^ij e_j(t) / s_j;  J = min g(b)^T S^-1 g(b),  S from the rows of
///     [diag(e_1) Q, diag(e_2) Q, ...], g(b) = [Q^T (y_1 - Z_1 b_1); ...], Q a basis of the instruments
///
/// `instrumental` is false for SUR, which has no J. Waits for the graph.
RobustSystem robust_system(Graph& g, const DataRows& rows, const Clusters& clusters, const Variables& v,
                           const System& system, const Weights& weights, const ThirdStage& stage, bool instrumental);

/// Computes robust standard errors, Wald's statistics and Hansen's J of the estimates of single equations.
///
///     F = diag(u) Z^ (Z^^T Z^)^-1, summed over each cluster's rows,  V = F^T F,  Z^ = the projection of Z on X
///
/// answer  the estimates; standard_errors, f, hansen and, on request, covariance are replaced for each equation with
///         estimates.
/// Waits   for the graph.
/// Method  Z^ = Q R with the constant first: F = G R^-T with G = diag(u) Q. Wald's statistic of the slopes b is
///         ||T^-T R_s b||^2 with the triangles R_s and T of the slopes' part of Z^ and of G. SemDivisor::small
///         multiplies V by D / (D - r), with G clusters by G / (G - 1) (D - 1) / (D - r).
void robust_errors(Graph& g, const DataRows& rows, const SemOptions& options, const System& system,
                   SimultaneousEquations& answer);

/// Replaces the F statistics of the first stages by robust ones.
///
///     F = c^T (X^T diag(u)^2 X)^-1 c / (L f),  X an orthonormal basis of the L excluded instruments without the
///     included ones, c = X^T y_p, u the residuals of y_p on all K instruments; scores are summed over each cluster's
///     rows
///
/// The factor f belongs to SemDivisor::small with K coefficients, as the classical F has D - K, whatever the divisor
/// of the equations. A statistic becomes NaN if there are no more clusters (or rows) than L, or if the matrix is
/// singular. Waits for the graph.
void robust_first_stages(Graph& g, const DataRows& rows, const System& system, SimultaneousEquations& answer);

/// Sets the classical covariance of an equation's coefficients. Waits for the graph.
void set_covariance(Graph& g, const PickedEquation& equation, EquationEstimate& estimate);

}  // namespace tesela::detail
