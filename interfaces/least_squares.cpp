#include "interfaces/c/arguments.hpp"
#include "interfaces/c/objects.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/algorithms/least_squares/nonnegative_least_squares.hpp>
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>
#include <tesela/runtime/shortest.hpp>

#include <cmath>

extern "C" {
/// Results of least squares other than X. Set size: tesela_gels_result result = {sizeof result};
typedef struct tesela_gels_result {
  size_t size;
  int64_t status;              ///< TESELA_OK, TESELA_RANK_DEFICIENT, or the reason why there is no X
  int64_t rank;                ///< numerical rank
  double condition;            ///< of A with columns of unit norm; decides the rank
  double backward_error;       ///< measured
  double backward_bound;       ///< bound of backward_error
  double cut;                  ///< for deficient rank: largest change of a column of A, relative to its norm
  int64_t degrees_of_freedom;  ///< rows that count, minus the rank
  int64_t original_units;      ///< 0: X has least norm in units of A's column norms (docs/least-squares.md)
  double* residual_norms;      ///< NULL, or the caller's array for nrhs numbers ||A x - b||_2
} tesela_gels_result;
}  // extern "C"

namespace tesela::c {
namespace {

/// Fills the result and returns its info.
template <class T>
Code finish(const LeastSquares<T>& answer, tesela_gels_result whole, tesela_gels_result* result) {
  whole.status = code_of(answer.status);
  whole.rank = answer.rank;
  whole.condition = answer.condition;
  whole.backward_error = answer.backward_error.error;
  whole.backward_bound = answer.backward_error.limit();
  whole.cut = answer.cut;
  whole.degrees_of_freedom = answer.degrees_of_freedom;
  whole.original_units = answer.original_units ? 1 : 0;
  if (whole.residual_norms != nullptr)
    std::copy(answer.residual_norms.begin(), answer.residual_norms.end(), whole.residual_norms);
  write_versioned_struct(whole, result);
  if (is_solved(answer.status)) return 0;
  return failed(whole.status, description(answer.status));
}

constexpr auto by_ols = [](const auto&... arguments) { return ols(arguments...); };

/// Solves by with(session, a, b, options) and overwrites B's first n rows with X.
template <class T, class Solve>
Code solve(index_t m, index_t n, index_t nrhs, T* a, index_t lda, T* b, index_t ldb, double rcond,
           tesela_gels_result* result, const Solve& with, const Array<const real_t<T>>& weights = {"w", nullptr, 0}) {
  require_sizes({{"m", m}, {"n", n}, {"nrhs", nrhs}});
  const Array<T> array_a("a", a, {m, n}, "lda", lda), array_b("b", b, {std::max(m, n), nrhs}, "ldb", ldb);
  if (!(rcond >= 0 && rcond < 1)) throw WrongArgument("rcond", shortest(rcond) + " is not in [0, 1)");
  const tesela_gels_result whole = read_versioned_struct("result", result);
  const Array<double> norms("result", whole.residual_norms, whole.residual_norms != nullptr ? nrhs : 0);
  require_no_overlap({array_a, array_b, norms}, {weights});
  const Session session;
  OlsOptions options;
  options.rcond = rcond;
  const LeastSquares<T> answer = with(session, array_a, array_b.top(m), options);
  array_b.take(answer.X);
  return finish(answer, whole, result);
}

}  // namespace

/// Solves least squares, X = argmin ||A X - B||_2 column by column, for any m x n matrix A (LAPACK gels, or gelsy if A
/// is rank deficient).
///
/// A        overwritten.
/// B        max(m, n) x nrhs: m rows on entry, n rows of X on return. X has least norm if there are several solutions.
/// result   may be NULL. It reports a deficient rank, which is not a failure.
/// info     > 0: the status; there is no X.
template <Number T>
Code gels(index_t m, index_t n, index_t nrhs, T* a, index_t lda, T* b, index_t ldb, tesela_gels_result* result) {
  return solve(m, n, nrhs, a, lda, b, ldb, 0, result, by_ols);
}

/// As gels; singular values of A, its columns scaled to unit norm, count as zero up to rcond times the largest. rcond =
/// 0 selects max(m, n) eps.
template <Number T>
Code gelsy(index_t m, index_t n, index_t nrhs, T* a, index_t lda, T* b, index_t ldb, double rcond,
           tesela_gels_result* result) {
  return solve(m, n, nrhs, a, lda, b, ldb, rcond, result, by_ols);
}

/// Solves weighted least squares, X = argmin sum_i w(i) |A x - b|(i)^2, with m finite weights >= 0; a row of weight 0
/// does not count. Otherwise as gels.
template <Number T>
Code wls(index_t m, index_t n, index_t nrhs, const real_t<T>* w, T* a, index_t lda, T* b, index_t ldb,
         tesela_gels_result* result) {
  require_sizes({{"m", m}});
  const Array<const real_t<T>> weights("w", w, m);
  for (index_t i = 0; i < m; ++i)
    if (!(w[i] >= 0 && std::isfinite(w[i])))
      throw WrongArgument("w", "element " + std::to_string(i) + " is " + shortest(w[i]) + ", not finite and from 0 on");
  const auto with = [&](const Session& session, const Array<T>& array_a, const Array<T>& array_b, const OlsOptions& o) {
    return tesela::wls(session, array_a, array_b, std::vector<real_t<T>>(w, w + m), o);
  };
  return solve(m, n, nrhs, a, lda, b, ldb, 0, result, with, weights);
}

/// Solves nonnegative least squares, X = argmin ||A X - B||_2 subject to X >= 0. Otherwise as gels, but X has no least
/// norm if there are several solutions, and backward_error is the violation of the optimality conditions.
template <class T>
Code nnls(index_t m, index_t n, index_t nrhs, T* a, index_t lda, T* b, index_t ldb, tesela_gels_result* result) {
  return solve(m, n, nrhs, a, lda, b, ldb, 0, result,
               [](const auto&... arguments) { return tesela::nnls(arguments...); });
}

/// As gels, for matrices in tiles: A m x n and B m x nrhs, both overwritten, with the same tile rows; X n x nrhs with
/// any tiles.
template <Number T>
Code gels_tile(tesela_matrix* a, tesela_matrix* b, tesela_matrix* x, tesela_gels_result* result) {
  const Tiles<T> A = tiles<T>("a", a), B = tiles<T>("b", b), X = tiles<T>("x", x);
  if (X.m() != A.n() || X.n() != B.n()) throw WrongArgument("x", "must be " + to_string(Shape{A.n(), B.n()}));
  require_no_overlap<Tiles<T>>({A, B, X});
  const tesela_gels_result whole = read_versioned_struct("result", result);
  const Session session;
  Graph g(session);
  const LeastSquares<T> answer = ols(g, A, B, OlsOptions{.method = OlsMethod::tiles});
  if (answer.X.size() > 0) X.copy_from(answer.X.data(), answer.X.ld());
  return finish(answer, whole, result);
}

/// Inserts gels_tile into a graph. tesela_graph_wait returns its info and fills result, which must stay valid until
/// then. The work waits for some of its tasks, so later insertions into this graph wait for it.
template <Number T>
Code gels_async(tesela_graph* graph, tesela_matrix* a, tesela_matrix* b, tesela_matrix* x, tesela_gels_result* result) {
  const auto into = object<GraphObject>("graph", graph);
  const Tiles<T> A = tiles<T>("a", a), B = tiles<T>("b", b), X = tiles<T>("x", x);
  if (X.m() != A.n() || X.n() != B.n()) throw WrongArgument("x", "must be " + to_string(Shape{A.n(), B.n()}));
  require_no_overlap<Tiles<T>>({A, B, X});
  const tesela_gels_result whole = read_versioned_struct("result", result);
  const Session session;
  into->run_in_background([=](Graph& g) {
    const LeastSquares<T> answer = ols(g, A, B, OlsOptions{.method = OlsMethod::tiles});
    if (answer.X.size() > 0) X.copy_from(answer.X.data(), answer.X.ld());
    return finish(answer, whole, result);
  });
  return 0;
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/arrays.hpp"
#include "interfaces/python/solutions.hpp"
#include <tesela/algorithms/econometrics/regression.hpp>
#include <tesela/algorithms/least_squares/covariance.hpp>
#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/algorithms/qr/lapack_form.hpp>

namespace tesela::python {
namespace {

struct LeastSquaresResult {
  AnyArray x, residual_norms, standard_errors, covariance, singular_values = nb::none();
  nb::tuple copied;
  index_t rank = 0, degrees_of_freedom = 0;
  double condition = 1, backward_error = 0, backward_bound = 0;
  std::string status;
  bool has_residues = false;
};

/// Sets standard errors and covariances for the estimated variance of the errors; without a full rank they stay None.
template <class T>
void add_errors(const Argument& b, const LeastSquares<T>& found, const std::vector<real_t<T>>& unit_errors,
                const HostMatrix<T>& V, LeastSquaresResult& result) {
  if (unit_errors.empty()) return;
  const std::vector<Regression> all = regressions(found.X, unit_errors, found.residual_norms, found.degrees_of_freedom);
  HostMatrix<real_t<T>> errors(found.X.rows(), found.X.cols());
  for (index_t k = 0; k < errors.cols(); ++k)
    for (index_t j = 0; j < errors.rows(); ++j)
      errors(j, k) =
          static_cast<real_t<T>>(all[static_cast<std::size_t>(k)].standard_errors[static_cast<std::size_t>(j)]);
  result.standard_errors = to_python_like(b, std::move(errors));
  result.covariance = to_python(covariances(V, all), b.place());
}

/// Solves by with(session, columns of a, columns of b, options); `errors`: with the covariance of x.
template <class T, class Solve>
LeastSquaresResult least_squares(const Argument& a, const Argument& b, double rcond, bool overwrite_a, bool overwrite_b,
                                 const Solve& with, bool errors = false) {
  b.require_rows(a.rows());
  if (rcond < 0) rcond = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  if (!(rcond < 1)) throw nb::value_error("rcond must be less than 1");
  auto [found, unit_errors, V, of_a, of_b] = with_workers([&](const c::Session& session) {
    OlsOptions options;
    options.rcond = rcond;
    options.keep_triangle = errors;
    auto columns_a = Columns<T>::overwriting(session, a, overwrite_a && a.apart({&b})),
         columns_b = Columns<T>::overwriting(session, b, overwrite_b);
    auto solved = with(session, columns_a, columns_b, options);
    std::vector<real_t<T>> of_variance_1;
    HostMatrix<T> covariance_of_variance_1;
    if (errors && is_solved(solved.status)) {
      Graph g(session);
      of_variance_1 = standard_errors(g, solved);
      covariance_of_variance_1 = covariance(g, solved);
    }
    return std::tuple(std::move(solved), std::move(of_variance_1), std::move(covariance_of_variance_1),
                      std::move(columns_a), std::move(columns_b));
  });
  const bool solved = is_solved(found.status);
  LeastSquaresResult result;
  result.standard_errors = nb::none();
  result.covariance = nb::none();
  add_errors(b, found, unit_errors, V, result);
  result.x = solved || found.X.size() > 0 ? to_python_like(b, std::move(found.X)) : nb::none();
  result.residual_norms = number_or_numbers(b, found.residual_norms);
  result.has_residues = found.rank == a.cols() && a.rows() > a.cols();
  result.degrees_of_freedom = found.degrees_of_freedom;
  result.copied = copied<T>({{&a, &of_a}, {&b, &of_b}});
  return finished("least squares", std::move(result), found, solved);
}

LeastSquaresResult lstsq(const ArrayLike& a_given, const ArrayLike& b_given, std::optional<double> rcond, Flag errors,
                         Flag overwrite_a, Flag overwrite_b, Flag singular_values) {
  const Argument a("a", a_given, Numbers::complex_too), b("b", b_given, Numbers::complex_too);
  return in_number_type({&a, &b}, [&]<class T>(T) {
    std::vector<real_t<T>> values;
    if (singular_values) {
      HostMatrix<T> copy = Columns<T>::on_host(a).copy();
      if (std::all_of(copy.data(), copy.data() + copy.size(), [](T x) { return is_finite(x); }))
        values = with_workers([&](const c::Session& session) { return tesela::singular_values<T>(session, copy); });
    }
    LeastSquaresResult result = least_squares<T>(
        a, b, rcond.value_or(0), overwrite_a, overwrite_b, [](const auto&... arguments) { return ols(arguments...); },
        errors);
    if (singular_values) result.singular_values = to_python(values, a.place());
    return result;
  });
}

/// Returns the squares of the residuals' norms if the solution is unique and has residuals, otherwise an empty array,
/// as SciPy.
nb::object residues(const LeastSquaresResult& r) {
  const nb::object numpy = nb::module_::import_("numpy");
  if (r.has_residues) return numpy.attr("square")(r.residual_norms);
  return numpy.attr("empty")(0, numpy.attr("asarray")(r.x).attr("dtype"));
}

LeastSquaresResult nnls(const ArrayLike& a_given, const ArrayLike& b_given, std::optional<double> rcond,
                        Flag overwrite_a, Flag overwrite_b) {
  const Argument a("a", a_given), b("b", b_given);
  return in_precision({&a, &b}, [&]<class T>(T) {
    return least_squares<T>(a, b, rcond.value_or(0), overwrite_a, overwrite_b,
                            [](const auto&... arguments) { return tesela::nnls(arguments...); });
  });
}

LeastSquaresResult wls(const ArrayLike& a_given, const ArrayLike& b_given, const ArrayLike& w_given,
                       std::optional<double> rcond, Flag errors, Flag overwrite_a, Flag overwrite_b) {
  const Argument a("a", a_given, Numbers::complex_too), b("b", b_given, Numbers::complex_too), w("w", w_given);
  w.require_vector();
  return in_number_type({&a, &b, &w}, [&]<class T>(T) {
    const auto weights = Columns<real_t<T>>::on_host(w);
    for (index_t i = 0; i < weights.rows; ++i)
      if (const real_t<T> weight = weights.data[i]; !(weight >= 0 && std::isfinite(weight)))
        throw nb::value_error(
            (element("w", i) + " is " + shortest(weight) + "; weights must be finite and not negative").c_str());
    return least_squares<T>(
        a, b, rcond.value_or(0), overwrite_a, overwrite_b,
        [&](const auto& session, const auto& A, const auto& B, const OlsOptions& o) {
          const std::vector<real_t<T>> numbers(weights.data, weights.data + weights.rows);
          return tesela::wls(session, A, B, numbers, o);
        },
        errors);
  });
}

LeastSquaresResult gls(const ArrayLike& a_given, const ArrayLike& b_given, const ArrayLike& covariance_given,
                       std::optional<double> rcond, Flag errors, Flag overwrite_a, Flag overwrite_b) {
  constexpr Numbers any = Numbers::complex_too;
  const Argument a("a", a_given, any), b("b", b_given, any), s("covariance", covariance_given, any);
  s.require_square();
  s.require_rows(a.rows());
  return in_number_type({&a, &b, &s}, [&]<class T>(T) {
    try {
      return least_squares<T>(
          a, b, rcond.value_or(0), overwrite_a, overwrite_b,
          [&](const auto& session, const auto& A, const auto& B, const OlsOptions& o) {
            return gls_covariance(session, A, B, Columns<T>::on_host(s).copy(), o);
          },
          errors);
    } catch (const CovarianceError& e) {
      throw nb::value_error(("covariance " + e.problem(0)).c_str());
    }
  });
}

const Part part([](nb::module_& m) {
  ResultClass<LeastSquaresResult> result(m, "LeastSquaresResult",
                                         "Result of `lstsq`, `nnls`, `wls` and `gls`. It unpacks as SciPy's: x, "
                                         "squared residual norms, rank, singular values.");
  unpacks<LeastSquaresResult>(
      result, [](const LeastSquaresResult& r) { return nb::make_tuple(r.x, residues(r), r.rank, r.singular_values); });
  result.member("x", &LeastSquaresResult::x, "The solution, n or n x k numbers.")
      .member("residual_norms", &LeastSquaresResult::residual_norms, "The 2-norm of a x - b, for each column of b.")
      .member("rank", &LeastSquaresResult::rank, "Numerical rank of a.")
      .member("singular_values", &LeastSquaresResult::singular_values, "Of a, descending, on request; or None.")
      .member("has_residues", &LeastSquaresResult::has_residues, "Whether a has more rows than columns and full rank.")
      .member("condition", &LeastSquaresResult::condition,
              "Condition of a with columns of unit norm, which decides the rank.")
      .member("degrees_of_freedom", &LeastSquaresResult::degrees_of_freedom, "Rows that count, minus the rank.")
      .member("backward_error", &LeastSquaresResult::backward_error, "Measured.")
      .member("backward_bound", &LeastSquaresResult::backward_bound, "Bound of backward_error.")
      .member("status", &LeastSquaresResult::status, "'ok' or 'rank deficient'.")
      .member("standard_errors", &LeastSquaresResult::standard_errors,
              "With errors=True the standard errors of x, like x; otherwise, or without a full rank, None.")
      .member("covariance", &LeastSquaresResult::covariance,
              "With errors=True the covariances of x for each column of b, side by side; otherwise None.")
      .member("copied", &LeastSquaresResult::copied, copied_doc)
      .prints({"x", "rank", "condition", "status"});
  m.def("lstsq", lstsq, "a"_a, "b"_a, nb::kw_only(), "rcond"_a = nb::none(), "errors"_a = false,
        "overwrite_a"_a = false, "overwrite_b"_a = false, "singular_values"_a = false,
        R"(Solve least squares: x = argmin ||a x - b|| for a of any shape and rank, of real or complex numbers.

Among several solutions x has the least norm. A deficient rank is not an error; the result reports it.

Parameters
----------
a : (m, n) array
    (m,) is one column.
b : (m,) or (m, k) array
rcond : float, optional
    Singular values of a, its columns scaled to unit norm, count as zero up to rcond times the largest one. None or 0
    selects max(m, n) eps, -1 eps. SciPy's name `cond` is accepted as well.
errors : bool
    Whether the result has standard errors and the covariance of x, for errors e of an estimated variance, E|e|^2:
    ||a x - b||^2 / degrees_of_freedom.
overwrite_a, overwrite_b : bool
    Whether the function may overwrite the array, which saves a copy if it is in Fortran order.
singular_values : bool
    Whether to compute the singular values of a as well, which the method does not need.

Returns
-------
LeastSquaresResult
    It unpacks as SciPy's: x, squared residual norms (empty for a deficient rank or m <= n), rank, and singular values
    or None. For a stack of matrices it is a tuple of these.

Raises
------
numpy.linalg.LinAlgError
    If a or b is not finite; see its attribute `status`.

Examples
--------
>>> import numpy as np, tesela
>>> r = tesela.lstsq(np.ones((5, 2)), np.arange(5.))
>>> r.rank, np.round(r.x, 6)
(1, array([1., 1.]))
)");
  m.def("nnls", nnls, "a"_a, "b"_a, nb::kw_only(), "rcond"_a = nb::none(), "overwrite_a"_a = false,
        "overwrite_b"_a = false,
        R"(Solve nonnegative least squares: x = argmin ||a x - b|| subject to x >= 0; otherwise as `lstsq`.

If a is rank deficient, a x is unique and x is one of the solutions. backward_error is the measured violation of the
optimality conditions (Karush-Kuhn-Tucker).

Examples
--------
>>> import numpy as np, tesela
>>> np.round(tesela.nnls(np.array([[1., 0.], [1., 0.], [0., 1.]]), np.array([2., 1., -1.])).x, 12)
array([1.5, 0. ])
)");
  m.def("wls", wls, "a"_a, "b"_a, "w"_a, nb::kw_only(), "rcond"_a = nb::none(), "errors"_a = false,
        "overwrite_a"_a = false, "overwrite_b"_a = false,
        R"(Solve weighted least squares: x = argmin sum w_i |a x - b|_i^2; otherwise as `lstsq`.

Parameters
----------
w : (m,) array
    Real weights >= 0, such as 1 / variance; a row of weight 0 does not count.

Examples
--------
>>> import numpy as np, tesela
>>> float(np.round(tesela.wls(np.ones((3, 1)), np.array([1., 2., 9.]), np.array([1., 1., 0.])).x[0], 12))
1.5
)");
  m.def("gls", gls, "a"_a, "b"_a, "covariance"_a, nb::kw_only(), "rcond"_a = nb::none(), "errors"_a = false,
        "overwrite_a"_a = false, "overwrite_b"_a = false,
        R"(Solve generalized least squares: x = argmin (a x - b)' S^-1 (a x - b), where ' conjugates, too; otherwise as
`lstsq`.

Parameters
----------
covariance : (m, m) array
    S, the covariance of the errors: symmetric or Hermitian, positive definite or semidefinite.

Examples
--------
>>> import numpy as np, tesela
>>> float(np.round(tesela.gls(np.ones((2, 1)), np.array([0., 3.]), np.diag([1., 2.])).x[0], 12))
1.0
)");
});

}  // namespace
}  // namespace tesela::python
#endif
