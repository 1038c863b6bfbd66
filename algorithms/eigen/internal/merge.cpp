#include <tesela/algorithms/eigen/internal/merge.hpp>
#include <tesela/codelets/eigen/tridiagonal/secular.hpp>

#include <algorithm>
#include <numeric>

namespace tesela::detail {
namespace {

using kernels::SecularRoots;
using kernels::SecularRows;
using kernels::SecularVectors;
using kernels::SecularWeights;

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
  columns_.gather(g_, shape_, deflation_, deflation_.top, upper.begin, std::move(upper.blocks));
  columns_.gather(g_, shape_, deflation_, deflation_.bottom, lower.begin, std::move(lower.blocks));
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
void Merge<T>::make_vectors(index_t begin, index_t end) {
  const auto order = one_tile(g_.runtime(), k(), deflation_.order, "order");
  const std::vector<Tile<T>> weights = tiles_of(weights_);
  const Products products = products_of_vectors();
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
    columns_.multiply(g_, shape_, deflation_, S, to - from, products);
  }
  result_.blocks = columns_.finish();
  weights_.clear();
}

template <class T>
Products Merge<T>::products_of_vectors() const {
  if (shape_.gpus == 0) return {GemmKernel::cublas, g_.scratch<double>(1, 1)};
  return products<T>(g_, columns_.rows(), std::min(shape_.batch, k()), std::max(deflation_.upper, deflation_.lower));
}

template <class T>
void Merge<T>::make_rows() {
  const auto order = one_tile(g_.runtime(), k(), deflation_.order, "order");
  const std::vector<Tile<T>> weights = tiles_of(weights_);
  auto &upper = columns_.top(), &lower = columns_.bottom();
  for (const TileMatrix<T>& batch : roots_) {
    for (auto* half : {&upper, &lower}) half->result.tiles.push_back(one_tile<T>(g_.runtime(), 1, batch.m(), "row"));
    g_.insert<SecularRows<T>>(shape_.place(result_.begin), {deflation_.upper, deflation_.lower}, (*poles_)(0, 0),
                              order(0, 0), batch(0, 0), upper.kept(0, 0), lower.kept(0, 0),
                              upper.result.tiles.back()(0, 0), lower.result.tiles.back()(0, 0), work(), weights);
  }
  result_.blocks = columns_.finish();
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

TESELA_CLASSES_FOR_REALS(Merge)

}  // namespace tesela::detail
