#pragma once

#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/algorithms/econometrics/regression.hpp>
#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <string>

namespace tesela {

/// Returns the test of coefficient p, by Student's t with SemDivisor::small, else by the normal distribution.
CoefficientTest test_of(const EquationEstimate& estimate, std::size_t p, SemDivisor divisor, double level);

/// Returns the p-value of an equation's f: by Fisher's F with SemDivisor::small, else by chi squared of f df.
double p_of_slopes(const TestStatistic& f, SemDivisor divisor);

/// Returns the kind of the covariance of coefficients: "classical"; "robust (HC0)", or HC1 with SemDivisor::small;
/// "clustered (12 clusters)".
///
/// groups  group of each row; empty without clusters.
std::string covariance_name(const SemOptions& options, const std::vector<index_t>& groups);

/// Returns the estimates as text: the kind of the standard errors; the coefficients of each equation with standard
/// errors, tests and intervals, R^2, Wald's test of the slopes, the test of its instruments and its first stages; then
/// the tests of the system.
///
/// level  probability of the intervals.
/// most   largest number of equations in the text; a line counts the others.
std::string summary(const SimultaneousEquations& answer, const ModelData& model, const SemOptions& options,
                    double level = 0.95, std::size_t most = 100);

}  // namespace tesela
