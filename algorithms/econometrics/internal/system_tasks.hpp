#pragma once

#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>

#include <limits>
#include <optional>
#include <vector>

namespace tesela::detail {

/// The bases Q_i of Z_i = Q_i R_i for the equations of a system, in the model's coordinates. They remain where tasks
/// computed them. A vector x consists of the parts of all equations, one after the other.
class EquationBases {
 public:
  /// Computes the bases: one task per equation; with GPUs one task per group of equations of moderate condition. `own`
  /// has a null for each equation with the model's instruments. `together` allows run_concurrently(). Waits for the
  /// graph.
  EquationBases(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                const std::vector<const OwnBasis*>& own, const std::vector<double>& conditions, bool together);

  index_t count() const { return static_cast<index_t>(Q_.size()); }
  index_t rows() const { return W_.m(); }
  index_t unknowns() const { return starts_.back(); }
  /// A vector in tiles, one for each group of equations, as the products need it.
  using Parts = std::vector<TileMatrix<double>>;
  const Parts& x() const { return X_; }
  const Parts& y() const { return Y_; }
  Parts new_parts(Runtime& runtime) const;
  static void fill(const Parts& parts, const HostMatrix<double>& x);
  /// Returns the vector in host memory; waits for the graph.
  HostMatrix<double> take(Graph& g, const Parts& parts) const;

  /// Returns the index where equation i's part of x begins.
  index_t start(std::size_t i) const { return starts_[i]; }
  /// Returns R_i in host memory.
  HostMatrix<double> R(std::size_t i) const;

  /// Returns [Q_1 Q_2 ...] in its own storage.
  const HostMatrix<double>& run_concurrently() const;

  /// Returns the vectors R_i^-1 x_i, one below the other. Waits for the graph.
  HostMatrix<double> solve(Graph& g, const HostMatrix<double>& x) const;

  /// Return the columns Q_i x_i; the vectors Q_i^T v_i, one below the other; and the vectors sum_j P_ij Q_i^T Q_j x_j.
  /// They wait for the graph.
  HostMatrix<double> times(Graph& g, const HostMatrix<double>& x) const;
  HostMatrix<double> transposed_times(Graph& g, const HostMatrix<double>& v) const;
  HostMatrix<double> weighted_products(Graph& g, const TileMatrix<double>& P, const HostMatrix<double>& x) const;
  /// Inserts the weighted product of x() into y(), without waiting.
  void insert_products(Graph& g, const TileMatrix<double>& P) const;
  /// Returns P in the tiles that insert_products needs.
  TileMatrix<double> weights(Runtime& runtime, const HostMatrix<double>& P) const;

 private:
  /// The R_i of the equations of one task, side by side, in space for the largest.
  struct Triangles {
    std::vector<std::size_t> which;
    TileMatrix<double> R;
  };

  void factor_separately(Graph& g, const std::vector<PickedEquation>& equations, const std::vector<std::size_t>& which);
  void factor_in_groups(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                        const std::vector<std::size_t>& which);
  std::vector<Tile<double>> bases(std::size_t group) const;

  HostMatrix<double> all_;  // memory of the Q_i if `together`
  std::optional<PinnedMemory> locked_;
  std::vector<index_t> starts_{0};
  std::vector<Triangles> triangles_;
  std::vector<TileMatrix<double>> Q_, X_, Y_;  // X, Y: one tile for each group of equations
  TileMatrix<double> W_, V_;                   // a column for each equation, a tile for each group
};

/// Weights of the equations: the inverse of S = D P D with unit-diagonal P.
struct Weights {
  std::vector<double> sigmas;     ///< D
  HostMatrix<double> inverse;     ///< P^-1
  std::vector<index_t> singular;  ///< columns that earlier columns imply; there is no inverse then
};

/// Returns the weights for S_ij = E_i^T E_j / (divisors_i divisors_j), with the residuals E in one basis and products =
/// E^T E. Uses Cholesky of the products if there are many equations and the products are well conditioned, otherwise
/// the triangle of E. Waits for the graph.
Weights weigh(Graph& g, const HostMatrix<double>& E, const HostMatrix<double>& products,
              const std::vector<double>& divisors);

/// Changes of the coefficients.
struct Correction {
  SemStatus status = SemStatus::ok;  ///< singular: no changes; not converged: the best changes found
  std::vector<std::vector<double>> changes = {};
};

/// Errors of the coefficients of one equation; NaN and empty by conjugate gradients.
struct CoefficientErrors {
  std::vector<double> standard_errors;
  double wald = std::numeric_limits<double>::quiet_NaN();  ///< of all regressors but the constant
  HostMatrix<double> covariance = {};                      ///< on request
};

/// Request to ThirdStage::errors.
struct ErrorOptions {
  bool covariances = false;
  /// For robust errors: rows Q_i(t)^T sum_j P^ij e_j(t) / s_j of all equations side by side, summed over clusters.
  const HostMatrix<double>* scores = nullptr;
  std::vector<double> corrections = {};  ///< factors of the equations' robust covariances
  double tolerance = 0;                  ///< robust errors: there is no `wald` beyond a condition of 1 / tolerance
};

/// The system of the third stage, in the coordinates of the model's variables.
class ThirdStage {
 public:
  /// Computes the bases of all equations and, for Cholesky, their products. `own` has a null for each equation with the
  /// model's instruments; `conditions` are the conditions of the equations. Waits for the graph.
  ThirdStage(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
             const std::vector<const OwnBasis*>& own, const std::vector<double>& conditions, SystemSolver solver);

  /// Returns the changes of all coefficients, in each equation's staircase order, for residuals E and weights. After
  /// the `last` correction there must be no other. Waits for the graph.
  Correction correction(Graph& g, const HostMatrix<double>& E, const Weights& weights, bool last);

  /// Returns the residuals that correction() needs: columns y_i - Q_i R_i b_i. If all equations have the model's
  /// instruments, the residuals of the data, y_i - Z_i b_i, serve as well. Waits for the graph.
  HostMatrix<double> fitted_residuals(Graph& g, const Variables& model, const std::vector<const Equation*>& in_model,
                                      const std::vector<std::vector<double>>& coefficients) const;
  bool own_instruments() const { return own_instruments_; }

  /// Returns the errors of each equation's coefficients b, in its own order and in the variables' units, after a
  /// correction with these weights. May be called once, after the last correction. Waits for the graph.
  std::vector<CoefficientErrors> errors(Graph& g, const Weights& weights, const std::vector<std::vector<double>>& b,
                                        const ErrorOptions& options);

  /// Returns R_i of Z_i = Q_i R_i, with columns in the equation's staircase order.
  HostMatrix<double> R(std::size_t i) const { return bases_.R(i); }
  index_t unknowns() const { return bases_.unknowns(); }
  bool by_gradients() const { return by_gradients_; }
  index_t gradient_steps() const { return gradient_steps_; }

 private:
  bool solve(Graph& g, const Weights& weights, HostMatrix<double>& x, bool last);
  CoefficientErrors errors_of(std::size_t i, const HostMatrix<double>& roots, double sigma,
                              const std::vector<double>& b, const ErrorOptions& options) const;

  const std::vector<PickedEquation>& equations_;
  bool by_gradients_, own_instruments_;
  EquationBases bases_;
  index_t gradient_steps_ = 0;
  /// H = Q^T Q, and the Cholesky factor of its weighted blocks; the last factor overwrites H.
  HostMatrix<double> H_, factor_;
  std::optional<PinnedMemory> locked_;  ///< page lock of H
};

}  // namespace tesela::detail
