#include <tesela/algorithms/eigen/internal/inverse_iteration.hpp>
#include <tesela/algorithms/support/insert_or_run.hpp>
#include <tesela/codelets/iterations/inverse_iteration.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela::detail {

using namespace kernels;

template <class T>
HostMatrix<T> inverse_iteration(Graph& g, const IteratedMatrix<T>& a, const std::vector<double>& values) {
  const index_t n = a.n(), count = static_cast<index_t>(values.size());
  HostMatrix<T> vectors(n, count);
  if (count == 0) return vectors;
  Runtime& runtime = g.runtime();
  const index_t wide = ceil_div(count, 4 * std::max<index_t>(runtime.cpus(), 1));
  const TileMatrix<double> A(runtime, n, n, {n, n}, "A"), W(runtime, count, 1, {wide, 1}, "W"),
      X(runtime, n, count, {n, wide}, "X");
  {
    const auto whole = A(0, 0).write();
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) whole(i, j) = static_cast<double>(a(i, j));
  }
  W.copy_from(values.data(), count);
  const Tile<double> work = g.scratch<double>(n, n);
  for (index_t t = 0; t < X.nt(); ++t)
    insert_or_run<InverseIteration>(g, Priority{}, {a.frobenius(), t * wide}, A(0, 0), W(t, 0), X(0, t), work);
  HostMatrix<double> x(n, count);
  X.copy_to(x.data(), n);
  // X = Q R: Q is X orthogonalized from left to right, up to signs.
  std::vector<double> tau(static_cast<std::size_t>(count));
  lapack::geqrf(n, count, x.data(), n, tau.data());
  HostMatrix<double> q = HostMatrix<double>::zeros(n, count);
  for (index_t j = 0; j < count; ++j) q(j, j) = 1;
  lapack::ormqr(Op::none, n, count, count, x.data(), n, tau.data(), q.data(), n);
  for (index_t i = 0; i < q.size(); ++i) vectors.data()[i] = static_cast<T>(q.data()[i]);
  return vectors;
}

template HostMatrix<float> inverse_iteration(Graph&, const IteratedMatrix<float>&, const std::vector<double>&);
template HostMatrix<double> inverse_iteration(Graph&, const IteratedMatrix<double>&, const std::vector<double>&);

}  // namespace tesela::detail
