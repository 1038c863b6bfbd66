#include <tesela/algorithms/eigen/internal/singular_merge.hpp>
#include <tesela/codelets/eigen/bidiagonal/bidiagonal_merge.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::detail {
namespace {

using kernels::SingularRoots;
using kernels::SingularVectorPairs;
using kernels::SingularWeights;

/// The first entry of z, and with an extra column the rotation of the halves' null vectors: the first of the two
/// becomes the right vector of the pole 0, the second the null vector of the merged matrix.
struct NullVectors {
  double z, c = 1, s = 0;

  NullVectors(double upper, double lower, bool extra, double tolerance) : z(extra ? std::hypot(upper, lower) : upper) {
    if (std::abs(z) <= tolerance)
      z = tolerance;
    else if (extra)
      c = upper / z, s = lower / z;
  }
  /// Returns a half's plan for its right vectors, from the plan of its left vectors. It ends with the null vector.
  ColumnPlan<double> rotated(ColumnPlan<double> plan, index_t pole) const {
    plan.pairs.insert(plan.pairs.begin(), {pole, static_cast<index_t>(plan.sources.size()) - 1});
    plan.cosines_and_sines.insert(plan.cosines_and_sines.begin(), {c, s});
    return plan;
  }
};

}  // namespace

SingularMerge::SingularMerge(Graph& g, const MergeShape& shape, SingularColumns upper, const Tile<double>& upper_row,
                             SingularColumns lower, const Tile<double>& lower_row, double alpha, double beta)
    : g_(g), shape_(shape) {
  result_.begin = upper.begin;
  result_.n = upper.n + 1 + lower.n;
  result_.extra = lower.extra;
  const MergeHalf<double> above{std::move(upper.values), std::move(upper.order), numbers_of(upper_row)},
      below{std::move(lower.values), std::move(lower.order), numbers_of(lower_row)};
  // A floor keeps squares of small poles and entries of z away from underflow.
  double largest = std::max({std::abs(alpha), std::abs(beta), 1.0 / 16});
  for (const std::vector<double>* values : {&above.values, &below.values})
    for (const double value : *values) largest = std::max(largest, value);
  const double tolerance = 4 * std::numeric_limits<double>::epsilon() * largest;

  const bool extra = result_.extra > 0;
  const NullVectors null(alpha * above.row.back(), extra ? beta * below.row.back() : 0, extra, tolerance);
  std::vector<DeflationPair<double>> pairs = sorted_pairs(above, alpha, below, beta);
  pairs.insert(pairs.begin(), {0, null.z, DeflationPair<double>::Rows::both, upper.n, -1});
  deflation_ = deflate(std::move(pairs), 1.0, tolerance, 1);
  if (deflation_.k() > 1) deflation_.poles[1] = std::max(deflation_.poles[1], tolerance / 2);
  insert_roots();

  ColumnPlan<double> top = deflation_.top, bottom = deflation_.bottom;
  if (extra) {
    top.sources.push_back(-1);
    bottom.sources.push_back(lower.n);
  }
  left_.gather(g_, shape_, deflation_, top, upper.begin, std::move(upper.left));
  left_.gather(g_, shape_, deflation_, bottom, lower.begin, std::move(lower.left));
  if (extra) {
    top = null.rotated(std::move(top), deflation_.k() - deflation_.lower);
    bottom = null.rotated(std::move(bottom), 0);
  }
  right_.gather(g_, shape_, deflation_, top, upper.begin, std::move(upper.right));
  right_.gather(g_, shape_, deflation_, bottom, lower.begin, std::move(lower.right));
}

void SingularMerge::insert_roots() {
  const index_t k = deflation_.k();
  std::vector<double> poles = deflation_.poles;
  poles.insert(poles.end(), deflation_.z.begin(), deflation_.z.end());
  poles_ = one_tile(g_.runtime(), k, poles, "poles");
  for (index_t first = 0; first < k; first += shape_.batch) {
    roots_.push_back(one_tile<double>(g_.runtime(), std::min(shape_.batch, k - first), 3, "roots"));
    g_.insert<SingularRoots>(place_of_value(first), {first}, (*poles_)(0, 0), roots_.back()(0, 0));
    shape_.bring_home(g_, roots_.back()(0, 0));
  }
  const std::vector<Tile<double>> all = tiles_of(roots_);
  for (index_t first = 0; first < k; first += shape_.batch) {
    weights_.push_back(one_tile<double>(g_.runtime(), std::min(shape_.batch, k - first), 1, "weights"));
    g_.insert<SingularWeights>(place_of_value(first), {first}, (*poles_)(0, 0), weights_.back()(0, 0), work(), all);
  }
}

void SingularMerge::make_vectors() {
  const index_t k = deflation_.k();
  const auto order = one_tile(g_.runtime(), k, deflation_.order, "order");
  const std::vector<Tile<double>> weights = tiles_of(weights_);
  const Products products = shape_.gpus == 0 ? Products{GemmKernel::cublas, g_.scratch<double>(1, 1)}
                                             : tesela::products<double>(g_, left_.rows(), std::min(shape_.batch, k), k);
  std::vector<TileMatrix<double>> rights, lefts;  // used in turn: all together would be k x k numbers each
  for (std::size_t b = 0; b < roots_.size(); ++b) {
    const index_t first = static_cast<index_t>(b) * shape_.batch, count = std::min(shape_.batch, k - first);
    if (static_cast<index_t>(rights.size()) < shape_.depth)
      for (auto* turn : {&rights, &lefts}) turn->push_back(one_tile<double>(g_.runtime(), k, count, "S"));
    const std::size_t turn = b % static_cast<std::size_t>(shape_.depth);
    const Tile<double> right = rights[turn](0, 0), left = lefts[turn](0, 0);
    g_.insert<SingularVectorPairs>(place_of_value(first), {}, (*poles_)(0, 0), order(0, 0), roots_[b](0, 0), right,
                                   left, work(), weights);
    right_.multiply(g_, shape_, deflation_, right, count, products);
    left_.multiply(g_, shape_, deflation_, left, count, products);
  }
  result_.right = right_.finish();
  result_.left = left_.finish();
  weights_.clear();
}

void SingularMerge::read_values() {
  for (const TileMatrix<double>& batch : roots_) {
    const auto root = batch(0, 0).read();
    for (index_t j = 0; j < root.rows; ++j) {
      const double pole = root(j, 0), distance = root(j, 1);
      result_.values.push_back(pole + distance / (pole + std::sqrt(pole * pole + distance)));
    }
  }
  result_.values.insert(result_.values.end(), deflation_.deflated.begin(), deflation_.deflated.end());
  result_.order = ascending_order(result_.values);
}

}  // namespace tesela::detail
