#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>

extern "C" {
/// What toeplitz_solve found beside X. Begin it with sizeof.
typedef struct tesela_toeplitz_result {
  size_t size;
  double residual;        ///< measured: the largest ||T x - b|| / (||T|| ||x|| + ||b||)
  double residual_bound;  ///< the most that it may be
  double condition;       ///< an estimate, from below, of T's in the 1-norm; NaN where there is none
  double forward_bound;   ///< ||x - exact|| / ||exact|| is about this at most
} tesela_toeplitz_result;
}  // extern "C"

namespace tesela::c {

/// X = T^-1 B for the symmetric Toeplitz matrix with first column t (n numbers): T(i, j) = t(|i - j|). B (n x nrhs)
/// takes X. Fast methods first, and others while the measured residual is above rounding. info > 0: T is singular to
/// working precision, not finite, or X inaccurate; tesela_error() says which.
template <class T>
Code toeplitz_solve(index_t n, index_t nrhs, const T* t, T* b, index_t ldb, tesela_toeplitz_result* result) {
  require_sizes({{"n", n}, {"nrhs", nrhs}});
  const Array<const T> column("t", t, n);
  const Array<T> right("b", b, {n, nrhs}, "ldb", ldb);
  require_apart({right}, {column});
  tesela_toeplitz_result whole = read_struct("result", result);
  const Session session;
  ToeplitzSolution solved;
  if (n > 0 && nrhs > 0) {
    const auto X = right.in_one_tile(session, "X");
    Graph g(session);
    const Toeplitz<T> A(g, column.copy());
    solved = tesela::toeplitz_solve(g, A, T(0), X);
    X.bring_home();
  }
  whole.residual = solved.taken.residual.error;
  whole.residual_bound = solved.taken.residual.bound;
  whole.condition = solved.condition;
  whole.forward_bound = solved.forward_bound().error;
  write_struct(whole, result);
  return solved.ok() ? 0 : failed(TESELA_INACCURATE, solved.status());
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

ToeplitzResult solve_toeplitz(nb::handle c_given, nb::handle b_given) {
  const Argument c("c", c_given), b("b", b_given);
  if (!c.is_vector())
    throw nb::value_error(
        "c must be a vector, the first column of a symmetric matrix: other Toeplitz matrices are not "
        "supported, so (c, r) is not either");
  b.require_rows(c.rows());
  return in_precision({&c, &b}, [&]<class T>(T) {
    const auto column = finite_on_host<T>("solve_toeplitz", c);
    auto [x, solved] = with_workers([&](const c::Session& session) {
      auto right = Columns<T>::overwriting(session, b, false);
      ToeplitzSolution solution;
      if (right.rows > 0 && right.cols > 0) {
        const auto X = right.in_one_tile(session, "X");
        Graph g(session);
        solution = toeplitz_solve(g, Toeplitz<T>(g, column.copy()), T(0), X);
      }
      return std::pair(std::move(right), std::move(solution));
    });
    const ToeplitzResult result{to_python(b, std::move(x)), solved.taken.residual.error,  solved.taken.residual.bound,
                                solved.condition,           solved.forward_bound().error, solved.status()};
    if (!solved.ok()) raise_lin_alg_error("solve_toeplitz: " + result.status, result.status, nb::cast(result));
    return result;
  });
}

const Part part([](nb::module_& m) {
  ResultClass<ToeplitzResult>(m, "ToeplitzResult", "What `solve_toeplitz` found.")
      .member("x", &ToeplitzResult::x, "The solution, as b.")
      .member("residual", &ToeplitzResult::residual, "Measured: the largest ||T x - b|| / (||T|| ||x|| + ||b||).")
      .member("residual_bound", &ToeplitzResult::residual_bound, "The most that it may be.")
      .member("condition", &ToeplitzResult::condition,
              "An estimate, from below, in the 1-norm; NaN where there is none.")
      .member("forward_bound", &ToeplitzResult::forward_bound, "||x - exact|| / ||exact|| is about this at most.")
      .member("status", &ToeplitzResult::status, "'ok'.")
      .prints({"x", "residual", "condition", "status"});
  m.def("solve_toeplitz", solve_toeplitz, "c"_a, "b"_a,
        R"(Solve T x = b for a symmetric Toeplitz matrix, any number of b.

Fast methods first, and others while the measured residual is above rounding.

Parameters
----------
c : (n,) array
    First column: T[i, j] = c[|i - j|].
b : (n,) or (n, k) array

Returns
-------
ToeplitzResult

Raises
------
numpy.linalg.LinAlgError
    If T is singular to working precision, not finite, or x inaccurate; its attribute `result` holds what was found.

Examples
--------
>>> import numpy as np, tesela
>>> np.round(tesela.solve_toeplitz(np.array([2., 1.]), np.array([3., 3.])).x, 12)
array([1., 1.])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
