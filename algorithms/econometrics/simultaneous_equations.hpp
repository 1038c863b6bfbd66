#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/row_source.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <limits>
#include <span>
#include <string>
#include <vector>

namespace tesela {

/// One equation: variable `dependent` = sum of regressors times coefficients + error. Variables are columns of [X | Y],
/// from 0.
struct Equation {
  index_t dependent = 0;
  std::vector<index_t> regressors = {};
  /// The equation's own instruments, any columns; empty: the model's instruments X.
  std::vector<index_t> instruments = {};
};

/// A model with the variables [X | Y]: first the instruments (the exogenous variables), then the endogenous variables.
struct SimultaneousModel {
  index_t instruments = 0;  ///< K, the number of columns of X
  index_t constant = -1;    ///< column of equal elements, or -1; R^2 is about the mean in equations that contain it
  std::vector<Equation> equations = {};  ///< at least one
};

/// Method of estimation.
enum class SemMethod : std::uint8_t {
  two_stage,    ///< 2SLS: each equation by itself
  three_stage,  ///< 3SLS: all equations together, weighted by the covariance of their residuals
  ols,          ///< ordinary least squares: each equation by itself, for regressors that are independent of the errors
  sur,          ///< seemingly unrelated regressions: 3SLS with every variable as its own instrument
  /// Indirect least squares: the coefficients that the reduced form R1^-1 Y11 implies. Equal to 2SLS for an exactly
  /// identified equation, which has as many instruments as regressors; the status of others is `overidentified`.
  indirect,
};

/// Returns the methods: "2sls", "3sls", "ols", "sur", "ils".
std::span<const Named<SemMethod>> sem_methods();

/// Returns whether the method needs instruments: 2SLS, 3SLS and indirect least squares.
constexpr bool uses_instruments(SemMethod method) { return method != SemMethod::ols && method != SemMethod::sur; }

/// Returns whether the method estimates all equations together: 3SLS and SUR.
constexpr bool is_joint(SemMethod method) { return method == SemMethod::three_stage || method == SemMethod::sur; }

/// Divisor of residual sums of squares and products.
enum class SemDivisor : std::uint8_t {
  observations,  ///< D, the number of observations
  small,         ///< D - r_i for r_i regressors; sqrt((D - r_i) (D - r_j)) for two equations
};

/// Returns the divisors: "n", "small".
std::span<const Named<SemDivisor>> sem_divisors();

/// Method for the triangle of each equation, from the triangle of all data.
enum class SemEngine : std::uint8_t {
  automatic,  ///< batched if an equation has at least 48 regressors, else staircase
  staircase,  ///< Householder QR of its columns, which skips their zeros
  /// Cholesky of products that all equations share, with a correction; QR if the condition exceeds 1e4. The results
  /// agree to 1e-9. Fastest for large equations.
  batched,
  givens,  ///< plane rotations, stage by stage; QR for equations with separate instruments
  /// Rotations as `givens`, along the tree of reuse_tree: equations that share columns start from each other's
  /// triangles. Planning takes O(N^3) for N equations. For many equations with common columns.
  reuse,
};

/// Returns the engines: "auto", "staircase", "batched", "givens", "reuse".
std::span<const Named<SemEngine>> sem_engines();

/// Solver for the unknowns of the third stage.
enum class SystemSolver : std::uint8_t {
  /// Selects cholesky if there are at most 25000 unknowns and two matrices of this order and the bases need at most
  /// half of the memory, else gradients.
  automatic,
  cholesky,   ///< one square matrix of all unknowns
  gradients,  ///< conjugate gradients with the bases of the equations; standard errors are NaN. For many unknowns
};

/// Returns the solvers: "auto", "cholesky", "cg".
std::span<const Named<SystemSolver>> system_solvers();

/// Options of estimate.
struct SemOptions {
  SemMethod method = SemMethod::two_stage;
  SemEngine engine = SemEngine::automatic;
  SystemSolver system_solver = SystemSolver::automatic;
  bool iterate = false;  ///< whether to repeat the third stage until it converges
  /// Largest change of a coefficient at convergence, relative to its size plus its first standard error.
  double tolerance = 1e-10;
  index_t iterations = 2000;
  SemDivisor divisor = SemDivisor::observations;
  /// A column counts as dependent on earlier columns if its part orthogonal to them is at most rcond times its norm; 0
  /// selects 10 max(D, K + N) eps.
  double rcond = 0;
  /// Whether standard errors are heteroscedasticity-robust (White 1980) or cluster-robust. Wald's f is NaN then if
  /// there are no more clusters (or rows) than slopes, or if their covariance is singular.
  bool robust = false;
  bool covariances = false;  ///< whether each equation keeps the covariance of its coefficients, r_i x r_i
};

/// R of [X | Y] = Q R: all that the estimates need of the data.
struct ModelTriangle {
  HostMatrix<double> R;      ///< (K + N) x (K + N), zeros below its diagonal
  index_t observations = 0;  ///< D, the number of observations
};

/// Computes the triangle of the data, D x (K + N), by tall_skinny_r or qr, whichever suits the shape. Throws as these
/// and Graph::wait. Waits for the graph.
[[nodiscard]] ModelTriangle model_triangle(Graph& g, HostMatrix<double> data);

/// Computes the triangle of data that may be larger than memory, by streamed_r: `rows` rows at a time; 0 selects the
/// number. Throws as streamed_r.
[[nodiscard]] ModelTriangle model_triangle(Graph& g, const RowSource<double>& data, index_t rows = 0);

/// Outcome for one equation.
enum class EquationStatus : std::uint8_t {
  ok,                    ///< the estimates are valid
  not_identified_order,  ///< fewer excluded instruments (counted by the rank of X) than endogenous regressors
  not_identified_rank,   ///< the projections of the regressors on the instruments are linearly dependent
  collinear,             ///< the regressors are linearly dependent; OLS has the coefficients of least norm
  too_few_observations,  ///< D <= r_i
  overidentified,        ///< indirect least squares: more instruments than regressors
  not_finite,            ///< NaN or infinities in the data, or an overflow
};

/// Returns "ok", "not identified: order", "not identified: rank", "collinear", "too few observations", "overidentified"
/// or "not finite".
const char* description(EquationStatus status);

/// A statistic and its degrees of freedom; NaN if it does not exist.
struct TestStatistic {
  double statistic = std::numeric_limits<double>::quiet_NaN();
  index_t df = 0, df2 = 0;  ///< df2 only for F
};

/// Estimates of one equation.
struct EquationEstimate {
  EquationStatus status = EquationStatus::ok;
  /// In the order of the regressors. Both are empty unless ok, but for collinear regressors of OLS: coefficients of
  /// least norm, as minimum_norm defines it, and NaN as errors.
  std::vector<double> coefficients = {}, standard_errors = {};
  HostMatrix<double> covariance = {};              ///< of the coefficients, on request; empty by conjugate gradients
  std::vector<index_t> dependent_regressors = {};  ///< the dependent regressors if collinear or not identified by rank
  index_t degrees_of_freedom = 0;                  ///< D minus the rank of the regressors
  /// If not identified by order: excluded instruments (by the rank of X), and endogenous regressors, which need as
  /// many.
  index_t excluded = 0, endogenous = 0;
  double sigma = 0;                ///< standard deviation of the disturbances
  double r2 = 0, adjusted_r2 = 0;  ///< explained share of the squares about the mean
  TestStatistic f = {};  ///< Wald's statistic of all slopes, divided by their number; NaN by conjugate gradients
  double condition = 1;  ///< condition of Z_i with unit columns
  /// 2SLS only, for each equation by itself, valid for independent errors of one variance; NaN if just identified.
  TestStatistic sargan = {};
  TestStatistic hansen = {};  ///< robust errors of 2SLS: J of the two-step estimate by moments; NaN as sargan
  /// For each regressor the F of the excluded instruments, robust if the standard errors are; NaN for exogenous ones.
  std::vector<TestStatistic> first_stage = {};
  /// Whether the residuals consist of rounding errors only: sigma and the standard errors are 0, and tests are
  /// meaningless.
  bool perfect_fit = false;
};

/// Returns the description of the estimate's status; if not identified by order, with the numbers of instruments.
std::string description(const EquationEstimate& estimate);

/// Outcome for the system.
enum class SemStatus : std::uint8_t {
  ok,                   ///< the third stage, if any, converged
  singular_covariance,  ///< the covariance of the residuals is singular: the third stage has no solution
  not_converged,        ///< the third stage or conjugate gradients did not converge
};

/// Returns "ok", "singular residual covariance" or "not converged".
const char* description(SemStatus status);

/// Estimates of all equations.
struct SimultaneousEquations {
  SemStatus status = SemStatus::ok;
  ModelTriangle triangle = {};  ///< triangle of the data, if they were given
  std::vector<EquationEstimate> equations = {};
  std::vector<index_t> dropped_instruments = {};  ///< columns of X that earlier columns imply
  /// If the covariance is singular: dependent equations. The last one is nearly a combination of the others.
  std::vector<index_t> singular = {};
  index_t iterations = 0;                                ///< iterations of the third stage
  double last_change = 0;                                ///< last relative change of the coefficients
  SystemSolver system_solver = SystemSolver::automatic;  ///< solver of the third stage
  index_t gradient_steps = 0;                            ///< total steps of conjugate gradients
  /// Covariances, N x N, NaN for equations without estimates: of the residuals of the reported estimates, and the one
  /// that weighted the third stage (0 x 0 without it).
  HostMatrix<double> residual_covariance = {}, weighting_covariance = {};
  /// Correlations of the same residuals, which do not overflow; also NaN for a perfect fit.
  HostMatrix<double> residual_correlation = {}, weighting_correlation = {};
  std::vector<double> weighting_sigmas = {};  ///< standard deviations for the equations of the third stage
  /// 1 - weighted residuals / weighted dependent variables; these are about their means for equations with an intercept
  /// and about the origin for others, as in r2. NaN for a perfect fit.
  double mcelroy_r2 = std::numeric_limits<double>::quiet_NaN();
  TestStatistic hansen_sargan = {};  ///< for the third stage, with the weighting covariance
  /// Robust errors of 3SLS: Hansen's J of the two-step estimate of all equations by moments, weighted by the residuals
  /// of 3SLS; NaN without restrictions and with fewer rows or clusters than moments.
  TestStatistic hansen = {};
};

/// Estimates simultaneous equations from the triangle of their data by 2SLS, 3SLS, OLS or SUR.
///
///     R = [R1 Y11; 0 R22],  Z_i = equation i's columns of [R1 Y11],  2SLS: min ||Z_i b - y_i||
///     Z_i = Q_i R_i,  3SLS: sum_j s^ij Q_i^T Q_j g_j = sum_j s^ij Q_i^T y_j,  R_i b_i = g_i,  S^-1 = (s^ij)
///
/// Returns  estimates, tests and a status for each equation and for the system. Equations without estimates are left
///          out of the third stage. A change of the units of variables changes only the units of the results.
/// Throws   ArgumentError for columns that do not exist, an equation without regressors, a repeated regressor, and a
///          regressor that is the dependent variable; as Graph::wait.
/// Waits    for the graph, which has one task per equation.
/// Method   Zellner and Theil 1962; by orthogonal factorizations: Kontoghiorghes and Dinenis 1997. OLS and SUR use all
///          rows of R. Residuals are R times coefficients, so that all statistics come from R. The columns of an
///          equation with its own instruments are projected by a separate QR factorization (systemfit's GLS form).
[[nodiscard]] SimultaneousEquations estimate(Graph& g, const ModelTriangle& triangle, const SimultaneousModel& model,
                                             const SemOptions& options = {});

/// Estimates simultaneous equations from their data, D x (K + N): the triangle, which the result keeps, and estimates
/// as above.
///
/// clusters  for robust errors a cluster number for each row; empty for independent errors.
/// Throws    as above; ArgumentError for clusters of another number of rows or of one number.
[[nodiscard]] SimultaneousEquations estimate(Graph& g, HostMatrix<double> data, const SimultaneousModel& model,
                                             const SemOptions& options = {}, const std::vector<index_t>& clusters = {});

}  // namespace tesela
