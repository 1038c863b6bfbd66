#pragma once

namespace tesela {

// What a statistic's size means. NaN in, NaN out; an infinite statistic has p = 0. Degrees of freedom are above 0;
// those of t may be infinite: then it is the normal distribution.

/// P(|T| >= |t|) of Student's t.
double p_of_t(double t, double df);
/// The t that is not exceeded with probability p.
double quantile_of_t(double p, double df);
/// P(X >= x) of chi squared.
double p_of_chi_squared(double x, double df);
/// P(F >= f) of Fisher's F.
double p_of_f(double f, double df1, double df2);

}  // namespace tesela
