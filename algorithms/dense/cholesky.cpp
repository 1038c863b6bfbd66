#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/internal/step_groups.hpp>
#include <tesela/algorithms/dense/products.hpp>
#include <tesela/algorithms/support/internal/column_blocks.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/algorithms/support/tuned_tile.hpp>
#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace tesela {

using namespace kernels;
namespace {

/// Returns the bytes of an n x n matrix.
template <class T>
double whole_bytes(index_t n) {
  return static_cast<double>(sizeof(T)) * static_cast<double>(n) * static_cast<double>(n);
}

/// Least order that steps update in groups, on one GPU.
constexpr index_t for_groups = 12288;

StepGroups cholesky_groups(const WorkerCounts& workers, index_t n, index_t nb, std::size_t element) {
  return nb % 256 == 0 ? group_steps(workers, n, nb, for_groups, element, 1, moduli_for(element)) : StepGroups{};
}

/// Steps whose square tiles may have residues at the same time.
constexpr index_t steps_at_once = 3;

/// Returns whether square tiles of order nb are updated by residues.
bool tiles_by_residues(const WorkerCounts& workers, index_t n, index_t nb) {
  return workers.gpus > 0 && updates_by_residues(workers, n, nb);
}

/// Returns the GPU of column j, modulo `gpus`: 0 1 1 0 0 1 1 0 … for two, since later columns are longer.
index_t gpu_of(index_t j, index_t gpus) {
  const index_t turn = j % (2 * gpus);
  return turn < gpus ? turn : 2 * gpus - 1 - turn;
}

/// Returns the place of tile (i, j): a tile column, or a tile row of wide tiles, stays on one GPU.
Priority place_of(int gpus, bool square, index_t i, index_t j, int value = 0) {
  return on_column(square ? gpu_of(j, std::max(gpus, 1)) : i, value);
}

TileShape tile_for(const GpuRoom& room, index_t n, bool from_host, bool complex) {
  const auto rounded = [](index_t size) { return size / 32 * 32; };
  if (room.gpus > 0) {
    constexpr index_t for_several_gpus = 32768, least = 32;
    constexpr double tiles = 24;                                             // on a GPU
    const bool fits = 2 * whole_bytes<double>(n) <= room.gpus * room.bytes;  // with residues, or of complex elements
    const bool one = room.gpus == 1;
    const index_t nb = one ? 512 : std::clamp<index_t>(rounded(n / 24), 128, 512);
    // Wide tiles are better on one GPU, but from and to the host their short columns travel slowly.
    const bool squares =
        one ? from_host && n >= 4096 : n >= 2048 && (from_host || n < for_groups || n >= for_several_gpus);
    if (fits && !squares) return {nb, std::max(n, nb)};
    const index_t suitable = std::clamp<index_t>(rounded(n / 8), 128, std::clamp<index_t>(rounded(n / 16), 1024, 2048));
    const double most = std::sqrt(room.bytes / (tiles * (complex ? sizeof(std::complex<double>) : sizeof(double))));
    const index_t square = most < static_cast<double>(suitable) ? rounded(static_cast<index_t>(most)) : suitable;
    return {std::max(square, least), std::max(square, least)};
  }
  const index_t nb = std::clamp<index_t>(rounded(n / 8), 32, 256);
  return {nb, nb};
}

}  // namespace

TileShape cholesky_tile(const WorkerCounts& workers, index_t n, bool from_host) {
  return tile_for(GpuRoom(workers.gpus, std::numeric_limits<double>::infinity()), n, from_host, false);
}

TileShape cholesky_tile(const Runtime& runtime, index_t n, bool from_host, bool complex) {
  if (const auto tuned = tuned_tile("cholesky", runtime, {n, n}); tuned && from_host && !complex) return *tuned;
  return tile_for(GpuRoom(runtime), n, from_host, complex);
}

Priority cholesky_place(const WorkerCounts& workers, index_t n, TileShape tile, index_t i, index_t j) {
  return place_of(workers.gpus, ceil_div(n, tile.mb) == ceil_div(n, tile.nb), i, j);
}

MemoryPlan plan_cholesky(const WorkerCounts& workers, index_t n, std::size_t element, TileShape tile) {
  MemoryPlan plan({"factor"}, workers.gpus, element);
  plan.hold({.shape = {n, n}});
  if (workers.gpus == 0 || n == 0) return plan;
  const index_t mb = std::min(tile.mb, n), nb = std::min(tile.nb, n);
  const auto down = static_cast<double>(ceil_div(n, mb)), across = static_cast<double>(ceil_div(n, nb));
  const bool square = mb == nb;
  plan.hold_on_each({.shape = {mb, nb}, .at_once = down * (square ? (across + 1) / 2 : across) / workers.gpus});
  plan.hold_on_each({.shape = {mb, n}, .at_once = square ? 1.0 : 3.0});  // inverses; diagonal blocks and those above
  plan.hold_on_each({.shape = {inverted_block, nb}, .at_once = 2});
  if (square && tiles_by_residues(workers, n, mb))
    plan.hold_on_each(
        {.shape = {mb, n},
         .at_once = static_cast<double>(steps_at_once * moduli_for(element)) / static_cast<double>(element)});
  if (across == 1) plan_groups(plan, cholesky_groups(workers, n, mb, element), n, mb, element, 1, moduli_for(element));
  plan.task(3 * static_cast<double>(mb) * static_cast<double>(nb));
  return plan;
}

/// The decisions before the loop: tiles of the diagonal blocks, placement and priority of each task, copies of the
/// diagonal blocks and of the blocks above them (wide tiles only), inverses (GPUs only), and the steps that update by
/// residues together. Its functions insert the tasks.
///
/// Wide tiles: a diagonal block is factored in a copy that contains the updates by all rows but the last one, whose
/// part it subtracts itself. So the chain of these tasks runs while the rows of earlier steps are solved and updated.
template <class T>
struct CholeskyFactorization<T>::Plan {
  /// The diagonal block of tile row k: its tile column, its first column within that tile, and its order.
  struct Block {
    index_t tile, column, order;
  };

  TileMatrix<T> r;
  TileMatrix<double> minor;
  std::optional<TileMatrix<T>> diagonals, aboves, inverses;
  std::vector<ColumnBlock> blocks;  ///< of tile rows
  StepGroups groups;
  /// Residues of a group's rows, or of the tiles of several steps; none of complex numbers.
  std::vector<ResidueTiles<real_t<T>>> residues;
  int gpus;
  bool alone;  ///< wide tiles of all columns on a single GPU, whose updates are lists

  Plan(Graph& g, const TileMatrix<T>& A)
      : r(A), minor(g.runtime(), 1, 1, {1, 1}, "minor"), gpus(g.runtime().gpus()), alone(false) {
    const index_t n = A.n(), nb = A.tile_shape().mb;
    require(A.m() == n && (A.nt() <= 1 || A.tile_shape().nb % nb == 0), "cholesky", "A", A, " in tiles of ",
            A.tile_shape(), "; it must be square, in tiles that are square, or wider by a whole number of heights");
    require_blas_sizes("cholesky", "A", A);
    const auto column = [&](const char* name) {
      return TileMatrix<T>(g.runtime(), n, std::min(nb, n), TileShape{nb, nb}, name);
    };
    if (!square()) {
      diagonals = column("D");
      aboves = TileMatrix<T>(g.runtime(), std::min(nb, n), n, TileShape{nb, nb}, "above");
    }
    alone = !square() && A.nt() == 1 && gpus == 1 && g.runtime().ranks() == 1;
    if ((gpus > 0 || !square()) && n > 0) inverses = column("V");
    g.insert<Laset<double>>(on_gpu, {0.0}, minor(0, 0));
    const bool may_group = !is_complex<T> && gpus > 0 && g.runtime().ranks() == 1;
    if (A.nt() == 1 && may_group) groups = cholesky_groups(g.runtime(), n, nb, sizeof(T));
    groups.steps = A.mt();
    blocks = blocks_of_rows(g.runtime());
    if constexpr (!is_complex<T>) {
      if (groups.length > 0)
        residues.emplace_back(g.runtime(), groups.length * nb, n - groups.length * nb, moduli_for(sizeof(T)));
      if (square() && blocks.size() == 1 && may_group && tiles_by_residues(g.runtime(), n, nb))
        for (index_t t = 0; t < steps_at_once * A.nt(); ++t)
          residues.emplace_back(g.runtime(), nb, std::min(nb, n - t % A.nt() * nb), moduli_for(sizeof(T)));
    }
  }

  bool square() const { return r.nt() == r.mt(); }
  /// Returns one block for wide tiles, whose steps overlap.
  std::vector<ColumnBlock> blocks_of_rows(const Runtime& runtime) const {
    const index_t nb = r.tile_shape().mb;
    if (!square() || r.mt() == 0 || lives_on_gpu(r(0, 0))) return {{0, r.mt()}};
    const auto bytes = [&](index_t i) {
      return static_cast<double>(sizeof(T)) * static_cast<double>(nb) * static_cast<double>(r.n() - i * nb);
    };
    return column_blocks(GpuRoom(runtime), r.mt(), bytes, bytes(0));
  }
  Block block(index_t k) const {
    const auto [nb, width] = r.tile_shape();
    const index_t first = k * nb;
    return {first / width, first % width, std::min(nb, r.n() - first)};
  }
  /// Returns the first tile column of step k: the one with the diagonal block.
  index_t begin(index_t k) const { return block(k).tile; }
  Tile<T> diagonal(index_t k) const { return diagonals ? (*diagonals)(k, 0) : r(k, k); }
  Tile<T> inverse(index_t k) const { return inverses ? (*inverses)(k, 0) : diagonal(k); }

  Priority at(index_t i, index_t j, int value = 0) const { return place_of(gpus, square(), i, j, value); }
  /// Returns the place of tasks on row i. On a single GPU, the chain of diagonal blocks has its first stream.
  Priority in_row(index_t i, int value, bool chain = false) const {
    Priority priority = at(i, i, value);
    if (alone) priority.stream = chain ? GpuStream::first : GpuStream::others;
    return priority;
  }

  /// Inserts the copy of A(i, k) to a tile with this block alone.
  void copy(Graph& g, index_t i, index_t k, const Tile<T>& to) const {
    g.insert<CopyBlock<T, Out>>(in_row(i, highest_priority),
                                {.a_column = block(k).column, .rows = block(i).order, .columns = block(k).order},
                                r(i, block(k).tile), to);
  }
  /// Inserts the copies of A(k, k + 1) and A(k + 1, k + 1).
  void copy_next(Graph& g, index_t k) const {
    copy(g, k, k + 1, (*aboves)(0, k + 1));
    copy(g, k + 1, k + 1, diagonal(k + 1));
  }

  /// Inserts R(k, k) and its inverses.
  void factor(Graph& g, index_t k) const {
    const index_t nb = r.tile_shape().mb;
    const bool first = k == 0 || groups.starts(k);
    const Priority chain = in_row(k, highest_priority, true);
    if (diagonals && !first) {
      g.insert<CholeskyDiagonal<T>>(chain, {k * nb}, diagonal(k - 1), inverse(k - 1), (*aboves)(0, k), diagonal(k),
                                    inverse(k), minor(0, 0), g.scratch<T>(nb, block(k).order),
                                    g.scratch<T>(inverted_block, block(k).order, 1));
      return;
    }
    if (diagonals) copy(g, k, k, diagonal(k));
    if (diagonals && k + 1 < groups.end(k)) copy_next(g, k);
    g.insert<Potrf<T>>(chain, {k * nb}, diagonal(k), minor(0, 0));
    if (inverses) g.insert<InvertBlocks<T>>(chain, {}, diagonal(k), inverse(k));
  }

  /// Returns whether square tiles are updated by residues.
  bool by_residues() const { return square() && !residues.empty(); }
  /// Returns the residues of tile (k, j).
  const ResidueTiles<real_t<T>>& residues_of(index_t k, index_t j) const {
    return residues[static_cast<std::size_t>(k % steps_at_once * r.nt() + j)];
  }

  /// Inserts R(k, j) = R(k, k)^-T A(k, j), right of the diagonal block, and its residues.
  void solve(Graph& g, index_t k, index_t j) const {
    const Block d = block(k);
    const index_t column = j == d.tile ? d.column + d.order : 0;
    if (column >= r(k, j).cols()) return;
    const Priority where = diagonals ? in_row(k, highest_priority - 1) : at(k, j, highest_priority);
    solve(g, where, adjoint<T>, k, r(k, j), column);
    if constexpr (!is_complex<T>)
      if (by_residues()) residues_of(k, j).convert(g, where, {.op = Op::transpose}, {r(k, j)});
  }
  /// Inserts x = op(R(k, k))^-1 x for the columns of one tile from `column` on.
  void solve(Graph& g, const Priority& where, Op op, index_t k, const Tile<T>& x, index_t column = 0) const {
    if (inverses)
      g.insert<BlockTrsm<T>>(where, {op, column}, diagonal(k), inverse(k), x,
                             g.scratch<T>(inverted_block, std::max<index_t>(x.cols(), 1)));
    else
      g.insert<Trsm<T>>(where, {op, column}, diagonal(k), x);
  }

  /// Inserts A(i, j) -= R(k, i)^T R(k, j) on and above the diagonal. `begin`: first row of i's block.
  void update(Graph& g, index_t i, index_t j, index_t k, index_t begin) const {
    const Block to = block(i);
    const bool first = j == to.tile;
    index_t column = first ? to.column : 0;
    if (diagonals && first && i == k + 1) column += to.order;  // factor() updates the copy of the next diagonal block
    if (column >= r(i, j).cols()) return;
    const Priority where = at(i, j, update_priority(i, k, r.mt(), begin));
    if constexpr (!is_complex<T>)
      if (by_residues())
        return subtract_products<T>(
            g, where, {.inner = r(k, j).rows(), .a_lines = to.order, .b_lines = r(i, j).cols(), .symmetric = first},
            residues_of(k, i), residues_of(k, j), {r(i, j)});
    g.insert<RowUpdate<T>>(where, {adjoint<T>, to.column, column, square() && first}, r(k, to.tile), r(k, j), r(i, j));
  }
  /// Inserts the updates of rows k + 1 to end - 1 by row k. With wide tiles, also the copies for R(k + 2, k + 2)
  /// between the update of its row and of later rows.
  void update_rows(Graph& g, index_t k, index_t end, index_t begin) const {
    const bool ahead = diagonals && k + 2 < end;
    index_t next = k + 1;
    if (alone && ahead) {
      g.insert<CholeskyAhead<T>>(in_row(k, highest_priority - 1), {block(k + 1).column, block(k + 1).order}, r(k, 0),
                                 (*aboves)(0, k + 2), diagonal(k + 2), std::vector{r(k + 1, 0), r(k + 2, 0)});
      next = k + 3;
    }
    if (alone)
      return for_each_list<T>(
          next, end, [&](index_t i) { return r(i, 0); },
          [&](index_t i, const std::vector<Tile<T>>& rows) {
            g.insert<RowUpdateList<T>>(in_row(k, update_priority(i, k, r.mt(), begin)),
                                       {block(i).column, i == k + 1 ? block(i).order : 0}, r(k, 0), rows);
          });
    for (index_t i = next; i < end; ++i) {
      for (index_t j = block(i).tile; j < r.nt(); ++j) update(g, i, j, k, begin);
      if (ahead && i == k + 2) copy_next(g, k + 1);
    }
  }

  /// Inserts A(i, j) -= R(K, i)^T R(K, j) for all rows i from k on and the rows K of the group that ends before k.
  void update_by_residues(Graph& g, index_t k) const requires(!is_complex<T>) {
    const index_t nb = r.tile_shape().mb, first = k * nb, lines = r.n() - first;
    const auto row = [&](index_t i) { return r(i, 0); };
    const ResidueTiles<T>& of_rows = residues.front();
    for_each_list<T>(k - groups.length, k, row, [&](index_t, const std::vector<Tile<T>>& rows) {
      of_rows.convert(g, at(k, 0, highest_priority), {.op = Op::transpose, .column = first}, rows);
    });
    for_each_list<T>(k, r.mt(), row, [&](index_t i, const std::vector<Tile<T>>& rows) {
      const index_t line = i * nb - first;
      subtract_products<T>(g, at(k, 0, highest_priority),
                           {groups.length * nb, lines, lines, line, line, 0, i * nb, true}, of_rows, of_rows, rows);
    });
  }

  /// Inserts the copy of R(k, k) into A's wide tile.
  void store(Graph& g, index_t k) const {
    const Block d = block(k);
    if (diagonals)
      g.insert<CopyBlock<T>>(in_row(k, 0), {.b_column = d.column, .rows = d.order, .columns = d.order}, diagonal(k),
                             r(k, d.tile));
  }

  /// Inserts y -= op(R(k, i)) x for tiles of column j.
  void subtract(Graph& g, Op op, index_t k, index_t i, index_t j, const Tile<T>& x, const Tile<T>& y) const {
    g.insert<RowUpdate<T>>(on_column(j), {op, block(i).column}, r(k, block(i).tile), x, y);
  }
};

template <class T>
CholeskyFactorization<T>::CholeskyFactorization(Graph& g, const TileMatrix<T>& A)
    : plan_(std::make_shared<const Plan>(g, A)) {
  const Plan& plan = *plan_;
  const index_t mt = A.mt(), nt = A.nt();
  for (const auto [begin, end] : plan.blocks) {
    for (index_t k = 0; k < begin; ++k)
      for (index_t i = begin; i < end; ++i)
        for (index_t j = plan.begin(i); j < nt; ++j) plan.update(g, i, j, k, begin);
    if (begin > 0) wait_for_writes(A(begin, begin));
    for (index_t k = begin; k < end; ++k) {
      plan.factor(g, k);
      for (index_t j = plan.begin(k); j < nt; ++j) plan.solve(g, k, j);
      plan.update_rows(g, k, std::min(end, plan.groups.end(k)), begin);
      plan.store(g, k);
      if constexpr (!is_complex<T>)
        if (plan.groups.ends(k)) plan.update_by_residues(g, k + 1);
      for (index_t j = k; j < nt && end < mt; ++j) g.bring_home(A(k, j));
    }
  }
}

template <class T>
index_t CholeskyFactorization<T>::minor() const {
  return static_cast<index_t>(plan_->minor(0, 0).read()(0, 0));
}

template <class T>
const TileMatrix<T>& CholeskyFactorization<T>::r() const {
  return plan_->r;
}

template <class T>
void CholeskyFactorization<T>::solve_diagonal(Graph& g, const Priority& where, Op op, index_t k,
                                              const Tile<T>& x) const {
  plan_->solve(g, where, op, k, x);
}

template <class T>
void CholeskyFactorization<T>::solve(Graph& g, const TileMatrix<T>& X) const {
  const char* const routine = "CholeskyFactorization::solve";
  const Plan& plan = *plan_;
  const TileMatrix<T>& R = plan.r;
  require(X.m() == R.n() && (X.mt() <= 1 || X.tile_shape().mb == R.tile_shape().mb), routine, "X", X, "; it must have ",
          R.n(), " rows, in tiles as high as A's, ", R.tile_shape().mb);
  require(!X.shares_tiles(R), routine, "X", "shares tiles with A");
  require_blas_sizes(routine, "X", X);
  const index_t mt = R.mt();
  for (index_t j = 0; j < X.nt(); ++j) {
    for (index_t k = 0; k < mt; ++k) {
      plan.solve(g, on_column(j), adjoint<T>, k, X(k, j));
      for (index_t i = k + 1; i < mt; ++i) plan.subtract(g, adjoint<T>, k, i, j, X(k, j), X(i, j));
    }
    for (index_t k = mt; k-- > 0;) {
      for (index_t i = k + 1; i < mt; ++i) plan.subtract(g, Op::none, k, i, j, X(i, j), X(k, j));
      plan.solve(g, on_column(j), Op::none, k, X(k, j));
    }
  }
  report_not_finite(g, X);
}

template <class T>
CholeskyFactorization<T> cholesky(Graph& g, const TileMatrix<T>& A) {
  return CholeskyFactorization<T>(g, A);
}

TESELA_FUNCTIONS_FOR_NUMBERS(cholesky)
TESELA_CLASSES_FOR_NUMBERS(CholeskyFactorization)

}  // namespace tesela
