#include <tesela/algorithms/eigen/internal/merge.hpp>
#include <tesela/codelets/eigen/merge.hpp>
#include <tesela/codelets/eigen/secular.hpp>

#include <algorithm>
#include <numeric>

namespace tesela::detail {
namespace {

using kernels::MergeColumns;
using kernels::MergeProduct;
using kernels::SecularRoots;
using kernels::SecularRows;
using kernels::SecularVectors;
using kernels::SecularWeights;

template <class T>
std::vector<T> numbers_of(const Tile<T>& tile) {
  const auto column = tile.read();
  return {column.data, column.data + column.rows};
}

template <class T>
std::vector<Tile<T>> tiles_of(const std::vector<TileMatrix<T>>& matrices) {
  std::vector<Tile<T>> tiles;
  for (const TileMatrix<T>& matrix : matrices) tiles.push_back(matrix(0, 0));
  return tiles;
}

}  // namespace

template <class T>
Merge<T>::Merge(Graph& g, const MergeShape& shape, EigenColumns<T> upper, const Tile<T>& upper_row,
                EigenColumns<T> lower, const Tile<T>& lower_row, T e)
    : g_(g), shape_(shape) {
  result_.begin = upper.begin;
  result_.n = upper.n + lower.n;
  deflation_ = deflate<T>({std::move(upper.values), std::move(upper.order), numbers_of(upper_row)},
                          {std::move(lower.values), std::move(lower.order), numbers_of(lower_row)}, e);
  if (k() > 0) insert_roots();
  gather(upper, true);
  gather(lower, false);
}

template <class T>
void Merge<T>::insert_roots() {
  std::vector<T> poles = deflation_.poles;
  poles.insert(poles.end(), deflation_.z.begin(), deflation_.z.end());
  poles_ = one_tile(g_.runtime(), k(), poles, "poles");
  for (index_t first = 0; first < k(); first += shape_.batch) {
    roots_.push_back(one_tile<T>(g_.runtime(), std::min(shape_.batch, k() - first), 3, "roots"));
    g_.insert<SecularRoots<T>>(place_of_value(first), {deflation_.rho, first}, (*poles_)(0, 0), roots_.back()(0, 0));
    shape_.bring_home(g_, roots_.back()(0, 0));
  }
  const std::vector<Tile<T>> all = tiles_of(roots_);
  for (index_t first = 0; first < k(); first += shape_.batch) {
    weights_.push_back(one_tile<T>(g_.runtime(), std::min(shape_.batch, k() - first), 1, "weights"));
    g_.insert<SecularWeights<T>>(place_of_value(first), {first}, (*poles_)(0, 0), weights_.back()(0, 0), work(), all);
  }
}

template <class T>
void Merge<T>::gather(EigenColumns<T>& half, bool upper) {
  const ColumnPlan<T>& columns = upper ? deflation_.top : deflation_.bottom;
  const index_t kept = upper ? deflation_.upper : deflation_.lower,
                rotations = static_cast<index_t>(columns.pairs.size()) / 2;
  std::vector<index_t> plan = columns.sources;
  plan.insert(plan.end(), columns.pairs.begin(), columns.pairs.end());
  const auto plan_tile = one_tile(g_.runtime(), static_cast<index_t>(plan.size()), plan, "plan");
  std::vector<T> cosines_then_sines(columns.cosines_and_sines.size());
  for (std::size_t i = 0; i < cosines_then_sines.size(); ++i)
    cosines_then_sines[i / 2 + (i % 2) * static_cast<std::size_t>(rotations)] = columns.cosines_and_sines[i];
  if (rotations == 0) cosines_then_sines = {1, 0};
  const auto rotation_tile = one_tile(g_.runtime(), std::max<index_t>(rotations, 1), cosines_then_sines, "rotations");

  index_t row = half.begin;
  for (std::size_t b = 0; b < half.blocks.size();) {
    Half part{};
    part.upper = upper;
    part.begin = row;
    do {  // as many source blocks as fit into one block of the result
      part.block.rows += half.blocks[b].rows;
      half.blocks[b++].append_to(part.sources);
      ++part.blocks;
    } while (b < half.blocks.size() && part.block.rows + half.blocks[b].rows <= shape_.rows);
    row += part.block.rows;
    part.kept = one_tile<T>(g_.runtime(), part.block.rows, kept, "kept");
    const auto stand = one_tile<T>(g_.runtime(), part.block.rows, deflated(), "deflated");
    g_.insert<MergeColumns<T>>(shape_.place(part.begin), {part.blocks, kept, deflated(), rotations}, plan_tile(0, 0),
                               rotation_tile(0, 0), (*part.kept)(0, 0), stand(0, 0), part.sources);
    part.sources.clear();
    if (deflated() > 0) part.stand = stand;
    halves_.push_back(std::move(part));
  }
  half.blocks.clear();
}

template <class T>
void Merge<T>::make_vectors(index_t begin, index_t end) {
  const auto order = one_tile(g_.runtime(), k(), deflation_.order, "order");
  const std::vector<Tile<T>> weights = tiles_of(weights_);
  const Products products = products_of_vectors();
  const index_t alone_above = k() - deflation_.lower;  // poles without rows in the lower half
  result_.column.assign(static_cast<std::size_t>(result_.n), -1);
  std::iota(result_.column.begin() + begin, result_.column.begin() + end, index_t{0});
  std::iota(result_.column.begin() + k(), result_.column.end(), end - begin);
  std::vector<TileMatrix<T>> vectors;  // used in turn: all together would be k x k numbers
  std::size_t turn = 0;
  for (std::size_t b = 0; b < roots_.size(); ++b) {
    const index_t first = static_cast<index_t>(b) * shape_.batch, from = std::max(begin, first),
                  to = std::min({end, first + shape_.batch, k()});
    if (from >= to) continue;
    if (static_cast<index_t>(vectors.size()) < shape_.depth)
      vectors.push_back(one_tile<T>(g_.runtime(), k(), std::min(shape_.batch, end - from), "S"));
    const Tile<T> S = vectors[turn++ % static_cast<std::size_t>(shape_.depth)](0, 0);
    g_.insert<SecularVectors<T>>(place_of_value(first), {from - first, to - from}, (*poles_)(0, 0), order(0, 0),
                                 roots_[b](0, 0), S, work(), weights);
    for (Half& half : halves_) {
      const index_t skip = half.upper ? 0 : alone_above, inner = half.upper ? deflation_.upper : deflation_.lower;
      half.block.tiles.push_back(one_tile<T>(g_.runtime(), half.block.rows, to - from, "X"));
      g_.insert<MergeProduct<T>>(shape_.place(half.begin), {skip, inner, products.kernel}, (*half.kept)(0, 0), S,
                                 half.block.tiles.back()(0, 0), products.work);
    }
  }
  finish_blocks();
}

template <class T>
Products Merge<T>::products_of_vectors() const {
  if (shape_.gpus == 0) return {GemmKernel::cublas, g_.scratch<double>(1, 1)};
  index_t rows = 0;
  for (const Half& half : halves_) rows = std::max(rows, half.block.rows);
  return products<T>(g_, rows, std::min(shape_.batch, k()), std::max(deflation_.upper, deflation_.lower));
}

template <class T>
void Merge<T>::make_rows() {
  const auto order = one_tile(g_.runtime(), k(), deflation_.order, "order");
  const std::vector<Tile<T>> weights = tiles_of(weights_);
  Half &upper = halves_.front(), &lower = halves_.back();
  for (const TileMatrix<T>& batch : roots_) {
    for (Half* half : {&upper, &lower}) half->block.tiles.push_back(one_tile<T>(g_.runtime(), 1, batch.m(), "row"));
    g_.insert<SecularRows<T>>(shape_.place(result_.begin), {deflation_.upper, deflation_.lower}, (*poles_)(0, 0),
                              order(0, 0), batch(0, 0), (*upper.kept)(0, 0), (*lower.kept)(0, 0),
                              upper.block.tiles.back()(0, 0), lower.block.tiles.back()(0, 0), work(), weights);
  }
  finish_blocks();
}

template <class T>
void Merge<T>::finish_blocks() {
  for (Half& half : halves_) {
    if (half.stand) half.block.tiles.push_back(*half.stand);
    result_.blocks.push_back(std::move(half.block));
  }
  halves_.clear();
  weights_.clear();
}

template <class T>
void Merge<T>::read_values() {
  for (const TileMatrix<T>& batch : roots_) {
    const auto root = batch(0, 0).read();
    for (index_t j = 0; j < root.rows; ++j) {
      result_.values.push_back(root(j, 0) + root(j, 1));
      iterations_ = std::max(iterations_, static_cast<index_t>(root(j, 2)));
    }
  }
  result_.values.insert(result_.values.end(), deflation_.deflated.begin(), deflation_.deflated.end());
  result_.order = ascending_order(result_.values);
}

template class Merge<float>;
template class Merge<double>;

}  // namespace tesela::detail
