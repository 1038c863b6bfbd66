#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// The test of an unknown by its estimate and standard error.
struct CoefficientTest {
  double statistic;  ///< t, or z with infinite degrees of freedom: the estimate over its standard error
  double p;          ///< probability of a statistic at least as large if the unknown is 0
  double low, high;  ///< interval that holds the unknown with probability `level`
};

/// Returns the test of one unknown, by Student's t distribution, or the normal one with infinite degrees of freedom;
/// all NaN unless the standard error is positive and finite.
CoefficientTest test_coefficient(double estimate, double std_error, double degrees_of_freedom, double level);

/// The errors of one right-hand side, and its unknowns.
struct Regression {
  double sigma = 1;                     ///< standard deviation of an error: estimated, or 1 if variances are known
  double degrees_of_freedom = 0;        ///< infinite if variances are known
  std::vector<double> standard_errors;  ///< one per unknown
  std::vector<double> estimates;        ///< one per unknown; none for complex numbers
  std::vector<CoefficientTest> tests;   ///< one per unknown; none for complex numbers
};

/// How well a regression fits; NaN without degrees of freedom.
struct FitTest {
  double r2, adjusted_r2;  ///< explained share of the squares about the mean; about 0 without an intercept
  double f, p;             ///< test of all unknowns but the intercept
  double df1, df2;         ///< degrees of freedom of the F statistic
};

/// Returns the norm of b, n x 1, about its mean, or about 0 without an intercept; with weights unless empty. (Its
/// square would overflow or underflow.)
double total_norm(const HostMatrix<double>& b, const std::vector<double>& weights, bool intercept);

/// Returns the fit of a regression as R's lm and statsmodels' OLS and WLS.
///
/// total_norm     total_norm of the right-hand side.
/// residual_norm  weighted.
/// rank           rank of the design, at least 1 with an intercept.
FitTest test_fit(double total_norm, double residual_norm, index_t rank, bool intercept, index_t degrees_of_freedom);

/// Options of regressions and covariances.
struct RegressionOptions {
  bool known_variances =
      false;            ///< whether the errors have the variances of the problem (1 in ols), without a factor sigma^2
  double level = 0.95;  ///< probability of the intervals
};

/// Returns the regression of each right-hand side of a least squares problem (ols, wls, gls, glm).
///
/// X                   n x r, the solution.
/// unit_errors         n standard errors for errors of variance 1, as standard_errors() has them; or empty.
/// residual_norms      r norms of the residuals, with the problem's weights.
/// degrees_of_freedom  rows with nonzero weight minus the rank.
///
/// sigma^2 = ||r||^2 / degrees of freedom, and the standard errors are sigma unit_errors, as in R's lm and statsmodels'
/// OLS, WLS and GLS. For complex errors e and unknowns x these estimate E|e|^2 and the roots of E|x - E x|^2. They are
/// NaN without unit_errors, and without degrees of freedom unless the unit error is 0: an unknown that does not depend
/// on errors is exact for any variance.
template <class T>
[[nodiscard]] std::vector<Regression> regressions(const HostMatrix<T>& X, const std::vector<real_t<T>>& unit_errors,
                                                  const std::vector<real_t<T>>& residual_norms,
                                                  index_t degrees_of_freedom, const RegressionOptions& options = {});

/// Returns sigma^2 V of each regression, side by side: n x n r, from the n x n covariance V of errors of variance 1.
/// With known variances all regressions have one covariance, V. Elements of V that are 0 stay 0 for any sigma.
template <class T>
[[nodiscard]] HostMatrix<T> covariances(const HostMatrix<T>& V, const std::vector<Regression>& regressions,
                                        const RegressionOptions& options = {});

// Tail probabilities and a quantile. NaN gives NaN; an infinite statistic has probability 0. Degrees of freedom are
// positive; for Student's t they may be infinite, which means the normal distribution.

/// Returns P(|T| >= |t|) for Student's t.
double p_of_t(double t, double df);
/// Returns the t with P(T <= t) = p.
double quantile_of_t(double p, double df);
/// Returns P(X >= x) for chi squared.
double p_of_chi_squared(double x, double df);
/// Returns P(F >= f) for Fisher's F.
double p_of_f(double f, double df1, double df2);

}  // namespace tesela
