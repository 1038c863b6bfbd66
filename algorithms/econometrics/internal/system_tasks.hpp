#pragma once

#include <tesela/algorithms/econometrics/internal/equation_bases.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

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

  /// Returns the standard errors, in each equation's staircase order, after a correction with these weights; NaN for
  /// conjugate gradients. May be called once, after the last correction. Waits for the graph.
  std::vector<std::vector<double>> errors(Graph& g, const Weights& weights);

  index_t unknowns() const { return bases_.unknowns(); }
  bool by_gradients() const { return by_gradients_; }
  index_t gradient_steps() const { return gradient_steps_; }

 private:
  bool solve(Graph& g, const Weights& weights, HostMatrix<double>& x, bool last);

  const std::vector<PickedEquation>& equations_;
  bool by_gradients_, own_instruments_;
  EquationBases bases_;
  index_t gradient_steps_ = 0;
  /// H = Q^T Q, and the Cholesky factor of its weighted blocks; the last factor overwrites H.
  HostMatrix<double> H_, factor_;
  std::optional<PinnedMemory> locked_;  ///< page lock of H
};

}  // namespace tesela::detail
