#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/svd/band_to_bidiagonal.hpp>
#include <tesela/codelets/eigen/chase_bidiagonal.hpp>

#include <algorithm>

namespace tesela {

using namespace kernels;

template <class T>
BidiagonalChase<T>::BidiagonalChase(Graph& g, const UpperBand<T>& band, const BulgeOptions& options)
    : band_(band),
      plan_(bulge_plan(workers_for<T>(g.runtime()), band.order(), band.half_width(), band.tiles().tile_shape().nb,
                       sizeof(T), options)),
      left_(g.runtime(), workers_for<T>(g.runtime()), plan_, options),
      right_(g.runtime(), workers_for<T>(g.runtime()), plan_, options),
      none_(g.runtime(), 1, 1, {1, 1}) {
  none_(0, 0).write()(0, 0) = T(0);
  const TileMatrix<T>& tiles = band_.tiles();
  std::vector<Tile<T>> touched;
  const Priority where = chase_priority(chases_on_gpu(workers_for<T>(g.runtime()), plan_.b), options.priority);
  const Shape room = chase_work(plan_);  // on a core 2 b numbers
  for (index_t group = 0; group < plan_.groups(); ++group)
    for (index_t w = plan_.first_window(group); w <= plan_.last_window(group); ++w) {
      const index_t first = std::max<index_t>(w - 1, 0);
      touched.clear();
      for (index_t j = first; j <= std::min(w, tiles.nt() - 1); ++j) touched.push_back(tiles(0, j));
      g.insert<ChaseBidiagonal<T>>(where, {plan_, group, w, first * plan_.window},
                                   w > plan_.first_window(group) ? left_.tile(group, w - 1) : none_(0, 0),
                                   left_.tile(group, w), right_.tile(group, w), g.scratch<T>(room.rows, room.cols),
                                   touched);
    }
}

template <class T>
BidiagonalChase<T> band_to_bidiagonal(Graph& g, const UpperBand<T>& B, const BulgeOptions& options) {
  return BidiagonalChase<T>(g, B, options);
}

TESELA_FUNCTIONS_FOR_NUMBERS(band_to_bidiagonal)
TESELA_CLASSES_FOR_NUMBERS(BidiagonalChase)

}  // namespace tesela
