#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/runtime/graph.hpp>

#include <vector>

namespace tesela {

/// How far estimates are from making their sums of squares least, by the data as given. With t = R1^-T X^T e, what the
/// instruments explain of residuals e (of the data, e itself for OLS and SUR), and z a regressor's like part:
struct SemError {
  /// Of each equation: the largest |z^T t| / (||z|| (||y|| + sum ||z|| |b|)); NaN where there is none to measure.
  std::vector<double> normal_residuals;
  double system_residual = 0;  ///< the same of sum_j s^ij t_j over sum_j |s^ij| of those sizes
  double bound = 0;            ///< of all: 10 sqrt(max(D, K + N)) eps times X's condition
};

/// One pass over the data, in double precision, columns in units of powers of two. Takes all cores, on which the
/// graph's runtime rests meanwhile, and a GPU for the data's products with residuals. Equations with instruments of
/// their own are measured by these, in their systems with y_j - Q_j Q_j^T Z_j b_j in place of e_j.
SemError sem_error(Graph& g, const RowSource<double>& data, const ModelTriangle& triangle,
                   const SimultaneousModel& model, SemMethod method, const SimultaneousEquations& answer);

}  // namespace tesela
