#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/dense/cholesky.hpp>

namespace tesela::c {
namespace {

template <class T>
Code factor_and_solve(char uplo, index_t n, T* a, index_t lda, const Array<T>* right) {
  require_triangle("uplo", uplo, 'U');
  const Array<T> array("a", a, {n, n}, "lda", lda);
  if (right != nullptr) require_apart({array, *right});
  const Session session;
  const TileShape tile = suitable_cholesky_tile(session.runtime(), n);
  const auto A = array.in_tiles(session, tile, "A");
  std::optional<TileMatrix<T>> B;
  if (right != nullptr) B = right->in_tiles(session, {tile.mb, 128}, "B");
  Graph g(session);
  const CholeskyFactorization<T> factor = cholesky(g, A);
  const Code minor = factor.minor();
  if (minor == 0 && B) factor.solve(g, *B);
  const Status status = g.wait();
  A.bring_home();
  if (B) B->bring_home();
  if (minor > 0)
    return failed(minor, "the leading minor of order " + std::to_string(minor) + " is not positive, or not finite");
  return status.ok() ? 0 : failed(n + status.info, not_finite_column("X", status));
}

}  // namespace

/// LAPACK potrf: A = R^T R for a symmetric positive definite matrix, of which the upper triangle is read (uplo 'U') and
/// takes R; what is below may be overwritten. info = i > 0: the leading minor of order i is not positive,
/// or not finite.
template <class T>
Code potrf(char uplo, index_t n, T* a, index_t lda) {
  require_sizes({{"n", n}});
  return factor_and_solve<T>(uplo, n, a, lda, nullptr);
}

/// LAPACK posv: the same, and B (n x nrhs) takes X = A^-1 B. info = n + j: column j of X is not finite.
template <class T>
Code posv(char uplo, index_t n, index_t nrhs, T* a, index_t lda, T* b, index_t ldb) {
  require_sizes({{"n", n}, {"nrhs", nrhs}});
  const Array<T> right("b", b, {n, nrhs}, "ldb", ldb);
  return factor_and_solve(uplo, n, a, lda, &right);
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

AnyArray factor(nb::handle a_given, bool lower, bool overwrite_a) {
  const Argument given("a", a_given);
  given.require_square();
  const Argument a = lower ? given.transposed() : given;  // the lower triangle is the upper one of A^T
  return in_precision({&a}, [&]<class T>(T) {
    auto [r, minor] = with_workers([&](const c::Session& session) {
      auto columns = Columns<T>::overwriting(session, a, overwrite_a);
      index_t order = 0;
      const TileShape tile = suitable_cholesky_tile(session.runtime(), a.rows());
      {
        const auto A = columns.in_tiles(session, tile, "A");
        Graph g(session);
        order = cholesky(g, A).minor();
        g.wait();
      }
      columns.zero_below_blocks(std::min(tile.mb, tile.nb));
      return std::pair(std::move(columns), order);
    });
    if (minor != 0)
      raise_lin_alg_error("the leading minor of order " + std::to_string(minor) + " is not positive, or not finite",
                          "not positive definite", nb::none());
    const bool copied = r.copied();
    const nb::object result = to_python(a, std::move(r));
    return lower && copied ? nb::object(result.attr("T")) : result;
  });
}

const Part part([](nb::module_& m) {
  m.def("cholesky", factor, "a"_a, "lower"_a = false, nb::kw_only(), "overwrite_a"_a = false,
        R"(The Cholesky factor of a symmetric positive definite matrix: a = r' r, or with `lower` a = l l'.

Of `a` the triangle is read that the factor takes.

Raises
------
numpy.linalg.LinAlgError
    If a leading minor is not positive.

Examples
--------
>>> import numpy as np, tesela
>>> tesela.cholesky(np.array([[4., 2.], [2., 5.]]))
array([[2., 1.],
       [0., 2.]])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
