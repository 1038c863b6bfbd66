#include "tools/checks/glm_error.hpp"
#include "tools/checks/gls_error.hpp"
#include "tools/commands/least_squares/wls_problem.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/normal_residual.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::cli {

using namespace kernels;
namespace {

/// Measures the error for sqrt(w) A and sqrt(w) B in blocks of rows, since A may be in a file.
template <class T>
typename NormalResidual<T>::Result weighted_error(const WlsOptions& o, const WlsProblem<T>& p, const HostMatrix<T>& X) {
  const blas::Threads threads(blas::all_cores());
  NormalResidual<T> sums(X);
  const T unit = weight_unit(p.weights);
  constexpr index_t most = 16384;
  for (index_t first = 0; first < o.m; first += most) {
    const index_t count = std::min(most, o.m - first);
    HostMatrix<T> a(count, o.n), b(count, o.rhs);
    if (o.streamed) p.rows->read(first, {a.data(), count, o.n, a.ld()});
    for (index_t j = 0; j < o.n && !o.streamed; ++j) std::copy_n(&p.a(first, j), count, &a(0, j));
    for (index_t j = 0; j < o.rhs; ++j) std::copy_n(&p.b(first, j), count, &b(0, j));
    scale_rows(p.weights, unit, first, {a.data(), count, o.n, a.ld()});
    scale_rows(p.weights, unit, first, {b.data(), count, o.rhs, b.ld()});
    sums.add(count, a.data(), a.ld(), b.data(), b.ld());
  }
  auto result = sums.result();
  result.residual_norm *= std::sqrt(static_cast<double>(unit));
  return result;
}

/// b = A x + F u with u = F^T lambda, A^T lambda = 0; by sigma b = A x + sigma lambda.
template <class T>
void measure_model(const WlsOptions& o, const WlsProblem<T>& p, const GeneralizedLeastSquares<T>& s, Report& report) {
  HostMatrix<T> u = (o.by_sigma() ? s.multipliers : s.U).clone();
  if (o.by_sigma())
    for (index_t j = 0; j < u.cols(); ++j)
      for (index_t i = 0; i < u.rows(); ++i)
        u(i, j) = std::ldexp(u(i, j), s.multiplier_exponents[static_cast<std::size_t>(j)]);
  const GlmError error = glm_error(p.a, p.covariance, p.b, s.X, u, s.multipliers, s.multiplier_exponents);
  const double most = static_cast<double>(std::max<index_t>({o.m, o.n, 1})),
               epsilon = static_cast<double>(std::numeric_limits<T>::epsilon()), bound = s.backward_error.bound;
  // The part of a semidefinite sigma below the last pivot counts as zero.
  const double left = o.by_sigma() ? std::min(20 * most * epsilon, useful_bound - bound) : 0,
               cut = s.backward_error.cut;
  report.check("constraint_residual", {error.constraint, bound + left, cut});
  if (!o.by_sigma())
    report.check("optimality", {error.optimality, bound * error.optimality_scale, cut * error.optimality_scale});
  report.check("normal_residual", {error.gradient, bound, cut});
  report.check("backward_error", {std::max(error.constraint, error.gradient), bound + left, cut});
}

}  // namespace

template <class T>
bool measure_wls(const WlsOptions& o, const WlsProblem<T>& p, const GeneralizedLeastSquares<T>& answer,
                 Report& report) {
  if (!o.by_weights() && answer.path == CovariancePath::model) {
    measure_model(o, p, answer, report);
    return false;
  }
  typename NormalResidual<double>::Result error;
  double scale = 1;
  if (o.by_weights()) {
    const auto found = weighted_error(o, p, answer.X);
    error = {found.residual_norm, found.normal_residual, found.backward_error, found.column_error,
             found.equation_error};
  } else {
    error = gls_error(p.a, p.b, p.covariance, o.by_sigma(), answer.X);
    // Dividing A by F multiplies its error by F's condition number; Cholesky's factor of sigma has that error as well.
    if (answer.path == CovariancePath::whitened)
      scale = std::pow(std::max(1.0, answer.factor_condition), o.by_sigma() ? 2 : 1);
  }
  const typename NormalResidual<T>::Result of_t{error.residual_norm, error.normal_residual, error.backward_error,
                                                error.column_error, error.equation_error};
  Measured measured = ols_error<T>(of_t, {o.m, o.n}, answer.rank, answer.cut);
  measured.bound *= scale;
  measured.cut *= scale;
  if (o.method.library()) measured.bound = std::min(measured.bound, useful_bound);  // the condition is a guess
  report.check("residual_norm", error.residual_norm);
  report.check("normal_residual", error.normal_residual);
  report.check("backward_error", measured);
  return error.normal_residual == 0;
}

template bool measure_wls(const WlsOptions&, const WlsProblem<float>&, const GeneralizedLeastSquares<float>&, Report&);
template bool measure_wls(const WlsOptions&, const WlsProblem<double>&, const GeneralizedLeastSquares<double>&,
                          Report&);

}  // namespace tesela::cli
