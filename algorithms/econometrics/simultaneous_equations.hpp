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

/// One equation of a model: variable `dependent` = sum of regressors times coefficients + error. Variables are columns
/// of [X | Y], counted from 0.
struct Equation {
  index_t dependent = 0;
  std::vector<index_t> regressors = {};
  /// Its own instruments, any columns; empty: the model's, X.
  std::vector<index_t> instruments = {};
};

/// The variables are the columns of [X | Y]: first the instruments (the exogenous variables), then the endogenous ones.
struct SimultaneousModel {
  index_t instruments = 0;  ///< K, the columns of X
  index_t constant = -1;    ///< the column that is the same in every row, if any: R^2 is about the mean where it stands
  std::vector<Equation> equations = {};
};

enum class SemMethod : std::uint8_t {
  two_stage,    ///< 2SLS
  three_stage,  ///< 3SLS
  ols,          ///< every variable is its own instrument
  sur,          ///< seemingly unrelated regressions: 3SLS likewise
};

/// "2sls", "3sls", "ols", "sur".
std::span<const Named<SemMethod>> sem_methods();

/// What residual sums of squares and products are divided by.
enum class SemDivisor : std::uint8_t {
  observations,  ///< D
  small,         ///< D - r_i, for pairs of equations sqrt((D - r_i) (D - r_j))
};

/// "n", "small".
std::span<const Named<SemDivisor>> sem_divisors();

/// How each equation is solved, from the triangle of all data.
enum class SemEngine : std::uint8_t {
  automatic,  ///< batched where an equation has 48 regressors or more
  staircase,  ///< Householder's QR of its columns, whose zeros are skipped
  /// Cholesky's of products that all equations share, with a correction; QR where its condition is above 1e4. To 1e-9
  /// the same numbers.
  batched,
  givens,  ///< plane rotations of each equation's columns, stage by stage; equations with instruments of their own take
           ///< QR
  /// The same along the tree of reuse_tree: equations that share columns start from each other's triangles. On cores;
  /// without any as givens. Planning takes O(N^3) of N equations.
  reuse,
};

/// "auto", "staircase", "batched", "givens", "reuse".
std::span<const Named<SemEngine>> sem_engines();

/// How the third stage's unknowns are solved for, all at once.
enum class SystemSolver : std::uint8_t {
  automatic,  ///< cholesky up to 25000 unknowns, where two square matrices of them and the bases take up to half of the
              ///< memory
  cholesky,   ///< a square matrix of all unknowns
  gradients,  ///< conjugate gradients with the equations' bases alone: no standard errors, which are NaN then
};

/// "auto", "cholesky", "cg".
std::span<const Named<SystemSolver>> system_solvers();

struct SemOptions {
  SemMethod method = SemMethod::two_stage;
  SemEngine engine = SemEngine::automatic;
  SystemSolver system_solver = SystemSolver::automatic;
  bool iterate = false;      ///< repeat the third stage until no coefficient moves by more than `tolerance`
  double tolerance = 1e-10;  ///< times its size and its first standard error
  index_t iterations = 2000;
  SemDivisor divisor = SemDivisor::observations;
  /// Columns whose part that the ones before them leave is up to this times their norm count as dependent on them; 0
  /// means 10 max(D, K + N) eps.
  double rcond = 0;
};

/// R of [X | Y] = Q R: all that a model's estimates need of its data.
struct ModelTriangle {
  HostMatrix<double> R;      ///< (K + N) x (K + N), zeros below its diagonal
  index_t observations = 0;  ///< D
};

/// The triangle of the data, D x (K + N), by tall_skinny_r where it suits and by qr otherwise, which overwrites them.
/// Inserts into the graph and waits for it. Throws as they do and as Graph::wait.
[[nodiscard]] ModelTriangle model_triangle(Graph& g, const TileMatrix<double>& data);

/// The same of data that are read or computed `rows` rows at a time (0: chosen), and may be larger than memory: by
/// streamed_r. Throws as that does.
[[nodiscard]] ModelTriangle model_triangle(Graph& g, const RowSource<double>& data, index_t rows = 0);

/// The tiles that suit model_triangle.
TileShape suitable_model_tile(const Runtime& runtime, index_t observations, index_t variables);

enum class EquationStatus : std::uint8_t {
  ok,
  not_identified_order,  ///< fewer excluded instruments, by X's rank, than endogenous regressors
  not_identified_rank,   ///< what the instruments explain of the regressors is linearly dependent
  collinear,             ///< the regressors themselves are
  too_few_observations,  ///< D <= r_i
  not_finite,            ///< NaN or infinities, or an overflow
};

/// "ok", "not identified: order", "not identified: rank", "collinear", "too few observations", "not finite".
const char* description(EquationStatus status);

/// A statistic and its degrees of freedom; NaN where there is none.
struct TestStatistic {
  double statistic = std::numeric_limits<double>::quiet_NaN();
  index_t df = 0, df2 = 0;  ///< df2 of F
};

struct EquationEstimate {
  EquationStatus status = EquationStatus::ok;
  std::vector<double> coefficients = {}, standard_errors = {};  ///< of the regressors; empty unless ok
  std::vector<index_t> dependent_regressors = {};  ///< variables to blame where collinear or not identified by rank
  index_t degrees_of_freedom = 0;                  ///< D - r_i
  double sigma = 0;
  double r2 = 0, adjusted_r2 = 0;
  TestStatistic f = {};                         ///< Wald's, of all slopes, over their number
  double condition = 1;                         ///< of Z_i with unit columns
  TestStatistic sargan = {};                    ///< of the equation by itself (2SLS); none where it is just identified
  std::vector<TestStatistic> first_stage = {};  ///< of each regressor: F of the excluded instruments; none: exogenous
  /// The residuals are nothing but rounding: sigma and the standard errors are 0, and tests say nothing.
  bool perfect_fit = false;
};

enum class SemStatus : std::uint8_t {
  ok,
  singular_covariance,  ///< of the residuals: the third stage has no answer
  not_converged,        ///< of iterations, or of conjugate gradients
};

/// "ok", "singular residual covariance", "not converged".
const char* description(SemStatus status);

struct SimultaneousEquations {
  SemStatus status = SemStatus::ok;
  std::vector<EquationEstimate> equations = {};
  std::vector<index_t> dropped_instruments = {};  ///< columns of X that earlier ones imply
  /// Where the covariance is singular: equations (of which the last is nearly a combination of the others).
  std::vector<index_t> singular = {};
  index_t iterations = 0;                                ///< of the third stage
  double last_change = 0;                                ///< of the coefficients, relative
  SystemSolver system_solver = SystemSolver::automatic;  ///< the one that the third stage took
  index_t gradient_steps = 0;                            ///< of conjugate gradients, in all
  /// N x N, NaN in the rows and columns of equations without numbers: of the residuals of the reported estimates, and
  /// the one that weighted the third stage (0 x 0 without one).
  HostMatrix<double> residual_covariance = {}, weighting_covariance = {};
  /// The same without units, which no size of data overflows; NaN for a perfect fit, too.
  HostMatrix<double> residual_correlation = {}, weighting_correlation = {};
  std::vector<double> weighting_sigmas = {};  ///< of the equations that the third stage has
  /// 1 - the weighted residuals over the weighted dependent variables, about their means where the equation has an
  /// intercept, about the origin where it has none, as r2. NaN with a perfect fit.
  double mcelroy_r2 = std::numeric_limits<double>::quiet_NaN();
  TestStatistic hansen_sargan = {};  ///< of the third stage, with the weighting covariance
};

/// Simultaneous equations from the triangle of their data by two-stage or three-stage least squares (Zellner and Theil
/// 1962; by orthogonal factorizations: Kontoghiorghes and Dinenis 1997), OLS or SUR.
///
///     R = [R1 Y11; 0 R22],  Z_i = equation i's columns of [R1 Y11],  2SLS: min ||Z_i b - y_i||
///     Z_i = Q_i R_i,  3SLS: sum_j s^ij Q_i^T Q_j g_j = sum_j s^ij Q_i^T y_j,  R_i b_i = g_i,  S^-1 = (s^ij)
///
/// For OLS and SUR all rows of R take part. Residuals are R times coefficients, so that all statistics come from R.
/// With instruments of its own, equation i has its columns projected by its own QR factorization (systemfit's GLS
/// form). Equations without numbers stay out of the third stage. Units of variables change nothing but the units of the
/// answer.
///
/// Inserts into the graph and waits for it: one task an equation. Throws ArgumentError for columns that do not exist,
/// an equation without regressors, a regressor named twice or one that is the dependent variable, and as Graph::wait.
[[nodiscard]] SimultaneousEquations estimate(Graph& g, const ModelTriangle& triangle, const SimultaneousModel& model,
                                             const SemOptions& options = {});

}  // namespace tesela
