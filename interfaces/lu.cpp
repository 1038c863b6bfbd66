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
