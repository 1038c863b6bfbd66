#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>
#include <tesela/runtime/shortest.hpp>

#include <cmath>

namespace tesela::c {

/// Counts the eigenvalues of a symmetric or Hermitian matrix below sigma, from the pivots of A - sigma I, without a
/// reduction.
///
/// uplo         'L' only: the lower triangle is read; A is not changed.
/// uncertainty  the count is exact for a matrix at most this far from A (2-norm). It is infinite if the factorization
///              broke down: change sigma slightly.
/// info         j > 0: column j is not finite.
template <Number T>
Code symmetric_inertia(char uplo, index_t n, const T* a, index_t lda, double sigma, index_t* below,
                       double* uncertainty) {
  require_triangle("uplo", uplo, 'L');
  require_sizes({{"n", n}});
  const Array<const T> array("a", a, {n, n}, "lda", lda);
  if (!std::isfinite(sigma)) throw WrongArgument("sigma", shortest(sigma) + " is not finite");
  require_pointer("below", below);
  require_pointer("uncertainty", uncertainty);
  const Session session;
  const SymmetricInertia found = tesela::symmetric_inertia<T>(session.runtime(), array, sigma);
  if (!found.status.ok())
    return failed(found.status.info, "column " + std::to_string(found.status.info) + " of A is not finite");
  *below = found.below;
  *uncertainty = found.uncertainty;
  return 0;
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

nb::tuple inertia(const ArrayLike& a_given, double sigma, Flag lower) {
  const Argument given("a", a_given, Numbers::complex_too);
  given.require_square();
  const Argument a = lower ? given : given.transposed();
  return in_number_type({&a}, [&]<class T>(T) {
    const SymmetricInertia found = with_workers([&](const c::Session& session) {
      return symmetric_inertia<T>(session.runtime(), Columns<T>(session, a), sigma);
    });
    if (!found.status.ok())
      raise_lin_alg_error("symmetric_inertia: " + column("a", found.status.info - 1) + " is not finite", "not finite",
                          nb::none());
    return nb::make_tuple(found.below, found.uncertainty);
  });
}

const Part part([](nb::module_& m) {
  m.def("symmetric_inertia", inertia, "a"_a, "sigma"_a = 0.0, nb::kw_only(), "lower"_a = true,
        R"(Count the eigenvalues of a symmetric or Hermitian matrix below sigma, without computing any.

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
