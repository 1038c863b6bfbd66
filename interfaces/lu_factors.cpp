#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/dense/range_scaling.hpp>
#include <tesela/algorithms/qr/lapack_form.hpp>

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

/// Returns L and U in one matrix, the rows of P A, and the first zero pivot from 0, or -1.
nb::tuple lu_parts(const ArrayLike& a_given) {
  const Argument a("a", a_given, Numbers::complex_too);
  return in_number_type({&a}, [&]<class T>(T) {
    const auto columns = Columns<T>::on_host(a);
    LuFactors<T> found =
        with_workers([&](const c::Session& session) { return lu_factors<T>(session, MatrixView<const T>(columns)); });
    return nb::make_tuple(to_python(std::move(found.factors), a.place()), to_python(found.rows), found.zero_pivot - 1);
  });
}

/// Returns R^-1 b, or R^-T b without a conjugate; R's diagonal has no zero.
AnyArray solve_upper(const ArrayLike& r_given, const ArrayLike& b_given, Flag transposed) {
  const Argument r("a", r_given, Numbers::complex_too), b("b", b_given, Numbers::complex_too);
  r.require_square();
  b.require_rows(r.rows());
  return in_number_type({&r, &b}, [&]<class T>(T) {
    const HostMatrix<T> triangle = Columns<T>::on_host(r).copy();
    HostMatrix<T> x = Columns<T>::on_host(b).copy();
    HostMatrix<T> solved = with_workers([&](const c::Session& session) {
      Graph g(session);
      triangular_solve(g, transposed ? Op::transpose : Op::none, triangle, x);
      return std::move(x);
    });
    return to_python_like(b, std::move(solved));
  });
}

/// Returns R^-1 b, and an estimate of the reciprocal condition of R with rows and columns of one size.
nb::tuple solve_scaled_upper(const ArrayLike& r_given, const ArrayLike& b_given) {
  const Argument r("a", r_given, Numbers::complex_too), b("b", b_given, Numbers::complex_too);
  r.require_square();
  b.require_rows(r.rows());
  return in_number_type({&r, &b}, [&]<class T>(T) {
    HostMatrix<T> triangle = Columns<T>::on_host(r).copy();
    RangeScaling<T> scaling(triangle);
    triangle = scaling.matrix(std::move(triangle));
    HostMatrix<T> x = scaling.right_hand_sides(Columns<T>::on_host(b).copy());
    const double reciprocal = with_workers([&](const c::Session& session) {
      Graph g(session);
      triangular_solve(g, Op::none, triangle, x);
      return triangular_condition(triangle);
    });
    return nb::make_tuple(to_python_like(b, scaling.solution(std::move(x))), reciprocal);
  });
}

/// Returns LAPACK's form of a QR factorization: the Householder vectors and R, and tau.
nb::tuple reflectors(const ArrayLike& a_given) {
  const Argument a("a", a_given, Numbers::complex_too);
  return in_number_type({&a}, [&]<class T>(T) {
    HostMatrix<T> copy = Columns<T>::on_host(a).copy();
    std::vector<T> tau = with_workers([&](const c::Session& session) { return qr_reflectors<T>(session, copy); });
    return nb::make_tuple(to_python(std::move(copy), a.place()), to_python(tau, a.place()));
  });
}

/// Returns the columns of a in the order of pivoting.
nb::object pivots(const ArrayLike& a_given) {
  const Argument a("a", a_given, Numbers::complex_too);
  return in_number_type({&a}, [&]<class T>(T) {
    HostMatrix<T> copy = Columns<T>::on_host(a).copy();
    return to_python(with_workers([&](const c::Session& session) { return column_pivots<T>(session, copy); }));
  });
}

const Part part([](nb::module_& m) {
  m.def("_lu_parts", lu_parts, "a"_a);
  m.def("_solve_upper", solve_upper, "a"_a, "b"_a, "transposed"_a);
  m.def("_solve_scaled_upper", solve_scaled_upper, "a"_a, "b"_a);
  m.def("_reflectors", reflectors, "a"_a);
  m.def("_column_pivots", pivots, "a"_a);
});

}  // namespace
}  // namespace tesela::python
#endif
