#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>
#include <tesela/algorithms/support/report_not_finite.hpp>
#include <tesela/runtime/shortest.hpp>

#include <cmath>

namespace tesela::c {

/// Counts below sigma. The status is 1 + the index of the first column with NaN or an infinity on or below the
/// diagonal; nothing is counted then.
template <class T>
std::pair<Status, SymmetricInertia> count(const Session& session, MatrixView<T> a, double sigma) {
  const index_t edge = suitable_inertia_tile(session.runtime());
  const auto A = a.in_tiles(session, {edge, edge});
  Graph g(session);
  report_not_finite(g, A, FinitePart::lower);
  if (const Status status = g.wait(); !status.ok()) return {status, {}};
  return {Status(), tesela::symmetric_inertia(g, A, sigma)};
}

/// Counts the eigenvalues of a symmetric matrix below sigma, from the pivots of A - sigma I, without a reduction.
///
/// uplo         'L' only: the lower triangle is read; A is not changed.
/// uncertainty  the count is exact for a matrix at most this far from A (2-norm). It is infinite if the factorization
///              broke down: change sigma slightly.
/// info         j > 0: column j is not finite.
template <class T>
Code symmetric_inertia(char uplo, index_t n, const T* a, index_t lda, double sigma, index_t* below,
                       double* uncertainty) {
  require_triangle("uplo", uplo, 'L');
  require_sizes({{"n", n}});
  const Array<const T> array("a", a, {n, n}, "lda", lda);
  if (!std::isfinite(sigma)) throw WrongArgument("sigma", shortest(sigma) + " is not finite");
  require_pointer("below", below);
  require_pointer("uncertainty", uncertainty);
  const Session session;
  const auto [status, found] = count(session, array, sigma);
  if (!status.ok()) return failed(status.info, "column " + std::to_string(status.info) + " of A is not finite");
  *below = found.below;
  *uncertainty = found.uncertainty;
  return 0;
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

nb::tuple inertia(nb::handle a_given, double sigma, Flag lower) {
  const Argument given("a", a_given);
  given.require_square();
  const Argument a = lower ? given : given.transposed();
  return in_precision({&a}, [&]<class T>(T) {
    const auto [status, found] =
        with_workers([&](const c::Session& session) { return c::count(session, Columns<T>(session, a), sigma); });
    if (!status.ok())
      raise_lin_alg_error("symmetric_inertia: " + column("a", status.info - 1) + " is not finite", "not finite",
                          nb::none());
    return nb::make_tuple(found.below, found.uncertainty);
  });
}

const Part part([](nb::module_& m) {
  m.def("symmetric_inertia", inertia, "a"_a, "sigma"_a = 0.0, nb::kw_only(), "lower"_a = true,
        R"(Count the eigenvalues of a symmetric matrix below sigma, without computing any.

Returns
-------
(int, float)
    The count and its uncertainty: the count is exact for a matrix at most this far from a (2-norm). It is infinite if
    the factorization broke down: change sigma slightly.

Raises
------
numpy.linalg.LinAlgError
    If the triangle that is read is not finite.

Examples
--------
>>> import numpy as np, tesela
>>> tesela.symmetric_inertia(np.diag([1., 2., 3.]), 2.5)[0]
2
)");
});

}  // namespace
}  // namespace tesela::python
#endif
