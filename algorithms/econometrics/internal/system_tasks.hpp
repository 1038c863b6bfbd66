#pragma once

#include <tesela/algorithms/econometrics/internal/equation_bases.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// What weighs equations, the inverse of S = D P D with unit-diagonal P.
struct Weights {
  std::vector<double> sigmas;     ///< D
  HostMatrix<double> inverse;     ///< P^-1
  std::vector<index_t> singular;  ///< columns that the ones before them imply: no inverse then
};

/// Of S_ij = E_i^T E_j / (divisors_i divisors_j), E the residuals in one basis and products = E^T E. By Cholesky's
/// factor of many equations' products where these are well conditioned, otherwise by the triangle of E. Waits for the
/// graph.
Weights weigh(Graph& g, const HostMatrix<double>& E, const HostMatrix<double>& products,
              const std::vector<double>& divisors);

struct Correction {
  SemStatus status = SemStatus::ok;  ///< singular: no changes. Not converged: the best there are
  std::vector<std::vector<double>> changes = {};
};

/// The equations of the third stage, in the coordinates of the model's variables.
class ThirdStage {
 public:
  /// Finds the bases of all equations and, for Cholesky, the products of these. `own` has a null for each equation with
  /// the model's instruments; `conditions` are theirs. Waits for the graph.
  ThirdStage(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
             const std::vector<const OwnBasis*>& own, const std::vector<double>& conditions, SystemSolver solver);

  /// What the coefficients of all equations change by, each in its staircase's order, with these residuals E and
  /// weights. After the `last` there is no other. Waits.
  Correction correction(Graph& g, const HostMatrix<double>& E, const Weights& weights, bool last);

  /// The residuals that correction() takes, columns y_i - Q_i R_i b_i; those of the data, y_i - Z_i b_i, are as good
  /// where all equations have the model's instruments. Waits.
  HostMatrix<double> of_fitted(Graph& g, const Variables& model, const std::vector<const Equation*>& in_model,
                               const std::vector<std::vector<double>>& coefficients) const;
  bool own_instruments() const { return own_instruments_; }

  /// The standard errors, in each one's staircase's order, after a correction with these weights; NaN by conjugate
  /// gradients. After the last correction, once. Waits.
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
  /// H = Q^T Q, and Cholesky's factor of its blocks times weights, the last one in H's place.
  HostMatrix<double> H_, factor_;
  std::optional<PinnedMemory> locked_;  ///< H's
};

}  // namespace tesela::detail
