#include <tesela/algorithms/toeplitz/internal/lanczos_tiles.hpp>

#include <algorithm>

namespace tesela::detail {

using namespace kernels;
namespace {

/// Returns the tiles of a column or a row.
template <class T>
std::vector<Tile<T>> all_tiles(const TileMatrix<T>& m) {
  std::vector<Tile<T>> tiles;
  for (index_t j = 0; j < m.nt(); ++j)
    for (index_t i = 0; i < m.mt(); ++i) tiles.push_back(m(i, j));
  return tiles;
}

}  // namespace

bool steps_on_tiles(const Runtime& runtime, index_t n, const SpectrumOptions& o, std::size_t intervals) {
  constexpr index_t long_enough = 8192;
  if (n < 2 || o.tasks == LanczosTasks::fused) return false;
  if (o.tasks == LanczosTasks::tiles) return true;
  return o.solver == ToeplitzSolver::cauchy && runtime.gpus() == 0 && runtime.ranks() == 1 && n >= long_enough &&
         2 * static_cast<index_t>(intervals) <= static_cast<index_t>(runtime.cpus());
}

index_t lanczos_segments(const Runtime& runtime, index_t n, const SpectrumOptions& o) {
  constexpr index_t least_rows = 1024;
  const index_t workers = runtime.gpus() > 0 ? runtime.gpus() : runtime.cpus(),
                fit = std::min<index_t>(cauchy_rows(n, 0) / least_rows, most_segments);
  return std::clamp<index_t>(workers / (2 * std::max<index_t>(1, o.window)), 1, std::max<index_t>(1, fit));
}

template <class T>
LanczosTiles<T>::LanczosTiles(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, index_t segments)
    : graph_(g), matrix_(A), refine_(refined(options)) {
  Runtime& runtime = g.runtime();
  const index_t capacity = krylov_limit(A.n(), options);
  for (int part = 0; part < 2; ++part) {
    const index_t rows = cauchy_rows(A.n(), part), mb = ceil_div(rows, segments), count = ceil_div(rows, mb);
    parts_.push_back({TileMatrix<T>(runtime, rows, capacity, {mb, capacity}, "basis"),
                      TileMatrix<T>(runtime, rows, 1, {mb, 1}, "w"),
                      TileMatrix<T>(runtime, lanczos_sum_rows, count, {lanczos_sum_rows, 1}, "recent"),
                      TileMatrix<T>(runtime, capacity + 2, count, {capacity + 2, 1}, "projected"),
                      TileMatrix<T>(runtime, lanczos_sum_rows, count, {lanczos_sum_rows, 1}, "subtracted"),
                      OneTile<T>(runtime, {rows, 1}, "y"), OneTile<T>(runtime, {1, 1}, "norm")});
    (*parts_.back().norm).write().data[0] = 1;
  }
}

/// Returns the GPU of a segment; cores have no place.
template <class T>
Priority LanczosTiles<T>::place(index_t segment) const {
  return graph_.runtime().gpus() > 0 ? on_gpu_number(static_cast<std::size_t>(segment)) : Priority{};
}

template <class T>
void LanczosTiles<T>::begin(const typename InverseQueue<T>::Start& start) {
  start_ = start;
  for (std::size_t p = 0; p < 2; ++p) {
    const Part& part = parts_[p];
    const index_t first = p == 0 ? 0 : cauchy_rows(matrix_.n(), 0);
    for (index_t i = 0; i < part.w.mt(); ++i)
      graph_.insert<LanczosBegin<T>>(place(i), {first + i * part.w.tile_shape().mb, start.start}, start.starts,
                                     part.w(i, 0), part.basis(i, 0));
  }
}

template <class T>
void LanczosTiles<T>::steps(index_t done, index_t steps, const Tile<double>& coefficients) {
  {
    const auto all = coefficients.write();  // both parts add their rows, in any order
    std::fill_n(all.data, all.rows * all.cols, 0.0);
  }
  for (index_t k = 0; k < steps; ++k)
    for (std::size_t part = 0; part < 2; ++part) step(part, done + k, k, coefficients);
}

template <class T>
void LanczosTiles<T>::step(std::size_t p, index_t k, index_t column, const Tile<double>& coefficients) {
  const Part& part = parts_[p];
  const auto number = static_cast<int>(p);
  const TileMatrix<T>& inverse = start_->inverse;
  const index_t segments = part.w.mt(), mb = part.w.tile_shape().mb;
  graph_.insert<LanczosProduct<T>>(place(number), {number, k, 3 * start_->number, start_->job.shift, refine_},
                                   matrix_.blocks(), matrix_.tables(), inverse(inverse.mt() == 2 ? number : 0, 0),
                                   *part.norm, *part.y, graph_.scratch<T>(lanczos_product_rows(matrix_.n()), 1),
                                   all_tiles(part.w));
  for (index_t i = 0; i < segments; ++i)
    graph_.insert<LanczosRecent<T>>(place(i), {k, i * mb}, *part.y, part.w(i, 0), *part.norm, part.basis(i, 0),
                                    part.recent(0, i));
  for (index_t i = 0; i < segments; ++i)
    graph_.insert<LanczosProject<T>>(place(i), {k, i * mb}, *part.y, part.basis(i, 0), part.w(i, 0),
                                     part.projected(0, i), all_tiles(part.recent));
  for (index_t i = 0; i < segments; ++i)
    graph_.insert<LanczosSubtract<T>>(place(i), {k, i * mb}, part.basis(i, 0), part.w(i, 0), part.subtracted(0, i),
                                      graph_.scratch<T>(part.projected.m(), 1), all_tiles(part.projected));
  graph_.insert<LanczosNorm<T>>(place(number), {number, column}, *part.norm, coefficients, all_tiles(part.subtracted));
}

template <class T>
std::vector<Tile<T>> LanczosTiles<T>::basis(int part) const {
  return all_tiles(parts_[static_cast<std::size_t>(part)].basis);
}

TESELA_CLASSES_FOR_REALS(LanczosTiles)

}  // namespace tesela::detail
