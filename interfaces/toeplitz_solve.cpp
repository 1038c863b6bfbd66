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
