#include <tesela/algorithms/qr/keep_r.hpp>
#include <tesela/codelets/support/lacpy.hpp>

namespace tesela {

template <class T>
void keep_r(Graph& g, const QrFactorization<T>& factorization) {
  using namespace kernels;
  factorization.factors().for_each_tile([&](const Tile<T>& tile, index_t row, index_t col) {
    const index_t below = row - col;
    if (below >= tile.cols()) {
      g.insert<Laset<T>>({T(0), below}, tile);
    } else if (below + tile.rows() > 1) {  // a diagonal tile
      const TileMatrix<T> triangle(g.runtime(), tile.rows(), tile.cols(), {tile.rows(), tile.cols()}, "R");
      g.insert<Lacpy<T>>({Part::upper, below}, tile, triangle(0, 0));
      g.insert<Lacpy<T>>({Part::all, 0}, triangle(0, 0), tile);
    }
  });
}

template void keep_r(Graph&, const QrFactorization<float>&);
template void keep_r(Graph&, const QrFactorization<double>&);

}  // namespace tesela
