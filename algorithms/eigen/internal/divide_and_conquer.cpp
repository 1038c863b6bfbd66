#include <tesela/algorithms/eigen/internal/eig_plan.hpp>
#include <tesela/algorithms/eigen/internal/merge.hpp>
#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>
#include <tesela/codelets/eigen/tridiagonal/merge.hpp>
#include <tesela/codelets/eigen/tridiagonal/steqr.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace tesela::detail {
namespace {

/// Rows begin … begin + n - 1 of T: a leaf, or two halves joined by `joint`, the off-diagonal entry between them.
struct CuppenNode {
  index_t begin = 0, n = 0;
  int height = 0;  // 0 for a leaf
  std::size_t upper = 0, lower = 0;
  double joint = 0;
};

/// A tree for each block of T. In `nodes` halves precede their parent.
struct CuppenForest {
  std::vector<CuppenNode> nodes;
  std::vector<std::size_t> roots;  // in the order of T's rows
  index_t blocks = 0;
};

/// Adds the tree of n rows from `begin` on. Returns the index of its root.
template <class T>
std::size_t halve(CuppenForest& forest, std::vector<T>& d, const std::vector<T>& e, index_t begin, index_t n,
                  index_t leaf) {
  CuppenNode node{begin, n};
  if (n > leaf) {
    const index_t middle = begin + n / 2;
    const auto after = static_cast<std::size_t>(middle);
    const T joint = e[after - 1];
    d[after - 1] -= std::abs(joint);
    d[after] -= std::abs(joint);
    node.joint = static_cast<double>(joint);
    node.upper = halve(forest, d, e, begin, n / 2, leaf);
    node.lower = halve(forest, d, e, middle, n - n / 2, leaf);
    node.height = 1 + std::max(forest.nodes[node.upper].height, forest.nodes[node.lower].height);
  }
  forest.nodes.push_back(node);
  return forest.nodes.size() - 1;
}

/// Cuts T, whose largest entry has size 1, into blocks (independent_blocks). By Weyl an eigenvalue changes by at most
/// eps / 4, less than by divide and conquer itself. Longer blocks are halved down to `leaf` rows. At each cut |e(i)| is
/// subtracted from both neighbours in d; the merge adds a matrix of rank one again.
template <class T>
CuppenForest cut(std::vector<T>& d, std::vector<T>& e, index_t leaf) {
  CuppenForest forest;
  for (const IndexRange& rows : independent_blocks(static_cast<index_t>(d.size()), e, leaf, forest.blocks))
    forest.roots.push_back(halve(forest, d, e, rows.begin, rows.end - rows.begin, leaf));
  return forest;
}

using kernels::CopyRow;
using kernels::PlaceColumns;
using kernels::Stedc;
using kernels::Steqr;

constexpr index_t largest_of_ql = kernels::most_gpu_steqr;

/// Returns the order of a leaf. With GPUs one task solves a larger leaf by LAPACK's divide and conquer, because
/// inserting our tasks would take longer.
index_t leaf_of(const WorkerCounts& workers, const TridiagonalEigOptions& options) {
  const index_t wanted = options.leaf > 0 ? options.leaf : workers.gpus > 0 ? 256 : largest_of_ql;
  return workers.cpus > 0 ? wanted : std::min(wanted, largest_of_ql);
}

template <class T>
class Tree {
 public:
  Tree(Runtime& runtime, const ScaledTridiagonal<T>& t, const TridiagonalEigOptions& options, bool vectors)
      : g_(runtime, {.gpu = options.gpu}),
        d_(t.d),
        e_(t.e),
        on_cores_(suitable_shape(runtime, t.n(), false, options.rows, options.batch)),
        on_gpus_(suitable_shape(runtime, t.n(), true, options.rows, options.batch)),
        gpus_from_(gpus_from(runtime, options)),
        vectors_(vectors),
        forest_(cut(d_, e_, leaf_of(runtime, options))),
        nodes_(forest_.nodes.size()) {}

  void run(IndexRange range, const TileMatrix<T>* x, TridiagonalEigResult<T>& result) {
    for (std::size_t s = 0; s < nodes_.size(); ++s)
      if (forest_.nodes[s].height == 0) insert_leaf(s);
    int height = 0;
    for (const CuppenNode& node : forest_.nodes) height = std::max(height, node.height);
    for (int level = 1; level <= height; ++level) merge_level(level);
    finish(range, x, result);
  }

 private:
  struct Node {
    EigenColumns<T> columns;
    std::optional<TileMatrix<T>> values;        // values of a leaf
    std::optional<TileMatrix<index_t>> sweeps;  // sweeps of a leaf that is solved by QL steps
    std::optional<Merge<T>> merge;
    std::optional<TileMatrix<T>> row;  // row next to the other half of its parent
  };

  const MergeShape& shape_of(const CuppenNode& node) const {
    return node.height > 0 && node.n >= gpus_from_ ? on_gpus_ : on_cores_;
  }

  void insert_leaf(std::size_t s) {
    const CuppenNode& place = forest_.nodes[s];
    Node& node = nodes_[s];
    std::vector<T> t(2 * static_cast<std::size_t>(place.n), T(0));
    std::copy_n(d_.begin() + place.begin, place.n, t.begin());
    std::copy_n(e_.begin() + place.begin, place.n - 1, t.begin() + place.n);
    const auto tile = one_tile(g_.runtime(), place.n, t, "T");
    const auto vectors = one_tile<T>(g_.runtime(), place.n, place.n, "X");
    node.values = one_tile<T>(g_.runtime(), place.n, 1, "values");
    if (place.n > largest_of_ql && g_.runtime().cpus() > 0) {
      g_.insert<Stedc<T>>({}, tile(0, 0), (*node.values)(0, 0), vectors(0, 0), g_.status(place.begin));
    } else {
      node.sweeps = one_tile<index_t>(g_.runtime(), 1, 1, "sweeps");
      g_.insert<Steqr<T>>(on_core, {}, tile(0, 0), (*node.values)(0, 0), vectors(0, 0), (*node.sweeps)(0, 0),
                          g_.status(place.begin));
    }
    node.columns.begin = place.begin;
    node.columns.n = place.n;
    if (vectors_)
      node.columns.blocks = {{place.n, {vectors}}};
    else
      node.columns.blocks = {one_row(vectors, 0), one_row(vectors, place.n - 1)};
  }

  RowBlock<T> one_row(const TileMatrix<T>& vectors, index_t row) {
    const index_t n = vectors.n();
    std::vector<index_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), index_t{0});
    const auto map = one_tile(g_.runtime(), n, all, "map");
    const auto tile = one_tile<T>(g_.runtime(), 1, n, "row");
    g_.insert<PlaceColumns<T, Out>>(on_core, {row, 0, 1}, map(0, 0), tile(0, 0), std::vector<Tile<T>>{vectors(0, 0)});
    return {1, {tile}};
  }

  /// Inserts the task that copies the row that its parent needs.
  void insert_row_copy(std::size_t s, bool last) {
    Node& node = nodes_[s];
    const CuppenNode& place = forest_.nodes[s];
    const std::vector<RowBlock<T>>& blocks = (node.merge ? node.merge->result() : node.columns).blocks;
    const RowBlock<T>& block = last ? blocks.back() : blocks.front();
    const MergeShape& shape = shape_of(place);
    std::vector<Tile<T>> tiles;
    block.append_to(tiles);
    node.row = one_tile<T>(g_.runtime(), place.n, 1, "row");
    g_.insert<CopyRow<T>>(shape.place(last ? place.begin + place.n - 1 : place.begin, highest_priority),
                          {last ? block.rows - 1 : 0}, (*node.row)(0, 0), tiles);
    shape.bring_home(g_, (*node.row)(0, 0));
  }

  EigenColumns<T> move_columns(std::size_t s) {
    Node& node = nodes_[s];
    read_values(node);
    return std::move(node.merge ? node.merge->result() : node.columns);
  }

  void read_values(Node& node) {
    if (node.merge) return node.merge->read_values();
    {
      const auto values = (*node.values)(0, 0).read();
      node.columns.values.assign(values.data, values.data + values.rows);
    }
    node.columns.order = ascending_order(node.columns.values);
    node.columns.column.resize(node.columns.values.size());
    std::iota(node.columns.column.begin(), node.columns.column.end(), index_t{0});
  }

  void merge_level(int level) {
    for (std::size_t s = 0; s < nodes_.size(); ++s)
      if (forest_.nodes[s].height == level) {
        insert_row_copy(forest_.nodes[s].upper, true);
        insert_row_copy(forest_.nodes[s].lower, false);
      }
    for (std::size_t s = 0; s < nodes_.size(); ++s) {
      const CuppenNode& place = forest_.nodes[s];
      if (place.height != level) continue;
      EigenColumns<T> upper = move_columns(place.upper), lower = move_columns(place.lower);
      if (!vectors_) upper.blocks.resize(1), lower.blocks.erase(lower.blocks.begin());
      Merge<T>& merge =
          nodes_[s].merge.emplace(g_, shape_of(place), std::move(upper), (*nodes_[place.upper].row)(0, 0),
                                  std::move(lower), (*nodes_[place.lower].row)(0, 0), static_cast<T>(place.joint));
      if (std::find(forest_.roots.begin(), forest_.roots.end(), s) == forest_.roots.end())
        vectors_ ? merge.make_vectors(0, merge.k()) : merge.make_rows();
    }
  }

  void finish(IndexRange range, const TileMatrix<T>* x, TridiagonalEigResult<T>& result) {
    std::vector<EigenColumns<T>> found;
    for (const std::size_t s : forest_.roots) {
      read_values(nodes_[s]);
      found.push_back(nodes_[s].merge ? nodes_[s].merge->result() : nodes_[s].columns);
    }
    const std::vector<ColumnPlace> places = ascending_places(found, range.begin, range.end);
    for (const ColumnPlace& p : places)
      result.values.push_back(found[p.node].values[static_cast<std::size_t>(p.value)]);
    if (x != nullptr) make_wanted(found, places, *x);
    count(result);
    nodes_.clear();
    found.clear();
    wait_and_check_convergence(g_, result);
  }

  /// Computes the wanted vectors of each block's last merge, and inserts X from all of them.
  void make_wanted(std::vector<EigenColumns<T>>& found, const std::vector<ColumnPlace>& places,
                   const TileMatrix<T>& x) {
    for (std::size_t r = 0; r < found.size(); ++r) {
      std::optional<Merge<T>>& merge = nodes_[forest_.roots[r]].merge;
      if (!merge) continue;
      index_t begin = merge->k(), end = 0;
      for (const ColumnPlace& p : places)
        if (p.node == r && p.value < merge->k()) begin = std::min(begin, p.value), end = std::max(end, p.value + 1);
      merge->make_vectors(std::min(begin, end), end);
      found[r] = std::move(merge->result());
    }
    place_columns(g_, found, places, x, x.m() >= gpus_from_ ? on_gpus_.gpus : 0);
  }

  void count(TridiagonalEigResult<T>& result) const {
    result.blocks = forest_.blocks;
    for (const Node& node : nodes_) {
      if (node.sweeps) result.sweeps += (*(*node.sweeps)(0, 0).read().data);
      if (!node.merge) continue;
      ++result.merges;
      result.deflated += node.merge->deflated();
      result.merged += node.merge->deflated() + node.merge->k();
      result.iterations = std::max(result.iterations, node.merge->iterations());
    }
  }

  Graph g_;
  std::vector<T> d_, e_;
  MergeShape on_cores_, on_gpus_;
  index_t gpus_from_;  // smallest order of a merge on a GPU
  bool vectors_;
  CuppenForest forest_;
  std::vector<Node> nodes_;
};

}  // namespace

/// Counts as if nothing deflated. The last merge determines the memory: first its halves' vectors and the kept columns,
/// then these, its own vectors and X. On a GPU the blocks of each level, which have distinct sizes, leave their memory
/// behind. For these, 5% of each side are assumed to have deflated, less than in all measured matrices.
void plan_tridiagonal(MemoryPlan& plan, const EigShape& e) {
  const index_t n = e.n;
  if (n == 0) return;
  plan.hold({MemoryPlan::host, {n, 32}, 1, tridiagonal, tridiagonal});  // values, plans, rows
  if (!e.vectors) return;
  const double share_of_x = e.gpu() ? 1.0 / e.workers.gpus : 1,
               x = static_cast<double>(e.wanted) / static_cast<double>(n) * share_of_x;
  // If X's tiles have the shape of A's tiles, they reuse their memory.
  const index_t wide = std::clamp<index_t>(e.wanted, 1, e.x_columns);
  plan.hold_on_each({.shape = {n, wide},
                     .at_once = x * static_cast<double>(n) / static_cast<double>(wide),
                     .first = tridiagonal,
                     .last = back_transformation});
  if (tridiagonal_method(e.workers, n, e.wanted, {}, true) == TridiagonalEigMethod::bisection)
    return plan.hold({MemoryPlan::host, {n, e.wanted}, 1, tridiagonal, tridiagonal});
  const bool gpu = e.gpu() && n >= gpus_from(e.workers, {});
  const MergeShape shape = suitable_shape(e.workers, n, gpu);
  const double share = gpu ? 1.0 / e.workers.gpus : 1;
  const auto here = [&](Shape of, double at_once, double ever) {
    constexpr double undeflated = 0.95 * 0.95;
    plan.hold_on_each(
        {.shape = of, .at_once = at_once, .first = tridiagonal, .last = tridiagonal, .ever = undeflated * ever});
  };
  const auto secular = [&](index_t order) {  // batches of a merge's secular vectors
    return Shape{order, std::min(shape.depth * shape.batch, order)};
  };
  const double vectors = static_cast<double>(e.wanted) / static_cast<double>(n);  // gathered for X on each GPU
  here({n, n}, std::max(share / 2, vectors + x) - x, vectors);
  here({n, n}, share / 2, share / 2);
  here(secular(n), 1, 1);
  if (const index_t half = ceil_div(n, 2),
      work = gpu ? product_work(e.workers, half, std::min(shape.batch, n), half, plan.element()) : 0;
      work > 1)
    here({work, 1}, static_cast<double>(sizeof(double) / plan.element()), 0);
  for (index_t order = n / 2; gpu && order > leaf_of(e.workers, {}); order /= 2) {
    const double nodes = share * static_cast<double>(n) / static_cast<double>(order);
    here({order, order}, 0, 1.5 * nodes);
    here(secular(order), 0, nodes);
  }
  if (gpu) plan.hold({MemoryPlan::host, {n, leaf_of(e.workers, {})}, 1, tridiagonal, tridiagonal});
  plan.task(static_cast<double>(n) * static_cast<double>(n + e.x_columns));
}

template <class T>
void divide_and_conquer(Runtime& runtime, const ScaledTridiagonal<T>& t, IndexRange range, const TileMatrix<T>* x,
                        const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result) {
  Tree<T>(runtime, t, options, x != nullptr).run(range, x, result);
}

TESELA_FUNCTIONS_FOR_REALS(divide_and_conquer)

}  // namespace tesela::detail
