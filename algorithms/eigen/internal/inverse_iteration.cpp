#include <tesela/algorithms/eigen/internal/eigen_columns.hpp>
#include <tesela/algorithms/eigen/internal/scaled_tridiagonal.hpp>
#include <tesela/algorithms/support/insert_or_run.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/eigen/tridiagonal/sturm.hpp>
#include <tesela/codelets/eigen/tridiagonal/tridiagonal_inverse.hpp>
#include <tesela/codelets/support/fill.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tesela::detail {
namespace {

using namespace kernels;

/// Rows begin … begin + n - 1 of T, between negligible off-diagonal entries, and its wanted eigenvalues.
template <class T>
struct TridiagonalBlock {
  index_t begin = 0, n = 0;
  std::vector<T> values = {};           // ascending
  std::vector<index_t> positions = {};  // in the spectrum of T
};

/// Cuts T, as divide and conquer does, where |e(i)| <= eps / 8, and sets these e(i) to zero.
template <class T>
std::vector<TridiagonalBlock<T>> cut_into_blocks(ScaledTridiagonal<T>& t) {
  std::vector<TridiagonalBlock<T>> blocks;
  for (index_t i = 0, begin = 0; i < t.n(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i + 1 < t.n() && std::abs(t.e[at]) > std::numeric_limits<T>::epsilon() / 8) continue;
    if (i + 1 < t.n()) t.e[at] = 0;
    blocks.push_back({begin, i + 1 - begin});
    begin = i + 1;
  }
  return blocks;
}

/// The same interval of several values: their first position in the spectrum, and the blocks that they belong to.
template <class T>
struct SharedBracket {
  Bracket<T> ends;
  std::vector<std::pair<T, std::size_t>> members = {};  // value and block
};

/// Assigns each value to the block that has an eigenvalue in its interval.
template <class T>
void assign(const ScaledTridiagonal<T>& t, IndexRange range, const std::vector<Bracket<T>>& brackets,
            std::vector<TridiagonalBlock<T>>& blocks) {
  if (t.zero() || t.n() == 1) {  // bisect did not count
    for (index_t p = range.begin; p < range.end; ++p) {
      TridiagonalBlock<T>& block = blocks[static_cast<std::size_t>(p)];
      block.values = {t.d[0]};
      block.positions = {p};
    }
    return;
  }
  std::vector<SharedBracket<T>> shared;
  std::vector<T> points;
  for (const Bracket<T>& one : brackets)
    if (shared.empty() || one.low != shared.back().ends.low || one.high != shared.back().ends.high) {
      shared.push_back({one});
      points.push_back(one.low);
      points.push_back(one.high);
    }
  std::vector<T> diagonal(t.d.size()), squares(t.d.size());
  sturm::prepare(t.n(), t.d.data(), t.e.data(), diagonal.data(), squares.data());
  std::vector<index_t> below(points.size()), all(points.size(), 0);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const TridiagonalBlock<T>& block = blocks[b];
    sturm::count(block.n, diagonal.data() + block.begin, squares.data() + block.begin, std::ssize(points),
                 points.data(), below.data());
    for (std::size_t p = 0; p < points.size(); ++p) all[p] += below[p];
    for (std::size_t s = 0; s < shared.size(); ++s)
      for (index_t i = below[2 * s]; i < below[2 * s + 1]; ++i) {
        const Bracket<T>& ends = shared[s].ends;
        const T value =
            block.n == 1 ? std::clamp(t.d[static_cast<std::size_t>(block.begin)], ends.low, ends.high) : ends.middle();
        shared[s].members.emplace_back(value, b);
      }
  }
  for (std::size_t s = 0; s < shared.size(); ++s) {
    auto& members = shared[s].members;
    std::sort(members.begin(), members.end());
    for (std::size_t i = 0; i < members.size(); ++i)
      if (const index_t p = all[2 * s] + static_cast<index_t>(i); p >= range.begin && p < range.end) {
        TridiagonalBlock<T>& block = blocks[members[i].second];
        block.values.push_back(members[i].first);
        block.positions.push_back(p);
      }
  }
}

/// Returns for each ascending value the first value of its cluster: neighbours closer than 1e-3 (LAPACK stein).
template <class T>
std::vector<index_t> clusters_of(const std::vector<T>& values) {
  std::vector<index_t> first(values.size(), 0);
  for (std::size_t j = 1; j < values.size(); ++j)
    first[j] = values[j] - values[j - 1] < T(1e-3) ? first[j - 1] : static_cast<index_t>(j);
  return first;
}

/// Inverse iteration for the wanted vectors of one block.
template <class T>
class BlockVectors {
 public:
  BlockVectors(Graph& g, const ScaledTridiagonal<T>& t, const TridiagonalBlock<T>& block, index_t wide)
      : g_(g), block_(block), wide_(wide), cluster_(clusters_of(block.values)) {
    const auto n = static_cast<std::size_t>(block.n);
    std::vector<T> bands(2 * n, T(0));
    std::copy_n(t.d.begin() + block.begin, n, bands.begin());
    std::copy_n(t.e.begin() + block.begin, n - 1, bands.begin() + block.n);
    t_.push_back(one_tile(g.runtime(), block.n, bands, "T"));
    for (index_t j = 0; j < columns(); j += wide) {
      const auto at = block.values.begin() + j;
      const index_t some = std::min(wide, columns() - j);
      shifts_.push_back(one_tile(g.runtime(), some, std::vector<T>(at, at + some), "shifts"));
      std::vector<index_t> first(cluster_.begin() + j, cluster_.begin() + j + some);
      first_.push_back(one_tile(g.runtime(), some, first, "clusters"));
      x_.push_back(one_tile<T>(g.runtime(), block.n, some, "X"));
      insert_or_run<Fill<T>>(g, on_core, {{Pattern::uniform}, block.begin, block.positions[0] + j}, x_.back()(0, 0));
    }
  }

  EigenColumns<T> insert() {
    constexpr int steps = 3;
    for (int step = 1; step <= steps; ++step) {
      const bool last = step == steps;
      for (std::size_t j = 0; j < x_.size(); ++j)
        insert_or_run<InverseStep<T>>(g_, on_core, {last}, t_[0](0, 0), shifts_[j](0, 0), x_[j](0, 0),
                                      g_.scratch<T>(block_.n, inverse_step_columns<T>),
                                      g_.status(block_.positions[0] + static_cast<index_t>(j) * wide_));
      for (std::size_t i = 0; i < x_.size(); ++i) {
        for (std::size_t j = 0; last && j < i; ++j) project(j, i);  // twice is enough (Kahan and Parlett)
        insert_or_run<OrthonormalizeClusters<T>>(g_, on_core, {}, first_[i](0, 0), x_[i](0, 0));
        for (std::size_t j = i + 1; j < x_.size(); ++j) project(i, j);
      }
    }
    EigenColumns<T> result;
    result.begin = block_.begin;
    result.n = block_.n;
    result.values = block_.values;
    result.column.resize(block_.values.size());
    std::iota(result.column.begin(), result.column.end(), index_t{0});
    result.blocks = {{block_.n, x_}};
    return result;
  }

 private:
  index_t columns() const { return std::ssize(block_.values); }

  /// Makes tile j orthogonal to tile i if a cluster is in both.
  void project(std::size_t i, std::size_t j) {
    const index_t end_of_i = static_cast<index_t>(i + 1) * wide_;
    if (cluster_[j * static_cast<std::size_t>(wide_)] >= end_of_i) return;
    const Tile<T> from = x_[i](0, 0), to = x_[j](0, 0);
    const auto overlap = one_tile<T>(g_.runtime(), from.cols(), to.cols(), "overlap");
    insert_or_run<Gemm<T, Out>>(g_, on_core, {.op_a = Op::transpose}, from, to, overlap(0, 0));
    insert_or_run<Gemm<T>>(g_, on_core, {.alpha = T(-1), .beta = T(1)}, from, overlap(0, 0), to);
  }

  Graph& g_;
  const TridiagonalBlock<T>& block_;
  index_t wide_;
  std::vector<index_t> cluster_;
  std::vector<TileMatrix<T>> t_, shifts_, x_;
  std::vector<TileMatrix<index_t>> first_;
};

/// The vector of a block of one row.
template <class T>
EigenColumns<T> unit_vector(Runtime& runtime, const TridiagonalBlock<T>& block) {
  return {block.begin, 1, block.values, {}, {0}, {{1, {one_tile(runtime, 1, std::vector<T>{T(1)}, "X")}}}};
}

/// Returns the columns per task: some tasks for each worker, of whole groups of lanes.
index_t columns_per_task(const WorkerCounts& workers, index_t wanted, index_t batch) {
  if (batch > 0) return batch;
  const index_t share = ceil_div(wanted, 2 * std::max<index_t>(workers.cpus, 1));
  return std::clamp<index_t>(ceil_div(share, 16) * 16, 16, 64);
}

}  // namespace

template <class T>
void bisect_and_iterate(Runtime& runtime, const ScaledTridiagonal<T>& given, IndexRange range, const TileMatrix<T>& x,
                        const TridiagonalEigOptions& options, TridiagonalEigResult<T>& result) {
  ScaledTridiagonal<T> t = given;
  std::vector<TridiagonalBlock<T>> blocks = cut_into_blocks(t);
  result.blocks = std::ssize(blocks);
  if (range.size() == 0) return;
  assign(t, range, bisect(runtime, t, range, options, result), blocks);
  Graph g(runtime, {.gpu = options.gpu});
  std::vector<EigenColumns<T>> nodes;
  std::vector<ColumnPlace> places(static_cast<std::size_t>(range.size()));
  for (const TridiagonalBlock<T>& block : blocks) {
    if (block.values.empty()) continue;
    for (std::size_t i = 0; i < block.values.size(); ++i) {
      const auto at = static_cast<std::size_t>(block.positions[i] - range.begin);
      places[at] = {nodes.size(), static_cast<index_t>(i)};
      result.values[at] = block.values[i];
    }
    const index_t wide = columns_per_task(runtime, std::ssize(block.values), options.batch);
    nodes.push_back(block.n == 1 ? unit_vector(runtime, block) : BlockVectors<T>(g, t, block, wide).insert());
  }
  place_columns(g, nodes, places, x);
  nodes.clear();
  wait_and_check_convergence(g, result);
}

TESELA_FUNCTIONS_FOR_REALS(bisect_and_iterate)

}  // namespace tesela::detail
