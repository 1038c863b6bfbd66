#include "interfaces/c/direct.hpp"

namespace tesela::c {

/// Solves A X = B with P A = L U (LAPACK gesv).
///
/// A, B     overwritten by L and U, and by X (n x nrhs).
/// rows     NULL, or n numbers: row i of P A is row rows[i] of A, counted from 0 (not LAPACK's exchanges).
/// info     i > 0: pivot i is zero or not finite, and there is no X; n + j: column j of X is not finite; n + nrhs + 1:
///          X is set, but A is singular to working precision; n + nrhs + 2: X is set, but may have fewer than two
///          correct digits. tesela_error() states the reciprocal condition number.
template <Number T>
Code gesv(index_t n, index_t nrhs, T* a, index_t lda, int64_t* rows, T* b, index_t ldb) {
  require_sizes({{"n", n}, {"nrhs", nrhs}});
  const Array<T> array_a("a", a, {n, n}, "lda", lda), array_b("b", b, {n, nrhs}, "ldb", ldb);
  const Array<int64_t> order("rows", rows, rows != nullptr ? n : 0);
  require_no_overlap({array_a, order, array_b});
  const Session session;
  const DirectSolve solved = lu_solve<T>(session.runtime(), array_a, array_b);
  if (rows != nullptr) std::copy(solved.rows.begin(), solved.rows.end(), rows);
  return info_of(solved, n, nrhs);
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

/// Throws LinAlgError if there is no x or if x has no correct digit; warns if x may have fewer than two.
void judge(const DirectSolve& solved, const nb::object& x) {
  switch (solved.status) {
    case DirectStatus::ok: return;
    case DirectStatus::doubtful:
      return warn_lin_alg("solve: a is " + description(solved) + ": x may have fewer than two correct digits");
    case DirectStatus::inaccurate: raise_lin_alg_error("solve: x is " + description(solved), "inaccurate", x);
    case DirectStatus::singular: raise_lin_alg_error("solve: a is " + description(solved), "singular", x);
    case DirectStatus::zero_pivot:
      raise_lin_alg_error("solve: a is singular: " + element("u", solved.place - 1, solved.place - 1) +
                              " of its LU factorization is zero or not finite",
                          "singular", nb::none());
    case DirectStatus::not_positive:
      raise_lin_alg_error("solve: a is indefinite or singular: " + c::why_no_solution(solved), "not positive definite",
                          nb::none());
    case DirectStatus::not_finite:
      raise_lin_alg_error("solve: " + column("x", solved.place - 1) + " is not finite", "not finite", nb::none());
  }
}

AnyArray solve(const ArrayLike& a_given, const ArrayLike& b_given, const std::string& assume_a, Flag overwrite_a,
               Flag overwrite_b) {
  const Argument a("a", a_given, Numbers::complex_too), b("b", b_given, Numbers::complex_too);
  const bool positive = assume_a == "pos" || assume_a == "positive definite";
  if (!positive && assume_a != "gen" && assume_a != "general") throw nb::value_error("assume_a must be 'gen' or 'pos'");
  a.require_square();
  b.require_rows(a.rows());
  return in_number_type({&a, &b}, [&]<class T>(T) {
    auto [x, solved] = with_workers([&](const c::Session& session) {
      const auto columns_a = Columns<T>::overwriting(session, a, overwrite_a && a.apart({&b}));
      auto columns_b = Columns<T>::overwriting(session, b, overwrite_b);
      DirectSolve found = positive ? cholesky_solve<T>(session.runtime(), columns_a, columns_b)
                                   : lu_solve<T>(session.runtime(), columns_a, columns_b);
      return std::pair(std::move(columns_b), std::move(found));
    });
    const nb::object result = to_python(b, std::move(x));
    judge(solved, result);
    return result;
  });
}

const Part part([](nb::module_& m) {
  // tesela/_solvers.py documents it.
  m.def("solve", solve, "a"_a, "b"_a, nb::kw_only(), "assume_a"_a = "gen", "overwrite_a"_a = false,
        "overwrite_b"_a = false);
});

}  // namespace
}  // namespace tesela::python
#endif
