#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/eigen/bulge_chase.hpp>

#include <algorithm>

namespace tesela {

using namespace kernels;

template <class T>
BulgeChase<T>::BulgeChase(Graph& g, const SymmetricBand<T>& band, const BulgeOptions& options)
    : band_(band),
      plan_(bulge_plan(workers_for<T>(g.runtime()), band.order(), band.half_width(), band.tiles().tile_shape().nb,
                       sizeof(T), options)),
      reflectors_(g.runtime(), workers_for<T>(g.runtime()), plan_, options),
      none_(g.runtime(), 1, 1, {1, 1}) {
  none_(0, 0).write()(0, 0) = T(0);
  const TileMatrix<T>& tiles = band_.tiles();
  std::vector<Tile<T>> touched;
  const Priority where = chase_priority(chases_on_gpu(workers_for<T>(g.runtime()), plan_.b), options.priority);
  const Shape room = chase_work(plan_);
  for (index_t group = 0; group < plan_.groups(); ++group)
    for (index_t w = plan_.first_window(group); w <= plan_.last_window(group); ++w) {
      const index_t first = std::max<index_t>(w - 1, 0);
      touched.clear();
      for (index_t j = first; j <= std::min(w, tiles.nt() - 1); ++j) touched.push_back(tiles(0, j));
      g.insert<ChaseBulges<T>>(where, {plan_, group, w, first * plan_.window},
                               w > plan_.first_window(group) ? reflectors_.tile(group, w - 1) : none_(0, 0),
                               reflectors_.tile(group, w), g.scratch<T>(room.rows, room.cols), touched);
    }
}

template <class T>
BulgeChase<T> band_to_tridiagonal(Graph& g, const SymmetricBand<T>& B, const BulgeOptions& options) {
  return BulgeChase<T>(g, B, options);
}

TESELA_FUNCTIONS_FOR_NUMBERS(band_to_tridiagonal)
TESELA_CLASSES_FOR_NUMBERS(BulgeChase)

}  // namespace tesela
