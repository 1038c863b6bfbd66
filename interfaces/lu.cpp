#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/dense/lu.hpp>

namespace tesela::c {

/// LAPACK gesv: X = A^-1 B with P A = L U. A takes L and U, B (n x nrhs) X. rows, n numbers or NULL: row i of P A is
/// row rows[i] of A, counted from 0 (not LAPACK's exchanges). info = i > 0: pivot i is zero or not finite, there is no
/// X.
template <class T>
Code gesv(index_t n, index_t nrhs, T* a, index_t lda, int64_t* rows, T* b, index_t ldb) {
  require_sizes({{"n", n}, {"nrhs", nrhs}});
  const Array<T> array_a("a", a, {n, n}, "lda", lda), array_b("b", b, {n, nrhs}, "ldb", ldb);
  const Session session;
  const TileShape tile = suitable_lu_tile(session.runtime(), n);
  const auto A = array_a.in_tiles(session, tile, "A"),
             B = array_b.in_tiles(session, {std::max<index_t>(n, 1), 128}, "B");
  Graph g(session);
  const LuFactorization<T> factors = lu(g, A);
  const Code zero = factors.zero_pivot();
  if (zero == 0) factors.solve(g, B);
  g.wait();
  A.bring_home();
  B.bring_home();
  if (rows != nullptr) {
    const std::vector<index_t> order = factors.rows();
    std::copy(order.begin(), order.end(), rows);
  }
  return zero == 0 ? 0 : failed(zero, "pivot " + std::to_string(zero) + " is zero or not finite");
}

}  // namespace tesela::c
