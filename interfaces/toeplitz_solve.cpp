#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>

extern "C" {
/// Results of toeplitz_solve other than X. Set size to sizeof(tesela_toeplitz_result).
typedef struct tesela_toeplitz_result {
  size_t size;
  double residual;        ///< measured: the largest ||T x - b|| / (||T|| ||x|| + ||b||)
  double residual_bound;  ///< bound of residual
  double condition;       ///< lower estimate of T's condition in the 1-norm; NaN without an estimate
  double forward_bound;   ///< approximate bound of ||x - exact|| / ||exact||
} tesela_toeplitz_result;
}  // extern "C"

namespace tesela::c {

/// Stores the results and returns the code of a solve.
inline Code finished(const ToeplitzSolution& solved, tesela_toeplitz_result whole, tesela_toeplitz_result* result) {
  whole.residual = solved.taken.residual.error;
  whole.residual_bound = solved.taken.residual.bound;
  whole.condition = solved.condition;
  whole.forward_bound = solved.forward_bound().error;
  write_versioned_struct(whole, result);
  return solved.ok() ? 0 : failed(TESELA_INACCURATE, solved.status());
}

/// Solves T X = B for the symmetric Toeplitz matrix T(i, j) = t(|i - j|) with first column t (n numbers); for complex
/// numbers conj(t) is the first row, and T is Hermitian if t(0) is real. B (n x nrhs) is overwritten with X. Tries fast
/// methods first, and others while the measured residual is above rounding. info > 0:
/// T is singular to working precision or not finite, or X is inaccurate; tesela_error() states the reason.
template <Number T>
Code toeplitz_solve(index_t n, index_t nrhs, const T* t, T* b, index_t ldb, tesela_toeplitz_result* result) {
  require_sizes({{"n", n}, {"nrhs", nrhs}});
  const Array<const T> column("t", t, n);
  const Array<T> right("b", b, {n, nrhs}, "ldb", ldb);
  require_no_overlap({right}, {column});
  const tesela_toeplitz_result whole = read_versioned_struct("result", result);
  const Session session;
  return finished(tesela::toeplitz_solve<T>(session.runtime(), column.copy(), T(0), right), whole, result);
}

/// Solves T X = B for any Toeplitz matrix with first column c and first row r (n numbers each; r(0) is not used), as
/// tesela_dtoeplitz_solve does: with that function if r equals c, otherwise by a recursion with look-ahead.
template <Number T>
Code general_toeplitz_solve(index_t n, index_t nrhs, const T* c, const T* r, T* b, index_t ldb,
                            tesela_toeplitz_result* result) {
  require_sizes({{"n", n}, {"nrhs", nrhs}});
  const Array<const T> column("c", c, n), row("r", r, n);
  const Array<T> right("b", b, {n, nrhs}, "ldb", ldb);
  require_no_overlap({right}, {column, row});
  const tesela_toeplitz_result whole = read_versioned_struct("result", result);
  const Session session;
  return finished(tesela::toeplitz_solve<T>(session.runtime(), column.copy(), row.copy(), T(0), right), whole, result);
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

struct ToeplitzResult {
  AnyArray x;
  double residual = 0, residual_bound = 0, condition = 0, forward_bound = 0;
  std::string status;
};

ToeplitzResult solve(const Argument& c, const Argument* r, const Argument& b) {
  b.require_rows(c.rows());
  return in_number_type({&c, r != nullptr ? r : &c, &b}, [&]<class T>(T) {
    const HostMatrix<T> column = finite_on_host<T>("solve_toeplitz", c).copy();
    const HostMatrix<T> row = r != nullptr ? finite_on_host<T>("solve_toeplitz", *r, 1).copy() : HostMatrix<T>();
    auto [x, solved] = with_workers([&](const c::Session& session) {
      auto right = Columns<T>::overwriting(session, b, false);
      ToeplitzSolution solution = r != nullptr ? toeplitz_solve<T>(session.runtime(), column, row, T(0), right)
                                               : toeplitz_solve<T>(session.runtime(), column, T(0), right);
      return std::pair(std::move(right), std::move(solution));
    });
    const ToeplitzResult result{to_python(b, std::move(x)), solved.taken.residual.error,  solved.taken.residual.bound,
                                solved.condition,           solved.forward_bound().error, solved.status()};
    if (!solved.ok()) raise_lin_alg_error("solve_toeplitz: " + result.status, result.status, nb::cast(result));
    return result;
  });
}

ToeplitzResult solve_toeplitz(const ArrayLike& c_or_cr, const ArrayLike& b_given) {
  const Numbers any = Numbers::complex_too;
  if (!nb::isinstance<nb::tuple>(c_or_cr)) {
    const Argument c("c", c_or_cr, any), b("b", b_given, any);
    if (!c.is_vector())
      throw nb::value_error(
          "c must be a vector, the first column of a symmetric matrix, or (c, r) with the first row r");
    return solve(c, nullptr, b);
  }
  const auto both = nb::cast<nb::tuple>(c_or_cr);
  if (both.size() != 2) throw nb::value_error("(c, r) must be the first column and the first row");
  const Argument c("c", both[0], any), r("r", both[1], any), b("b", b_given, any);
  c.require_vector();
  r.require_vector_of(c.rows());
  return solve(c, &r, b);
}

const Part part([](nb::module_& m) {
  ResultClass<ToeplitzResult>(m, "ToeplitzResult", "Result of `solve_toeplitz`.")
      .member("x", &ToeplitzResult::x, "The solution, with the shape of b.")
      .member("residual", &ToeplitzResult::residual, "Measured: the largest ||T x - b|| / (||T|| ||x|| + ||b||).")
      .member("residual_bound", &ToeplitzResult::residual_bound, "Bound of residual.")
      .member("condition", &ToeplitzResult::condition,
              "Lower estimate of T's condition in the 1-norm; NaN without an estimate.")
      .member("forward_bound", &ToeplitzResult::forward_bound, "Approximate bound of ||x - exact|| / ||exact||.")
      .member("status", &ToeplitzResult::status, "'ok'.")
      .prints({"x", "residual", "condition", "status"});
  m.def("solve_toeplitz", solve_toeplitz, "c_or_cr"_a, "b"_a,
        R"(Solve T x = b for a real or complex Toeplitz matrix and any number of right-hand sides.

Tries fast methods first, and others while the measured residual is above rounding.

Parameters
----------
c_or_cr : (n,) array or tuple of two (n,) arrays
    First column c of a symmetric or Hermitian matrix, or (c, r) with the first row r of any matrix; r[0] is not used.
    c alone has the first row conj(c); a complex c[0] stays on the whole diagonal.
b : (n,) or (n, k) array

Returns
-------
ToeplitzResult

Raises
------
numpy.linalg.LinAlgError
    If T is singular to working precision or not finite, or if x is inaccurate; its attribute `result` has the result.

Examples
--------
>>> import numpy as np, tesela
>>> np.round(tesela.solve_toeplitz(np.array([2., 1.]), np.array([3., 3.])).x, 12)
array([1., 1.])
>>> np.round(tesela.solve_toeplitz((np.array([2., 1.]), np.array([2., 3.])), np.array([5., 3.])).x, 12)
array([1., 1.])
>>> np.round(tesela.solve_toeplitz(np.array([2., 1j]), np.array([2. - 1j, 2. + 1j])).x, 12)
array([1.+0.j, 1.+0.j])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
