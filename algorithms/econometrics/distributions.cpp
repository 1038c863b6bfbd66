#include <tesela/algorithms/econometrics/regression.hpp>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

namespace tesela {
namespace {

namespace math = boost::math;

/// Returns NaN or a limit for arguments outside of a distribution's range, for which Boost throws.
template <class F>
double upper(double x, bool possible, F of) {
  if (std::isnan(x) || !possible) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x)) return 0;
  return of();
}

}  // namespace

double p_of_t(double t, double df) {
  const double size = std::abs(t);
  return upper(size, df > 0, [&] {
    return 2 * (std::isinf(df) ? math::cdf(math::complement(math::normal(), size))
                               : math::cdf(math::complement(math::students_t(df), size)));
  });
}

double quantile_of_t(double p, double df) {
  if (!(p > 0 && p < 1 && df > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::isinf(df) ? math::quantile(math::normal(), p) : math::quantile(math::students_t(df), p);
}

double p_of_chi_squared(double x, double df) {
  return upper(x, df > 0, [&] { return x <= 0 ? 1.0 : math::cdf(math::complement(math::chi_squared(df), x)); });
}

double p_of_f(double f, double df1, double df2) {
  return upper(f, df1 > 0 && df2 > 0,
               [&] { return f <= 0 ? 1.0 : math::cdf(math::complement(math::fisher_f(df1, df2), f)); });
}

}  // namespace tesela
