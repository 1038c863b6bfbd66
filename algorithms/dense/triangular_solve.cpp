#include <tesela/algorithms/dense/triangular_solve.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

using namespace kernels;

template <class T>
void triangular_solve(Graph& g, Op op, const HostMatrix<T>& R, HostMatrix<T>& X) {
  if (X.size() == 0) return;
  constexpr index_t columns = 64;
  const auto r = TileMatrix<T>::map(g.runtime(), R.data(), R.rows(), R.cols(), R.ld(), {R.rows(), R.cols()}, "R");
  const auto x = TileMatrix<T>::map(g.runtime(), X.data(), X.rows(), X.cols(), X.ld(), {X.rows(), columns}, "X");
  for (index_t j = 0; j < x.nt(); ++j) g.insert<Trsm<T>>({op}, r(0, 0), x(0, j));
  g.wait();
  x.bring_home();
}

template void triangular_solve(Graph&, Op, const HostMatrix<float>&, HostMatrix<float>&);
template void triangular_solve(Graph&, Op, const HostMatrix<double>&, HostMatrix<double>&);

}  // namespace tesela
