#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/dense/lu.hpp>

namespace tesela::c {

/// LAPACK gesv: X = A^-1 B with P A = L U. A takes L and U, B (n x nrhs) X. rows, n numbers or NULL: row i of P A is
/// row rows[i] of A, counted from 0 (not LAPACK's exchanges). info = i > 0: pivot i is zero or not finite, there is no
/// X; n + j: column j of X is not finite.
template <class T>
Code gesv(index_t n, index_t nrhs, T* a, index_t lda, int64_t* rows, T* b, index_t ldb) {
  require_sizes({{"n", n}, {"nrhs", nrhs}});
  const Array<T> array_a("a", a, {n, n}, "lda", lda), array_b("b", b, {n, nrhs}, "ldb", ldb);
  const Array<int64_t> order("rows", rows, rows != nullptr ? n : 0);
  require_apart({array_a, order, array_b});
  const Session session;
  const TileShape tile = suitable_lu_tile(session.runtime(), n);
  const auto A = array_a.in_tiles(session, tile, "A"),
             B = array_b.in_tiles(session, {std::max<index_t>(n, 1), 128}, "B");
  Graph g(session);
  const LuFactorization<T> factors = lu(g, A);
  const Code zero = factors.zero_pivot();
  if (zero == 0) factors.solve(g, B);
  const Status status = g.wait();
  A.bring_home();
  B.bring_home();
  if (rows != nullptr) {
    const std::vector<index_t> found = factors.rows();
    std::copy(found.begin(), found.end(), rows);
  }
  if (zero > 0) return failed(zero, "pivot " + std::to_string(zero) + " is zero or not finite");
  return status.ok() ? 0 : failed(n + status.info, not_finite_column("X", status));
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"
#include <tesela/algorithms/dense/cholesky.hpp>

namespace tesela::python {
namespace {

/// b takes x. The pivot that is zero; -j where column j of x is not finite; or 0.
template <class T>
index_t by_lu(const c::Session& session, const Columns<T>& a, const Columns<T>& b) {
  const auto A = a.in_tiles(session, suitable_lu_tile(session.runtime(), a.rows), "A"),
             B = b.in_tiles(session, {std::max<index_t>(a.rows, 1), 128}, "B");
  Graph g(session);
  const LuFactorization<T> factors = lu(g, A);
  const index_t zero = factors.zero_pivot();
  if (zero == 0) factors.solve(g, B);
  const Status status = g.wait();
  return zero != 0 ? zero : -status.info;
}

template <class T>
index_t by_cholesky(const c::Session& session, const Columns<T>& a, const Columns<T>& b) {
  const TileShape tile = suitable_cholesky_tile(session.runtime(), a.rows);
  const auto A = a.in_tiles(session, tile, "A"), B = b.in_tiles(session, {tile.mb, 128}, "B");
  Graph g(session);
  const CholeskyFactorization<T> factor = cholesky(g, A);
  const index_t minor = factor.minor();
  if (minor == 0) factor.solve(g, B);
  const Status status = g.wait();
  return minor != 0 ? minor : -status.info;
}

AnyArray solve(nb::handle a_given, nb::handle b_given, const std::string& assume_a, bool overwrite_a,
               bool overwrite_b) {
  const Argument a("a", a_given), b("b", b_given);
  const bool positive = assume_a == "pos" || assume_a == "positive definite";
  if (!positive && assume_a != "gen" && assume_a != "general") throw nb::value_error("assume_a must be 'gen' or 'pos'");
  a.require_square();
  b.require_rows(a.rows());
  return in_precision({&a, &b}, [&]<class T>(T) {
    auto [x, zero] = with_workers([&](const c::Session& session) {
      const auto columns_a = Columns<T>::overwriting(session, a, overwrite_a && a.apart({&b}));
      auto columns_b = Columns<T>::overwriting(session, b, overwrite_b);
      const index_t found =
          positive ? by_cholesky(session, columns_a, columns_b) : by_lu(session, columns_a, columns_b);
      return std::pair(std::move(columns_b), found);
    });
    const std::string place = std::to_string(zero);
    if (zero < 0)
      raise_lin_alg_error("column " + std::to_string(-zero) + " of x is not finite", "not finite", nb::none());
    if (zero != 0 && positive)
      raise_lin_alg_error("the leading minor of order " + place + " is not positive, or not finite",
                          "not positive definite", nb::none());
    if (zero != 0) raise_lin_alg_error("pivot " + place + " is zero or not finite", "singular", nb::none());
    return to_python(b, std::move(x));
  });
}

const Part part([](nb::module_& m) {
  m.def("solve", solve, "a"_a, "b"_a, nb::kw_only(), "assume_a"_a = "gen", "overwrite_a"_a = false,
        "overwrite_b"_a = false, R"(x with a x = b, by LU with tournament pivoting, or by Cholesky.

Parameters
----------
a : (n, n) array
b : (n,) or (n, k) array
assume_a : {'gen', 'pos'}
    'pos': symmetric positive definite; the upper triangle is read.
overwrite_a, overwrite_b : bool
    Whether the array may be lost, which spares a copy where it is in Fortran order.

Raises
------
numpy.linalg.LinAlgError
    If a pivot is zero or not finite, or a leading minor not positive.

Examples
--------
>>> import numpy as np, tesela
>>> tesela.solve(np.array([[2., 0.], [0., 4.]]), np.array([2., 2.]))
array([1. , 0.5])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
