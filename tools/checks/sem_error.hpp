#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/runtime/graph.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace tesela {

/// Optimality of estimates: how close they are to a minimum of their sums of squares on the given data. With t = R1^-T
/// X^T e, the part of the residuals e that the instruments explain (e itself for OLS and SUR), and z the same part of a
/// regressor:
struct SemError {
  /// For each equation the largest |z^T t| / (||z|| (||y|| + sum ||z|| |b|)); NaN without anything to measure.
  std::vector<double> normal_residuals;
  double system_residual = 0;  ///< the same for sum_j s^ij t_j relative to sum_j |s^ij| of those sizes
  double bound = 0;            ///< bound of all: 10 sqrt(max(D, K + N)) eps times X's condition

  /// Returns the bound of estimates that were computed in T.
  template <class T>
  double bound_in() const {
    constexpr double ratio =
        static_cast<double>(std::numeric_limits<T>::epsilon()) / std::numeric_limits<double>::epsilon();
    return std::fmin(bound * ratio, 0.01);
  }
  /// Returns the largest normal residual; NaN without one.
  double normal_residual() const {
    double most = std::numeric_limits<double>::quiet_NaN();
    for (const double r : normal_residuals) most = std::fmax(most, r);
    return most;
  }
};

/// Measures the errors in one pass over the data, in double precision, with columns in units of powers of two. Uses all
/// cores, with the graph's runtime paused, and a GPU for the products of the data with residuals. Equations with their
/// own instruments are measured with these, in their systems with y_j - Q_j Q_j^T Z_j b_j in place of e_j.
SemError sem_error(Graph& g, const RowSource<double>& data, const ModelTriangle& triangle,
                   const SimultaneousModel& model, SemMethod method, const SimultaneousEquations& answer);

}  // namespace tesela
