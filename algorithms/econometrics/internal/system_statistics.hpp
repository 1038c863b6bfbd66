#pragma once

#include <tesela/algorithms/econometrics/internal/system_tasks.hpp>

#include <vector>

namespace tesela::detail {

/// Data of the equations that have estimates.
struct System {
  std::vector<std::size_t> which;  ///< index of each in the model
  std::vector<PickedEquation> picked;
  std::vector<const OwnBasis*> own;
  std::vector<const Equation*> in_model;    ///< the model's equations
  std::vector<std::vector<double>> scaled;  ///< coefficients in the variables' units, in each equation's own order
  std::vector<double> divisors;             ///< square roots of the divisors
  HostMatrix<double> E;                     ///< residuals, in the model's coordinates
};

/// Returns A^T A. Waits for the graph.
HostMatrix<double> products_of(Graph& g, const HostMatrix<double>& A);

/// Returns the covariance in the data's units for products = E^T E of residuals E; NaN for equations without estimates.
HostMatrix<double> covariance_of(const Variables& v, const System& system, const HostMatrix<double>& products,
                                 std::size_t equations);

/// Returns the correlation for products = E^T E; NaN for equations without estimates or without residuals.
HostMatrix<double> correlation_of(const System& system, const HostMatrix<double>& products, std::size_t equations);

/// Returns sum_ij P^ij products_ij / (s_i s_j).
double weighted_sum(const Weights& w, const HostMatrix<double>& products);

/// Returns McElroy's R^2 for residuals E and products = E^T E; NaN without weights.
double mcelroy(Graph& g, const Variables& v, const SimultaneousModel& model, const System& system,
               const HostMatrix<double>& E, const HostMatrix<double>& products);

}  // namespace tesela::detail
