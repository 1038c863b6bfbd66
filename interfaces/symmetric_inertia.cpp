#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>
#include <tesela/runtime/shortest.hpp>

#include <cmath>

namespace tesela::c {

/// How many eigenvalues of a symmetric matrix are below sigma, from the pivots of A - sigma I without any reduction,
/// and how sure that is: the count is that of a matrix at most `uncertainty` (2-norm) away. Infinite where the
/// factorization broke down: move sigma a little. The lower triangle is read (uplo 'L'), and A not changed.
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
  const index_t edge = suitable_inertia_tile(session.runtime());
  const auto A = array.in_tiles(session, {edge, edge});
  Graph g(session);
  const SymmetricInertia found = tesela::symmetric_inertia(g, A, sigma);
  *below = found.below;
  *uncertainty = found.uncertainty;
  return 0;
}

}  // namespace tesela::c
