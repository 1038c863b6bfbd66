#pragma once

#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>

#include <vector>

namespace tesela::detail {

/// What weighs equations, the inverse of S = D P D with unit-diagonal P.
struct Weights {
  std::vector<double> sigmas;     ///< D
  HostMatrix<double> inverse;     ///< P^-1
  std::vector<index_t> singular;  ///< columns that the ones before them imply: no inverse then
};

/// Of S_ij = E_i^T E_j / (divisors_i divisors_j), E the residuals in one basis. Waits for the graph.
Weights weigh(Graph& g, const HostMatrix<double>& E, const std::vector<double>& divisors);

/// The equations of the third stage, in the coordinates of the model's variables.
class ThirdStage {
 public:
  /// Finds each Z_i = Q_i R_i, one task an equation, and the products of all Q_i. `own` has a null for each equation
  /// with the model's instruments. Waits for the graph.
  ThirdStage(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
             const std::vector<const OwnBasis*>& own);

  /// What the coefficients of all equations change by, each in its staircase's order, with these residuals E and
  /// weights. Empty where the matrix of blocks is not positive definite. Waits.
  std::vector<std::vector<double>> correction(Graph& g, const HostMatrix<double>& E, const Weights& weights);

  /// The residuals that correction() takes, columns y_i - Q_i R_i b_i; those of the data, y_i - Z_i b_i, are as good
  /// where all equations have the model's instruments.
  HostMatrix<double> of_fitted(const Variables& model, const std::vector<PickedEquation>& in_model,
                               const std::vector<std::vector<double>>& coefficients) const;
  bool own_instruments() const { return own_instruments_; }

  /// The standard errors, in each one's staircase's order, after a correction with these weights. Waits.
  std::vector<std::vector<double>> errors(Graph& g, const Weights& weights) const;

  index_t unknowns() const { return starts_.back(); }

 private:
  const std::vector<PickedEquation>& equations_;
  std::vector<index_t> starts_;
  HostMatrix<double> Q_, H_, factor_;  ///< H = Q^T Q, and Cholesky's factor of its blocks times weights
  std::vector<HostMatrix<double>> R_;
  bool own_instruments_;
};

}  // namespace tesela::detail
