#include <tesela/algorithms/dense/internal/step_groups.hpp>
#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/algorithms/support/internal/column_blocks.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/algorithms/support/tuned_tile.hpp>
#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/lu_lists.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace tesela {

using namespace kernels;
namespace {

/// Columns that a task updates on a single GPU: a task costs its driver's thread about 40 us, as long as the update of
/// 512 columns of 8192 rows by 256 others. All columns at once would have to wait for the last one from the host.
constexpr index_t updated_at_once = 1024;

constexpr std::array names{
    Named<Pivoting>{Pivoting::none, "none", "pivots on the diagonal"},
    Named<Pivoting>{Pivoting::tournament, "tournament", "rows of 32 columns at a time by a tournament (CALU)"},
};

/// Returns the moduli of updates: with 14 in double precision, uniform matrices have twice the backward error.
constexpr int lu_moduli(std::size_t element) { return element == sizeof(double) ? 15 : moduli_for(element); }

/// Returns groups only if TESELA_GEMM selects residues: with 15 moduli they have not been measured.
StepGroups lu_groups(const WorkerCounts& workers, index_t n, index_t nb, std::size_t element) {
  constexpr index_t never = std::numeric_limits<index_t>::max();
  return nb % 128 == 0 ? group_steps(workers, n, nb, never, element, 3, lu_moduli(element)) : StepGroups{};
}

}  // namespace

std::span<const Named<Pivoting>> pivotings() { return names; }

TileShape lu_tile(const Runtime& runtime, index_t n, bool complex) {
  if (const auto tuned = tuned_tile("lu", runtime, {n, n}); tuned && !complex) return *tuned;
  const bool gpu = runtime.gpus() > 0;
  const index_t columns = !gpu ? 16 : runtime.gpus() == 1 && runtime.ranks() == 1 ? 4 : 32;
  const index_t nb = std::clamp<index_t>(n / columns / 32 * 32, gpu ? 128 : 32, gpu ? 512 : 192);
  constexpr index_t least = 12;  // columns on a GPU
  return {std::max<index_t>(n, 1), gpu ? width_in_memory(GpuRoom(runtime), complex ? 2 * n : n, nb, least) : nb};
}

MemoryPlan plan_lu(const WorkerCounts& workers, index_t n, std::size_t element, TileShape tile) {
  MemoryPlan plan({"factor"}, workers.gpus, element);
  plan.hold({.shape = {n, n}});
  if (workers.gpus == 0 || n == 0) return plan;
  const index_t nb = std::min(tile.nb, n);
  const auto rows = static_cast<double>(n), width = static_cast<double>(nb);
  plan.hold_on_each({.shape = {n, nb}, .at_once = rows / width / workers.gpus});
  plan.hold_on_each({.shape = {nb, n}});  // inverses
  plan.hold_on_each({.shape = {inverted_block, workers.gpus == 1 ? std::max(updated_at_once, nb) : nb}, .at_once = 2});
  plan_groups(plan, lu_groups(workers, n, nb, element), n, nb, element, 3, lu_moduli(element));
  plan.task(2 * rows * width + width * width);
  return plan;
}

/// The decisions before the loop: placement and priority of each task, row exchanges, room for the inverses of L's
/// diagonal blocks, which only GPUs use, and the steps that update by residues together. Its functions insert the
/// tasks.
template <class T>
struct LuFactorization<T>::Plan {
  TileMatrix<T> a, inverses;
  TileMatrix<int> swaps;
  TileMatrix<double> zero;
  Pivoting pivoting;
  std::vector<ColumnBlock> blocks;
  StepGroups groups;
  bool alone = false;    // on a single GPU
  index_t together = 1;  // tile columns that a task updates
  /// Residues of a group's columns of L, and of its rows of U in the columns of the next group and after it; none of
  /// complex numbers.
  std::optional<ResidueTiles<real_t<T>>> l, near, far;

  Plan(Graph& g, const TileMatrix<T>& A, Pivoting pivots)
      : a(A),
        inverses(g.runtime().gpus() > 0 ? TileMatrix<T>(g.runtime(), std::min(nb(), A.n()), A.n(), {nb(), nb()}, "V")
                                        : TileMatrix<T>(g.runtime(), 1, A.nt(), {1, 1}, "V")),
        swaps(g.runtime(), A.n(), 1, {nb(), 1}, "swaps"),
        zero(g.runtime(), 1, 1, {1, 1}, "zero"),
        pivoting(pivots),
        blocks(column_blocks(g.runtime(), A, inverse_bytes())) {
    require(A.m() == A.n() && A.mt() <= 1, "lu", "A", A, " in tiles of ", A.tile_shape(),
            "; it must be square, in tiles of whole columns");
    require_blas_sizes("lu", "A", A);
    g.insert<Laset<double>>(on_gpu, {0.0}, zero(0, 0));
    if constexpr (!is_complex<T>)
      if (blocks.size() == 1 && g.runtime().ranks() == 1) groups = lu_groups(g.runtime(), A.n(), nb(), sizeof(T));
    groups.steps = A.nt();
    const bool roomy = GpuRoom(g.runtime()).template holds<T>({2 * A.m() + inverted_block, A.n() + updated_at_once});
    alone = g.runtime().gpus() == 1 && g.runtime().ranks() == 1 && blocks.size() == 1 && roomy;
    if (alone && nb() > 0) together = std::max<index_t>(updated_at_once / nb(), 1);
    if (groups.length == 0) return;
    const index_t inner = groups.length * nb(), rest = A.n() - inner;
    constexpr int moduli = lu_moduli(sizeof(T));
    l.emplace(g.runtime(), inner, rest, moduli);
    near.emplace(g.runtime(), inner, std::min(inner, rest), moduli);
    far.emplace(g.runtime(), inner, rest, moduli);
  }

  index_t nb() const { return a.tile_shape().nb; }
  std::vector<Tile<T>> columns(index_t from, index_t to) const {
    std::vector<Tile<T>> tiles;
    for (index_t j = from; j < to; ++j) tiles.push_back(a(0, j));
    return tiles;
  }
  double inverse_bytes() const { return static_cast<double>(sizeof(T)) * static_cast<double>(inverses.m() * a.n()); }

  /// Returns the place of a task on column j. On a single GPU, factorizations and the updates that they wait for have
  /// its first stream, since any other task there would delay all later steps.
  Priority place(index_t j, int value) const {
    Priority priority = on_column(j, value);
    if (alone) priority.stream = value >= highest_priority - 1 ? GpuStream::first : GpuStream::others;
    return priority;
  }
  void factor(Graph& g, index_t k) const {
    g.insert<Getrf<T>>(place(k, highest_priority), {k * nb(), pivoting}, a(0, k), inverses(0, k), swaps(k, 0),
                       zero(0, 0), g.scratch<int>(getrf_work<T>(a.n()), 1));
  }
  /// Inserts the exchanges of step k in column j, U(k, j) = L(k, k)^-1 A(k, j) and A(i, j) -= L(i, k) U(k, j). `begin`:
  /// first column of j's block.
  void update(Graph& g, index_t j, index_t k, index_t begin) const {
    g.insert<LuUpdate<T>>(place(j, update_priority(j, k, a.nt(), begin)), {k * nb(), pivoting}, a(0, k), inverses(0, k),
                          swaps(k, 0), a(0, j), g.scratch<T>(inverted_block, a(0, j).cols()));
  }
  /// Inserts the same for the columns from k + 1 to end - 1: the next one alone, since its factorization waits for it,
  /// and the others in lists.
  void update_columns(Graph& g, index_t k, index_t end, index_t begin) const {
    for (index_t j = k + 1, next = 0; j < end; j = next) {
      next = together == 1 || j == k + 1 ? j + 1 : std::min(end, (j / together + 1) * together);
      if (next == j + 1) {
        update(g, j, k, begin);
        continue;
      }
      g.insert<LuUpdateList<T>>(place(j, update_priority(j, k, a.nt(), begin)), {k * nb(), pivoting}, a(0, k),
                                inverses(0, k), swaps(k, 0), g.scratch<T>(inverted_block, together * nb()),
                                columns(j, next));
    }
  }
  /// Inserts the update of all columns from k on by the steps of the group that ends before step k: first the columns
  /// of the next group, so that its steps can begin.
  void update_by_residues(Graph& g, index_t k) const requires(!is_complex<T>) {
    const index_t first = k - groups.length, next = std::min(k + groups.length, a.nt());
    for (index_t j = first; j < k; ++j)
      for (index_t i = j + 1; i < k; ++i) exchange(g, i, a, j);
    for_each_list<T>(
        first, k, [&](index_t j) { return a(0, j); },
        [&](index_t, const std::vector<Tile<T>>& columns) {
          l->convert(g, on_column(k, highest_priority), {.row = k * nb()}, columns);
        });
    subtract_residues(g, k, k, next, *near, on_column(k, highest_priority - 1));
    subtract_residues(g, k, next, a.nt(), *far, on_column(k));
  }
  /// Inserts the same for columns from ... to - 1.
  void subtract_residues(Graph& g, index_t k, index_t from, index_t to, const ResidueTiles<T>& u,
                         const Priority& where) const requires(!is_complex<T>) {
    const index_t first = k - groups.length, row = first * nb(), below = k * nb();
    for_each_list<T>(
        from, to, [&](index_t j) { return a(0, j); },
        [&](index_t j, const std::vector<Tile<T>>& columns) {
          for (index_t i = first; i < k && pivoting != Pivoting::none; ++i)
            g.insert<LaswpList<T>>(where, {i * nb()}, swaps(i, 0), columns);
          for (index_t i = first; i < k; ++i)
            g.insert<LuUpdateList<T>>(where, {i * nb(), Pivoting::none, below}, a(0, i), inverses(0, i), swaps(i, 0),
                                      g.scratch<T>(inverted_block, nb()), columns);
          u.convert(g, where, {Op::transpose, true, row, below - row}, columns);
          const index_t end = std::min(a.n(), (j + static_cast<index_t>(columns.size())) * nb());
          subtract_products<T>(g, where, {below - row, a.n() - below, end - j * nb(), 0, 0, below}, *l, u, columns);
        });
  }
  /// Inserts the exchanges of step k in column j of X. Earlier columns come first, so that each is loaded once.
  void exchange(Graph& g, index_t k, const TileMatrix<T>& X, index_t j) const {
    const auto place = on_column(j, static_cast<int>(std::min<index_t>(X.nt() - 1 - j, 1000)));
    if (pivoting != Pivoting::none) g.insert<Laswp<T>>(place, {k * nb()}, X(0, j), swaps(k, 0));
  }
  /// Inserts the exchanges of later steps in the rows of L.
  void exchange_l(Graph& g) const {
    const bool several = blocks.size() > 1;
    if (several) wait_for_writes(swaps(a.nt() - 1, 0));
    if (alone && groups.length == 0 && pivoting != Pivoting::none) {
      for (index_t k = 1; k < a.nt(); ++k) g.insert<LaswpList<T>>(place(k, 0), {k * nb()}, swaps(k, 0), columns(0, k));
      return;
    }
    for (index_t j = 0; j < a.nt(); ++j) {
      for (index_t k = j < groups.last ? groups.end(j) : j + 1; k < a.nt(); ++k) exchange(g, k, a, j);
      if (several) g.bring_home(a(0, j));
    }
  }
  /// Inserts step k of X = U^-1 X (`upper`) or X = L^-1 X in column j.
  void substitute(Graph& g, index_t k, bool upper, const TileMatrix<T>& X, index_t j) const {
    g.insert<LuSubstitute<T>>(on_column(j), {k * nb(), upper}, a(0, k), X(0, j));
  }
};

template <class T>
LuFactorization<T>::LuFactorization(Graph& g, const TileMatrix<T>& A, Pivoting pivoting)
    : plan_(std::make_shared<const Plan>(g, A, pivoting)) {
  const Plan& plan = *plan_;
  const index_t nt = A.nt();
  for (const auto [begin, end] : plan.blocks) {
    for (index_t k = 0; k < begin; ++k)
      for (index_t j = begin; j < end; ++j) plan.update(g, j, k, begin);
    if (begin > 0) wait_for_writes(A(0, begin));
    for (index_t k = begin; k < end; ++k) {
      plan.factor(g, k);
      if (end < nt) g.bring_home(A(0, k));
      plan.update_columns(g, k, std::min(end, plan.groups.end(k)), begin);
      if constexpr (!is_complex<T>)
        if (plan.groups.ends(k)) plan.update_by_residues(g, k + 1);
    }
  }
  plan.exchange_l(g);
}

template <class T>
index_t LuFactorization<T>::zero_pivot() const {
  return static_cast<index_t>(plan_->zero(0, 0).read()(0, 0));
}

template <class T>
const TileMatrix<T>& LuFactorization<T>::factors() const {
  return plan_->a;
}

template <class T>
std::vector<index_t> LuFactorization<T>::rows() const {
  std::vector<index_t> rows(static_cast<std::size_t>(plan_->a.n()));
  std::iota(rows.begin(), rows.end(), index_t{0});
  plan_->swaps.read_each_tile([&](const auto& swaps, index_t first, index_t) {
    for (index_t i = 0; i < swaps.rows; ++i)
      std::swap(rows[static_cast<std::size_t>(first + i)], rows[static_cast<std::size_t>(swaps(i, 0))]);
  });
  return rows;
}

template <class T>
void LuFactorization<T>::solve(Graph& g, const TileMatrix<T>& X) const {
  const char* const routine = "LuFactorization::solve";
  const Plan& plan = *plan_;
  require(X.m() == plan.a.n() && X.mt() <= 1, routine, "X", X, "; it must have ", plan.a.n(),
          " rows, in tiles of whole columns");
  require(!X.shares_tiles(plan.a), routine, "X", "shares tiles with A");
  require_blas_sizes(routine, "X", X);
  const index_t nt = plan.a.nt();
  for (index_t j = 0; nt > 0 && j < X.nt(); ++j) {
    for (index_t k = 0; k < nt; ++k) plan.exchange(g, k, X, j);
    for (index_t k = 0; k < nt; ++k) plan.substitute(g, k, false, X, j);
    for (index_t k = nt; k-- > 0;) plan.substitute(g, k, true, X, j);
  }
  report_not_finite(g, X);
}

template <class T>
LuFactorization<T> lu(Graph& g, const TileMatrix<T>& A, Pivoting pivoting) {
  return LuFactorization<T>(g, A, pivoting);
}

TESELA_FUNCTIONS_FOR_NUMBERS(lu)
TESELA_CLASSES_FOR_NUMBERS(LuFactorization)

}  // namespace tesela
