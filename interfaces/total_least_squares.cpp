// Not in C yet: Python has it.
#ifdef TESELA_PYTHON
#include "interfaces/python/arrays.hpp"
#include "interfaces/python/solutions.hpp"
#include <tesela/algorithms/least_squares/total_least_squares.hpp>

namespace tesela::python {
namespace {

struct TlsResult {
  AnyArray x, intercept, singular_values;
  double correction = 0, gap = 0, backward_error = 0, backward_bound = 0;
  std::string status;
};

TlsResult tls(const ArrayLike& a_given, const ArrayLike& b_given, Flag intercept) {
  const Argument a("a", a_given), b("b", b_given);
  b.require_rows(a.rows());
  return in_precision({&a, &b}, [&]<class T>(T) {
    auto found = with_workers([&](const c::Session& session) {
      return tesela::tls<T>(session, Columns<T>(session, a), Columns<T>(session, b), {.intercept = intercept});
    });
    const bool solved = found.status == TlsStatus::ok || found.status == TlsStatus::not_unique;
    TlsResult result;
    result.x = solved ? to_python_like(b, std::move(found.X)) : nb::none();
    result.intercept = intercept && solved ? number_or_numbers(b, found.intercepts) : nb::none();
    result.singular_values = to_python(found.values);
    result.correction = found.correction;
    result.gap = found.gap;
    return finished("tls", std::move(result), found, solved);
  });
}

const Part part([](nb::module_& m) {
  ResultClass<TlsResult>(m, "TlsResult", "Result of `tls`.")
      .member("x", &TlsResult::x, "The solution, n or n x k numbers.")
      .member("intercept", &TlsResult::intercept, "The constant, for each column of b; None without.")
      .member("singular_values", &TlsResult::singular_values, "Of [a b], descending.")
      .member("correction", &TlsResult::correction, "||[e f]||_F.")
      .member("gap", &TlsResult::gap,
              "Singular value n minus value n + 1, over the largest; the errors of x grow as its inverse.")
      .member("backward_error", &TlsResult::backward_error, "Measured.")
      .member("backward_bound", &TlsResult::backward_bound, "Bound of backward_error.")
      .member("status", &TlsResult::status, "'ok', or 'not unique': x has the least norm.")
      .prints({"x", "correction", "status"});
  m.def("tls", tls, "a"_a, "b"_a, nb::kw_only(), "intercept"_a = false,
        R"(Solve total least squares: (a + e) x = b + f with the least ||[e f]||_F, for errors of one size in a and b.

Parameters
----------
a : (m, n) array
    Scale columns whose errors differ in size.
b : (m,) or (m, k) array
intercept : bool
    Whether a constant without error is added to a x.

Returns
-------
TlsResult

Raises
------
numpy.linalg.LinAlgError
    If a or b is not finite, or the problem has no solution to working precision ('nongeneric'), as for dependent
    columns of a; see its attribute `status`.

Examples
--------
>>> import numpy as np, tesela
>>> float(np.round(tesela.tls(np.array([[1.], [2.]]), np.array([2., 4.])).x[0], 12))
2.0
)");
});

}  // namespace
}  // namespace tesela::python
#endif
