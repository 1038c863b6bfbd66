#include "interfaces/c/direct.hpp"

namespace tesela::c {

/// Factors A = R^H R for a symmetric or Hermitian positive definite matrix (LAPACK potrf).
///
/// uplo     'U' only: the upper triangle is read and overwritten by R; elements below it may be overwritten.
/// info     i > 0: the leading minor of order i is not positive or not finite.
template <Number T>
Code potrf(char uplo, index_t n, T* a, index_t lda) {
  require_sizes({{"n", n}});
  require_triangle("uplo", uplo, 'U');
  const Array<T> array("a", a, {n, n}, "lda", lda);
  const Session session;
  return info_of(cholesky<T>(session.runtime(), array), n, 0);
}

/// Solves A X = B by potrf and overwrites B (n x nrhs) with X (LAPACK posv).
///
/// info     as potrf's; n + j: column j of X is not finite; n + nrhs + 1: X is set, but A is singular to working
///          precision; n + nrhs + 2: X is set, but may have fewer than two correct digits. tesela_error() states the
///          reciprocal condition number.
template <Number T>
Code posv(char uplo, index_t n, index_t nrhs, T* a, index_t lda, T* b, index_t ldb) {
  require_sizes({{"n", n}, {"nrhs", nrhs}});
  require_triangle("uplo", uplo, 'U');
  const Array<T> array("a", a, {n, n}, "lda", lda), right("b", b, {n, nrhs}, "ldb", ldb);
  require_no_overlap({array, right});
  const Session session;
  return info_of(cholesky_solve<T>(session.runtime(), array, right), n, nrhs);
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

AnyArray factor(const ArrayLike& a_given, Flag lower, Flag overwrite_a) {
  const Argument given("a", a_given, Numbers::complex_too);
  given.require_square();
  const Argument a = lower ? given.transposed() : given;  // the lower triangle is the upper triangle of A^T
  return in_number_type({&a}, [&]<class T>(T) {
    auto [r, minor] = with_workers([&](const c::Session& session) {
      auto columns = Columns<T>::overwriting(session, a, overwrite_a);
      const TileShape tile = cholesky_tile(session.runtime(), a.rows(), !a.place().on_device(), is_complex<T>);
      const DirectSolve factored = cholesky<T>(session.runtime(), columns, tile);
      columns.zero_below_blocks(std::min(tile.mb, tile.nb));
      return std::pair(std::move(columns), factored.place);
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
  // tesela/_factors.py documents it.
  m.def("cholesky", factor, "a"_a, "lower"_a = false, nb::kw_only(), "overwrite_a"_a = false);
});

}  // namespace
}  // namespace tesela::python
#endif
