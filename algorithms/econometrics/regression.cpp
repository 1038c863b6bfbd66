#include <tesela/algorithms/econometrics/regression.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <cmath>
#include <limits>

namespace tesela {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

CoefficientTest test_coefficient(double estimate, double std_error, double degrees_of_freedom, double level) {
  if (!(std_error > 0 && std::isfinite(std_error))) return {nan, nan, nan, nan};
  const double t = estimate / std_error, half = std_error * quantile_of_t(0.5 + level / 2, degrees_of_freedom);
  return {t, p_of_t(t, degrees_of_freedom), estimate - half, estimate + half};
}

double total_norm(const HostMatrix<double>& b, const std::vector<double>& weights, bool intercept) {
  const int exponent = largest_exponent(b.rows(), b.data());  // a power of two scales b to about 1
  long double mean = 0, all = 0, squares = 0;
  const auto weight = [&](index_t i) { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; };
  const auto scaled = [&](index_t i) { return static_cast<long double>(std::ldexp(b(i, 0), -exponent)); };
  for (index_t i = 0; i < b.rows(); ++i) {
    mean += weight(i) * scaled(i);
    all += weight(i);
  }
  mean = intercept && all > 0 ? mean / all : 0;
  for (index_t i = 0; i < b.rows(); ++i) {
    const long double distance = scaled(i) - mean;
    squares += weight(i) * distance * distance;
  }
  return std::ldexp(static_cast<double>(std::sqrt(squares)), exponent);
}

FitTest test_fit(double total_norm, double residual_norm, index_t rank, bool intercept, index_t degrees_of_freedom) {
  const double constant = intercept ? 1 : 0, df1 = static_cast<double>(rank) - constant,
               df2 = static_cast<double>(degrees_of_freedom);
  if (!(total_norm > 0)) return {nan, nan, nan, nan, df1, df2};
  const double ratio = residual_norm / total_norm, rest = ratio * ratio, r2 = 1 - rest,
               adjusted = 1 - (df1 + df2) / df2 * rest, f = r2 / df1 / (rest / df2);
  const bool tested = df1 > 0 && df2 > 0;
  return {r2, df2 > 0 ? adjusted : nan, tested ? f : nan, tested ? p_of_f(f, df1, df2) : nan, df1, df2};
}

template <class T>
std::vector<Regression> regressions(const HostMatrix<T>& X, const std::vector<real_t<T>>& unit_errors,
                                    const std::vector<real_t<T>>& residual_norms, index_t degrees_of_freedom,
                                    const RegressionOptions& options) {
  std::vector<Regression> all;
  for (index_t k = 0; k < X.cols(); ++k) {
    Regression& one = all.emplace_back();
    if (options.known_variances) {
      one.degrees_of_freedom = std::numeric_limits<double>::infinity();
    } else {
      one.degrees_of_freedom = static_cast<double>(degrees_of_freedom);
      one.sigma = degrees_of_freedom > 0 ? static_cast<double>(residual_norms[static_cast<std::size_t>(k)]) /
                                               std::sqrt(one.degrees_of_freedom)
                                         : nan;
    }
    for (index_t j = 0; j < X.rows(); ++j) {
      const double unit_error =
                       unit_errors.empty() ? nan : static_cast<double>(unit_errors[static_cast<std::size_t>(j)]),
                   error = unit_error == 0 ? 0 : one.sigma * unit_error;
      one.standard_errors.push_back(error);
      if constexpr (!is_complex<T>) {
        one.estimates.push_back(static_cast<double>(X(j, k)));
        one.tests.push_back(test_coefficient(one.estimates.back(), error, one.degrees_of_freedom, options.level));
      }
    }
  }
  return all;
}

template <class T>
HostMatrix<T> covariances(const HostMatrix<T>& V, const std::vector<Regression>& regressions,
                          const RegressionOptions& options) {
  if (options.known_variances) return V.clone();
  const index_t n = V.rows();
  HostMatrix<T> all(n, n * std::ssize(regressions));
  for (index_t k = 0; k < std::ssize(regressions); ++k) {
    const double sigma = regressions[static_cast<std::size_t>(k)].sigma;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i)
        all(i, k * n + j) =
            V(i, j) == T(0) ? T(0) : converted<T>(sigma * converted<with_parts<T, double>>(V(i, j)) * sigma);
  }
  return all;
}

TESELA_FUNCTIONS_FOR_NUMBERS(regressions, covariances)

}  // namespace tesela
