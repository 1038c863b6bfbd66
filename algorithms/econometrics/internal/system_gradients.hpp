#pragma once

#include <tesela/algorithms/econometrics/internal/equation_bases.hpp>

namespace tesela::detail {

struct SystemGradients {
  HostMatrix<double> x;
  index_t steps = 0;
  bool converged = false;
};

/// Solves sum_j P_ij Q_i^T Q_j x_j = b_i by conjugate gradients, in units that give P a unit diagonal, to a residual of
/// 1e-14 ||b||. P is symmetric and positive definite. Waits for the graph in every step.
SystemGradients solve_by_gradients(Graph& g, const EquationBases& bases, const HostMatrix<double>& P,
                                   const HostMatrix<double>& b);

}  // namespace tesela::detail
