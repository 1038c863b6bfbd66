#include <tesela/algorithms/eigen/internal/eigen_columns.hpp>
#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>
#include <tesela/codelets/eigen/tridiagonal/ql.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <algorithm>
#include <numeric>

namespace tesela::detail {
namespace {

using kernels::Laset;
using kernels::QlRotate;
using kernels::QlSweeps;

constexpr index_t suitable_rows = 64;      // rows of vectors per task: n columns of them stay in a core's cache
constexpr index_t rotations_kept = 65536;  // least number of rotations per batch of sweeps

/// Returns the identity in blocks of rows.
template <class T>
std::vector<RowBlock<T>> unit_vectors(Graph& g, index_t n, index_t rows) {
  std::vector<RowBlock<T>> blocks;
  for (index_t first = 0; first < n; first += rows) {
    const index_t some = std::min(rows, n - first);
    blocks.push_back({some, {one_tile<T>(g.runtime(), some, n, "X")}});
    g.insert<Laset<T>>({T(1), first}, blocks.back().tiles[0](0, 0));
  }
  return blocks;
}

}  // namespace

template <class T>
void ql(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TileMatrix<T>* x,
        const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result) {
  const index_t n = t.n();
  if (n == 0) return;
  Graph g(runtime, {.gpu = options.gpu});
  std::vector<EigenColumns<T>> columns(1);
  EigenColumns<T>& all = columns[0];
  all.n = n;
  if (x != nullptr) all.blocks = unit_vectors<T>(g, n, options.rows > 0 ? options.rows : suitable_rows);

  std::vector<T> bands = t.d;
  bands.insert(bands.end(), t.e.begin(), t.e.end());
  bands.push_back(0);
  const auto tile = one_tile(runtime, n, bands, "T");
  const auto progress = one_tile(runtime, 3, std::vector<index_t>(3, 0), "progress");
  const auto info = g.status();
  const index_t capacity = x != nullptr ? std::max(rotations_kept, n) : 0;
  for (bool done = false; !done;) {
    const auto rotations = one_tile<T>(runtime, capacity, 2, "rotations");
    const auto sweeps = one_tile<index_t>(runtime, 2, 1 + capacity / 16, "sweeps");
    g.insert<QlSweeps<T>>(urgent, {}, tile(0, 0), progress(0, 0), rotations(0, 0), sweeps(0, 0), info);
    for (const RowBlock<T>& block : all.blocks)
      g.insert<QlRotate<T>>({}, rotations(0, 0), sweeps(0, 0), block.tiles[0](0, 0));
    done = sweeps(0, 0).read()(1, 0) != 0;
  }
  {
    const auto values = tile(0, 0).read();
    all.values.assign(values.data, values.data + n);
    result.sweeps = progress(0, 0).read()(2, 0);
  }
  all.order = ascending_order(all.values);
  all.column.resize(all.values.size());
  std::iota(all.column.begin(), all.column.end(), index_t{0});
  const std::vector<ColumnPlace> places = ascending_places(columns, range.begin, range.end);
  for (const ColumnPlace& p : places) result.values.push_back(all.values[static_cast<std::size_t>(p.value)]);
  if (x != nullptr) place_columns(g, columns, places, *x);
  all.blocks.clear();
  wait_and_check_convergence(g, result);
}

TESELA_FUNCTIONS_FOR_REALS(ql)

}  // namespace tesela::detail
