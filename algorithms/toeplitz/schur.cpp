#include <tesela/algorithms/toeplitz/levinson.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
void require_tiles(index_t n, const TileMatrix<T>& inverse, const TileMatrix<double>& report, index_t tile) {
  if (n < 1) throw ArgumentError("schur", "A", "a matrix of order 0 has no inverse");
  require_whole_columns("schur", "inverse", inverse, n);
  require_whole_columns("schur", "report", report, levinson_report_rows);
  if (inverse.n() != 1 || report.n() != 1) throw ArgumentError("schur", "inverse", "it and report must be one column");
  if (!is_schur_tile(tile))
    throw ArgumentError("schur", "tile", std::to_string(tile) + " is not 128 times a power of two");
}

/// Transfer polynomials of consecutive steps; two neighbours with the same number of steps are joined at once.
template <class T>
class Transfers {
 public:
  explicit Transfers(Graph& g) : g_(g) {}

  void add(const Tile<T>& rho, index_t m, const Priority& where) {
    g_.insert<SchurTransfer<T>>(where, {}, rho, push(m), g_.scratch<T>(schur_work_rows(m), 1));
    while (parts_.size() > 1 && parts_[parts_.size() - 2].m() == parts_.back().m()) join(where);
  }
  /// Returns the polynomials of all steps.
  Tile<T> all(const Priority& where) {
    while (parts_.size() > 1) join(where);
    return parts_.back()(0, 0);
  }

 private:
  Tile<T> push(index_t m) {
    parts_.emplace_back(g_.runtime(), m, 2, TileShape{m, 2}, "transfer");
    return parts_.back()(0, 0);
  }
  void join(const Priority& where) {
    const TileMatrix<T> second = parts_.back(), first = parts_[parts_.size() - 2];
    parts_.resize(parts_.size() - 2, first);
    const index_t m = first.m() + second.m();
    g_.insert<SchurJoin<T>>(where, {}, first(0, 0), second(0, 0), push(m), g_.scratch<T>(schur_join_rows(m), 6));
  }

  Graph& g_;
  std::vector<TileMatrix<T>> parts_;
};

}  // namespace

index_t suitable_schur_tile(index_t n, const WorkerCounts& workers) {
  // Enough tiles for all workers, but tasks of 30 us or more on a core; a task on a GPU has a warp for each 128 pairs.
  const bool gpu = workers.gpus > 0;
  const index_t tiles = gpu ? 8 : std::clamp(8 * workers.cpus, 8, 32), least = gpu ? 2048 : 512,
                most = gpu ? 32768 : 2048;
  return std::clamp(static_cast<index_t>(std::bit_floor(static_cast<std::size_t>(n / tiles + 1))), least, most);
}

template <class T>
void schur(Graph& g, const Toeplitz<T>& A, const TileMatrix<T>& inverse, const TileMatrix<double>& report,
           index_t tile) {
  require_tiles(A.n(), inverse, report, tile > 0 ? tile : suitable_schur_tile(A.n(), g.runtime()));
  schur(g, A.tile(), inverse, report, tile);
}

template <class T>
void schur(Graph& g, const Tile<T>& t, const TileMatrix<T>& inverse, const TileMatrix<double>& report, index_t tile) {
  const index_t n = t.rows(), m = tile > 0 ? tile : suitable_schur_tile(n, g.runtime()),
                rows = schur_coefficient_rows(m);
  require_tiles(n, inverse, report, m);
  const index_t tiles = std::max<index_t>(ceil_div(n - 1, m), 1);
  const TileMatrix<T> generator(g.runtime(), tiles * m, 2, {m, 2}, "generator");
  const TileMatrix<T> rho(g.runtime(), tiles * rows, 1, {rows, 1}, "rho");
  const TileMatrix<T> edge(g.runtime(), tiles * m, 1, {m, 1}, "edge");
  {
    const auto home = report(0, 0).write();
    std::fill_n(home.data, levinson_report_rows, 0.0);
    home(levinson_least, 0) = std::numeric_limits<double>::infinity();
  }
  // GPUs own the tiles of the generator in turn.
  const auto place = [gpu = !is_complex<T> && g.runtime().gpus() > 0](index_t j, int priority) {
    return gpu ? Priority{priority, true, static_cast<int>(j % 4096)} : Priority{priority};
  };
  for (index_t j = 0; j < tiles; ++j) g.insert<SchurGenerator<T>>(place(j, 1), {j * m}, t, generator(j, 0));
  Transfers<T> transfers(g);
  const Tile<T> work = g.scratch<T>(schur_work_rows(m), 1);
  for (index_t k = 0; k < tiles; ++k) {
    g.insert<SchurTriangle<T>>(place(k, highest_priority), {k * m, std::min(m, n - 1 - k * m)}, generator(k, 0),
                               rho(k, 0), edge(k, 0), report(0, 0), work);
    for (index_t j = k + 1; j < tiles; ++j)
      g.insert<SchurApply<T>>(place(j, j == k + 1 ? highest_priority : 1), {}, rho(k, 0), generator(j, 0), edge(k, 0),
                              work);
    transfers.add(rho(k, 0), m, place(k, 0));
  }
  g.insert<SchurInverse<T>>(place(0, 0), {}, transfers.all(place(0, 0)), rho(tiles - 1, 0), inverse(0, 0),
                            report(0, 0));
}

template void schur(Graph&, const Toeplitz<float>&, const TileMatrix<float>&, const TileMatrix<double>&, index_t);
template void schur(Graph&, const Toeplitz<double>&, const TileMatrix<double>&, const TileMatrix<double>&, index_t);
template void schur(Graph&, const Tile<std::complex<double>>&, const TileMatrix<std::complex<double>>&,
                    const TileMatrix<double>&, index_t);

}  // namespace tesela
