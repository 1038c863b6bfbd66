#include <tesela/algorithms/eigen/bidiagonal/bidiagonal_tree.hpp>
#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>
#include <tesela/algorithms/eigen/internal/singular_merge.hpp>
#include <tesela/codelets/eigen/bidiagonal/bidiagonal_merge.hpp>
#include <tesela/codelets/eigen/tridiagonal/merge.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace tesela::detail {
namespace {

using kernels::BidiagonalLeaf;
using kernels::BidiagonalValues;
using kernels::CopyRow;

/// Returns the exponent that scales B so that its largest element is in [1/2, 1).
int exponent_of(std::span<const double> d, std::span<const double> e) {
  double largest = 0;
  for (const std::span<const double> numbers : {d, e})
    for (const double number : numbers) largest = std::max(largest, std::abs(number));
  int exponent = 0;
  std::frexp(largest, &exponent);
  return exponent;
}

std::vector<double> scaled(std::span<const double> numbers, int exponent) {
  std::vector<double> result(numbers.begin(), numbers.end());
  for (double& number : result) number = std::ldexp(number, -exponent);
  return result;
}

class BidiagonalTree {
 public:
  BidiagonalTree(Runtime& runtime, std::span<const double> d, std::span<const double> e,
                 const BidiagonalTreeOptions& options)
      : g_(runtime),
        d_(scaled(d, exponent_of(d, e))),
        e_(scaled(e, exponent_of(d, e))),
        leaf_(options.leaf > 0       ? std::max<index_t>(options.leaf, 3)
              : std::ssize(d) < 2048 ? 128
                                     : 256),
        n_(static_cast<index_t>(d.size())),
        on_cores_(suitable_shape(runtime, n_, false, options.rows, options.batch)),
        on_gpus_(suitable_shape(runtime, n_, true, options.rows, options.batch)),
        gpus_from_(tesela::detail::gpus_from(runtime, {.gpus_from = options.gpus_from})),
        options_(options) {
    index_t blocks = 0;
    for (const IndexRange& rows : independent_blocks(n_, e_, leaf_, blocks))
      roots_.push_back(halve(rows.begin, rows.size(), 0));
  }

  BidiagonalTriples run(std::span<const double> d, std::span<const double> e, const TileMatrix<double>& u,
                        const TileMatrix<double>& v) {
    std::optional<TileMatrix<double>> values;
    if (options_.values) values = insert_values(d, e);
    int height = 0;
    for (Node& node : nodes_) {
      if (node.height == 0) insert_leaf(node);
      height = std::max(height, node.height);
    }
    for (int level = 1; level <= height; ++level) merge_level(level);
    place(u, v);
    nodes_.clear();
    BidiagonalTriples result;
    result.info = static_cast<int>(g_.wait().info);
    if (result.info == 0 && n_ > 0 && values) result.values = numbers_of((*values)(0, 0));
    return result;
  }

 private:
  struct Node {
    index_t begin = 0, n = 0, extra = 0;  // rows begin … begin + n - 1, and n + extra columns
    int height = 0;                       // 0 for a leaf
    std::size_t upper = 0, lower = 0;     // halves; one row lies between them
    SingularColumns columns = {};
    std::optional<TileMatrix<double>> values = {};  // of a leaf
    std::optional<SingularMerge> merge = {};
    std::optional<TileMatrix<double>> row = {};  // row of right vectors next to the other half of its parent
  };

  /// Adds the tree of n rows from `begin` on; halves precede their parent. Returns the index of its root.
  std::size_t halve(index_t begin, index_t n, index_t extra) {
    Node node{begin, n, extra};
    if (n > leaf_) {
      node.upper = halve(begin, n / 2, 1);
      node.lower = halve(begin + n / 2 + 1, n - n / 2 - 1, extra);
      node.height = 1 + std::max(nodes_[node.upper].height, nodes_[node.lower].height);
    }
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  TileMatrix<double> insert_values(std::span<const double> d, std::span<const double> e) {
    std::vector<double> b(d.begin(), d.end());
    b.insert(b.end(), e.begin(), e.end());
    b.resize(2 * d.size(), 0.0);
    TileMatrix<double> values = one_tile<double>(g_.runtime(), n_, 1, "values");
    if (n_ == 0) return values;
    const auto tile = one_tile(g_.runtime(), n_, b, "B");
    Priority first = on_core;
    first.value = highest_priority;
    g_.insert<BidiagonalValues>(first, {}, tile(0, 0), values(0, 0), g_.status());
    return values;
  }

  void insert_leaf(Node& node) {
    const index_t n = node.n, columns = n + node.extra;
    std::vector<double> b(2 * static_cast<std::size_t>(n), 0.0);
    std::copy_n(d_.begin() + node.begin, n, b.begin());
    std::copy_n(e_.begin() + node.begin, columns - 1, b.begin() + n);
    const auto tile = one_tile(g_.runtime(), n, b, "B"), left = one_tile<double>(g_.runtime(), columns, columns, "U"),
               right = one_tile<double>(g_.runtime(), columns, columns, "V");
    node.values = one_tile<double>(g_.runtime(), n, 1, "values");
    g_.insert<BidiagonalLeaf>(on_core, {node.extra}, tile(0, 0), (*node.values)(0, 0), left(0, 0), right(0, 0),
                              g_.status(node.begin));
    node.columns = {node.begin, n, node.extra, {}, {}, {{columns, {left}}}, {{columns, {right}}}};
  }

  const MergeShape& shape_of(const Node& node) const {
    return node.height > 0 && node.n >= gpus_from_ ? on_gpus_ : on_cores_;
  }
  SingularColumns& result_of(Node& node) { return node.merge ? node.merge->result() : node.columns; }

  /// Inserts the task that copies the row that its parent needs.
  void insert_row_copy(Node& node, bool last) {
    const std::vector<RowBlock<double>>& blocks = result_of(node).right;
    const RowBlock<double>& block = last ? blocks.back() : blocks.front();
    std::vector<Tile<double>> tiles;
    block.append_to(tiles);
    node.row = one_tile<double>(g_.runtime(), node.n + node.extra, 1, "row");
    const MergeShape& shape = shape_of(node);
    g_.insert<CopyRow<double>>(shape.place(node.begin, highest_priority), {last ? block.rows - 1 : 0},
                               (*node.row)(0, 0), tiles);
    shape.bring_home(g_, (*node.row)(0, 0));
  }

  void read_values(Node& node) {
    if (node.merge) return node.merge->read_values();
    node.columns.values = numbers_of((*node.values)(0, 0));
    node.columns.order = ascending_order(node.columns.values);
  }

  void merge_level(int level) {
    for (Node& node : nodes_)
      if (node.height == level) {
        insert_row_copy(nodes_[node.upper], true);
        insert_row_copy(nodes_[node.lower], false);
      }
    for (Node& node : nodes_) {
      if (node.height != level) continue;
      Node &upper = nodes_[node.upper], &lower = nodes_[node.lower];
      read_values(upper);
      read_values(lower);
      const auto middle = static_cast<std::size_t>(lower.begin - 1);
      node.merge.emplace(g_, shape_of(node), std::move(result_of(upper)), (*upper.row)(0, 0),
                         std::move(result_of(lower)), (*lower.row)(0, 0), d_[middle], e_[middle]);
      node.merge->make_vectors();
    }
  }

  /// Inserts the copies of the first columns into U and V.
  void place(const TileMatrix<double>& u, const TileMatrix<double>& v) {
    std::vector<EigenColumns<double>> left, right;
    for (const std::size_t root : roots_) {
      read_values(nodes_[root]);
      SingularColumns& found = result_of(nodes_[root]);
      std::vector<index_t> column(found.values.size());
      std::iota(column.begin(), column.end(), index_t{0});
      left.push_back({found.begin, found.n, found.values, found.order, column, std::move(found.left)});
      right.push_back({found.begin, found.n, std::move(found.values), std::move(found.order), std::move(column),
                       std::move(found.right)});
    }
    const index_t end = n_ - options_.first, gpus = n_ >= gpus_from_ ? on_gpus_.gpus : 0;
    std::vector<ColumnPlace> places = ascending_places(right, end - u.n(), end);
    std::reverse(places.begin(), places.end());
    place_columns(g_, left, places, u, gpus);
    place_columns(g_, right, places, v, gpus);
  }

  Graph g_;
  std::vector<double> d_, e_;
  index_t leaf_;
  index_t n_;
  MergeShape on_cores_, on_gpus_;
  index_t gpus_from_;  // smallest order of a merge on a GPU
  BidiagonalTreeOptions options_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> roots_;  // of a tree for each block of B
};

}  // namespace

BidiagonalTriples bidiagonal_tree(Runtime& runtime, std::span<const double> d, std::span<const double> e,
                                  const TileMatrix<double>& u, const TileMatrix<double>& v,
                                  const BidiagonalTreeOptions& options) {
  return BidiagonalTree(runtime, d, e, options).run(d, e, u, v);
}

}  // namespace tesela::detail
