// Not in C yet: the curve of the cross-validation has a size of its own.
#ifdef TESELA_PYTHON
#include "interfaces/python/arrays.hpp"
#include "interfaces/python/solutions.hpp"
#include <tesela/algorithms/least_squares/regularized_least_squares.hpp>

namespace tesela::python {
namespace {

struct RidgeResult {
  AnyArray x, alpha, intercept, gcv, effective_df, residual_norms, alphas, gcv_curve, singular_values;
  index_t rank = 0;
  double backward_error = 0, backward_bound = 0;
  std::string status;
};

/// Returns one member of each fit: a float for a vector, otherwise an array.
nb::object of_fits(const Argument& b, const std::vector<RegularizedFit>& fits, double RegularizedFit::*member) {
  std::vector<double> numbers;
  for (const RegularizedFit& fit : fits) numbers.push_back(fit.*member);
  return number_or_numbers(b, numbers);
}

/// Returns one member of the curves' points, as columns; None for a given parameter.
nb::object of_curves(const Argument& b, const std::vector<RegularizedFit>& fits, double GcvPoint::*member) {
  if (fits.empty() || fits.front().curve.empty()) return nb::none();
  const index_t points = std::ssize(fits.front().curve);
  HostMatrix<double> numbers(points, std::ssize(fits));
  for (index_t j = 0; j < numbers.cols(); ++j)
    for (index_t i = 0; i < points; ++i)
      numbers(i, j) = fits[static_cast<std::size_t>(j)].curve[static_cast<std::size_t>(i)].*member;
  return to_python_like(b, std::move(numbers));
}

RidgeResult ridge(const ArrayLike& a_given, const ArrayLike& b_given, std::optional<double> alpha, Flag intercept) {
  const Argument a("a", a_given), b("b", b_given);
  b.require_rows(a.rows());
  if (alpha && !(*alpha >= 0 && std::isfinite(*alpha)))
    throw nb::value_error("alpha must be a finite number from 0 on");
  return in_precision({&a, &b}, [&]<class T>(T) {
    auto found = with_workers([&](const c::Session& session) {
      return regularized_least_squares<T>(session, Columns<T>(session, a), Columns<T>(session, b),
                                          {.parameter = alpha, .intercept = intercept});
    });
    const bool solved = is_solved(found.status);
    RidgeResult result;
    result.x = solved ? to_python_like(b, std::move(found.X)) : nb::none();
    result.alpha = of_fits(b, found.fits, &RegularizedFit::parameter);
    result.intercept = of_fits(b, found.fits, &RegularizedFit::intercept);
    result.gcv = of_fits(b, found.fits, &RegularizedFit::gcv);
    result.effective_df = of_fits(b, found.fits, &RegularizedFit::effective_df);
    result.residual_norms = of_fits(b, found.fits, &RegularizedFit::residual_norm);
    result.alphas = of_curves(b, found.fits, &GcvPoint::parameter);
    result.gcv_curve = of_curves(b, found.fits, &GcvPoint::gcv);
    result.singular_values = to_python(found.values);
    return finished("ridge", std::move(result), found, solved);
  });
}

const Part part([](nb::module_& m) {
  ResultClass<RidgeResult>(m, "RidgeResult", "Result of `ridge`.")
      .member("x", &RidgeResult::x, "The solution, n or n x k numbers.")
      .member("alpha", &RidgeResult::alpha,
              "The factor of ||x||^2, for each column of b; infinite or 0 beyond the range.")
      .member("intercept", &RidgeResult::intercept, "The constant, for each column of b; 0 without.")
      .member("gcv", &RidgeResult::gcv, "m ||b - a x||^2 / (m - effective_df)^2.")
      .member("effective_df", &RidgeResult::effective_df, "Effective degrees of freedom, with the intercept.")
      .member("residual_norms", &RidgeResult::residual_norms, "The 2-norm of b - a x, for each column of b.")
      .member("alphas", &RidgeResult::alphas, "Where the curve of gcv was computed, ascending; None for a given alpha.")
      .member("gcv_curve", &RidgeResult::gcv_curve, "gcv at `alphas`.")
      .member("singular_values", &RidgeResult::singular_values, "Of a, about its means with an intercept; descending.")
      .member("rank", &RidgeResult::rank, "Number of singular values that do not count as zero.")
      .member("backward_error", &RidgeResult::backward_error, "Measured.")
      .member("backward_bound", &RidgeResult::backward_bound, "Bound of backward_error.")
      .member("status", &RidgeResult::status, "'ok', or 'rank deficient' if alpha is 0 and x has the least norm.")
      .prints({"x", "alpha", "effective_df", "status"});
  m.def("ridge", ridge, "a"_a, "b"_a, "alpha"_a = nb::none(), nb::kw_only(), "intercept"_a = false,
        R"(Solve ridge regression: x = argmin ||b - a x||^2 + alpha ||x||^2, from one singular value decomposition.

Columns are not scaled. There are no standard errors: x is biased, and its bias is unknown.

Parameters
----------
a : (m, n) array
b : (m,) or (m, k) array
alpha : float, optional
    By default the minimum of generalized cross-validation, for each column of b.
intercept : bool
    Whether a constant is added to a x, which is not penalized.

Returns
-------
RidgeResult

Raises
------
numpy.linalg.LinAlgError
    If a or b is not finite; see its attribute `status`.

Examples
--------
>>> import numpy as np, tesela
>>> np.round(tesela.ridge(np.eye(2), np.array([2., 4.]), 1.).x, 12)
array([1., 2.])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
