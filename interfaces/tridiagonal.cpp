#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_checked.hpp>

namespace tesela::c {
namespace {

template <class T>
Code solve(const Session& session, const Array<const T>& dl, const Array<const T>& d, const Array<const T>& du,
           const Array<T>& b, bool periodic) {
  const index_t n = b.rows, systems = b.cols;
  if (n == 0 || systems == 0) return 0;
  const CheckedSolve solved = tesela::tridiagonal_solve<T>(session.runtime(), dl, d, du, b, {.periodic = periodic});
  if (!solved.status.ok()) {
    const index_t place = solved.status.info - 1;
    return failed(solved.status.info, "equation " + std::to_string(place % n + 1) + " of system " +
                                          std::to_string(place / n) +
                                          ", systems counted from 0, is singular or not finite");
  }
  if (solved.condition.template singular<T>())
    return failed(n * systems + 1,
                  "system " + std::to_string(solved.condition.system) + ", counted from 0, is " + description(solved));
  if (!tridiagonal_trustworthy<T>(solved)) return failed(n * systems + 2, "X may be wrong: " + description(solved));
  return 0;
}

}  // namespace

/// Solves A X = B with pivoting, for the tridiagonal matrix with diagonal d (n) and dl and du (n - 1) below and above
/// it (LAPACK gtsv).
///
/// B        n x nrhs, overwritten with X; A is not changed.
/// info     i + n s > 0: A is singular, or A or B is not finite, at equation i (from 1) of column s of B (from 0); n
///          nrhs + 1: X is set, but A is singular to working precision; n nrhs + 2: X is set, but may have fewer than
///          two correct digits. tesela_error() states the condition.
/// Cost     the check reads A, B and X once if the diagonal dominates, and needs two more solves otherwise.
template <Number T>
Code gtsv(index_t n, index_t nrhs, const T* dl, const T* d, const T* du, T* b, index_t ldb) {
  require_sizes({{"n", n}, {"nrhs", nrhs}});
  const index_t off = std::max<index_t>(n - 1, 0);
  const Array<const T> lower("dl", dl, off), diagonal("d", d, n), upper("du", du, off);
  const Array<T> right("b", b, {n, nrhs}, "ldb", ldb);
  require_no_overlap({right}, {lower, diagonal, upper});
  const Session session;
  // Bands as long as the matrix; dl(0) and du(n - 1) are not read.
  HostMatrix<T> whole_dl(n, 1), whole_du(n, 1);
  if (n > 0) {
    whole_dl(0, 0) = whole_du(n - 1, 0) = 0;
    std::copy_n(dl, off, whole_dl.data() + 1);
    std::copy_n(du, off, whole_du.data());
  }
  return solve<T>(session, {"dl", whole_dl.data(), n}, diagonal, {"du", whole_du.data(), n}, right, false);
}

/// Solves tridiagonal systems in place, with bands as long as the matrix.
///
/// matrices 1: one matrix for nrhs right-hand sides; nrhs: a matrix for each, in a column of dl, d and du each, with
///          leading dimension ld.
/// periodic if not 0, dl(0) couples to the last unknown and du(n - 1) to the first; otherwise they are not read.
/// info     as in gtsv: i + n s for equation i (from 1) of system s (from 0); n nrhs + 1 and + 2 concern some system.
template <Number T>
Code tridiagonal_solve(index_t n, index_t nrhs, index_t matrices, int64_t periodic, const T* dl, const T* d,
                       const T* du, index_t ld, T* b, index_t ldb) {
  require_sizes({{"n", n}, {"nrhs", nrhs}});
  if (matrices != 1 && matrices != nrhs) throw WrongArgument("matrices", "must be 1 or nrhs");
  const Shape shape{n, matrices};
  const Array<const T> lower("dl", dl, shape, "ld", ld), diagonal("d", d, shape, "ld", ld),
      upper("du", du, shape, "ld", ld);
  const Array<T> right("b", b, {n, nrhs}, "ldb", ldb);
  require_no_overlap({right}, {lower, diagonal, upper});
  const Session session;
  return solve<T>(session, lower, diagonal, upper, right, periodic != 0);
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

/// A band as long as the matrix: the first element of dl and the last of du are not read. A band of n - 1 numbers is
/// extended.
template <class T>
struct Band {
  std::shared_ptr<NewMatrix<T>> longer;
  Columns<T> columns;

  Band(const c::Session& session, const Argument& given, index_t n, index_t before) : columns(session, given) {
    if (given.rows() == n) return;
    const index_t k = given.cols();
    if (const auto& place = given.place(); place.on_device()) {
      longer = std::make_shared<NewMatrix<T>>(Shape{n, k}, place);
      zero_columns(place.device, {longer->data(), n}, {n, k}, sizeof(T));
      copy_columns(place.device, {longer->data() + before, n}, {columns.data, columns.ld}, {n - 1, k}, sizeof(T));
    } else {
      longer = std::make_shared<NewMatrix<T>>(HostMatrix<T>::zeros(n, k), place);
      for (index_t j = 0; j < k; ++j)
        std::copy_n(columns.data + j * columns.ld, n - 1, longer->data() + j * n + before);
    }
    columns.data = longer->data();
    columns.rows = columns.ld = n;
  }
};

AnyArray solve_tridiagonal(const ArrayLike& dl_given, const ArrayLike& d_given, const ArrayLike& du_given,
                           const ArrayLike& b_given, Flag periodic, Flag overwrite_b) {
  const Numbers any = Numbers::complex_too;
  const Argument dl("dl", dl_given, any), d("d", d_given, any), du("du", du_given, any), b("b", b_given, any);
  const index_t n = b.rows(), k = b.cols();
  d.require_rows(n);
  if (d.cols() != 1) d.require_cols(k);
  for (const Argument* band : {&dl, &du}) {
    band->require_cols(d.cols());
    if (periodic || n == 0)
      band->require_rows(n);
    else
      band->require_rows(n - 1, n);
  }
  return in_number_type({&dl, &d, &du, &b}, [&]<class T>(T) {
    auto [x, solved] = with_workers([&](const c::Session& session) {
      auto right = Columns<T>::overwriting(session, b, overwrite_b && b.apart({&dl, &d, &du}));
      CheckedSolve found;
      if (n > 0 && k > 0) {
        const Band<T> lower(session, dl, n, 1), middle(session, d, n, 0), upper(session, du, n, 0);
        found = tridiagonal_solve<T>(session.runtime(), lower.columns, middle.columns, upper.columns, right,
                                     {.periodic = periodic});
      }
      return std::pair(std::move(right), found);
    });
    const auto of_system = [&](index_t s) { return k == 1 ? std::string() : "system " + std::to_string(s) + ": "; };
    if (const index_t place = solved.status.info - 1; place >= 0)
      raise_lin_alg_error("solve_tridiagonal: " + of_system(place / n) + "row " + std::to_string(place % n) +
                              " showed that it is singular or not finite",
                          "singular", nb::none());
    const nb::object result = to_python(b, std::move(x));
    if (solved.condition.template singular<T>())
      raise_lin_alg_error("solve_tridiagonal: " + of_system(solved.condition.system) + description(solved), "singular",
                          result);
    if (!solved.good()) raise_lin_alg_error("solve_tridiagonal: " + description(solved), "inaccurate", result);
    if (!tridiagonal_trustworthy<T>(solved))
      warn_lin_alg("solve_tridiagonal: " + of_system(solved.condition.system) + description(solved) +
                   ": x may have fewer than two correct digits");
    return result;
  });
}

const Part part([](nb::module_& m) {
  m.def("solve_tridiagonal", solve_tridiagonal, "dl"_a, "d"_a, "du"_a, "b"_a, nb::kw_only(), "periodic"_a = false,
        "overwrite_b"_a = false, R"(Solve tridiagonal systems of real or complex numbers, with pivoting.

Parameters
----------
dl, d, du : (n,) or (n, k) arrays
    Below, on and above the diagonal: row i is dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1]. dl[0] and du[-1] are not
    read, and may be omitted. With k columns each right-hand side has its own matrix.
b : (n,) or (n, k) array
periodic : bool
    If true, dl[0] couples to the last unknown and du[-1] to the first.

Returns
-------
array
    x, with the shape of b.

Raises
------
numpy.linalg.LinAlgError
    If a system is singular (exactly or to working precision) or not finite, or if a measured residual is too large;
    the message states the place, counted from 0. The attributes are `status`, and `result` with the computed x.

Warns
-----
LinAlgWarning
    If x may have fewer than two correct digits; the message states the reciprocal condition number.

Examples
--------
>>> import numpy as np, tesela
>>> tesela.solve_tridiagonal(np.ones(2), np.full(3, 4.), np.ones(2), np.array([5., 6., 5.]))
array([1., 1., 1.])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
