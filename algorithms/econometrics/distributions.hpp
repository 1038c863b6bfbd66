#pragma once

namespace tesela {

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
