#include <tesela/algorithms/eigen/internal/cuppen_tree.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::detail {
namespace {

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

}  // namespace

template <class T>
CuppenForest cut(std::vector<T>& d, std::vector<T>& e, index_t leaf) {
  const auto n = static_cast<index_t>(d.size());
  std::vector<index_t> ends;
  for (index_t i = 0; i + 1 < n; ++i) {
    T& entry = e[static_cast<std::size_t>(i)];
    if (std::abs(entry) > std::numeric_limits<T>::epsilon() / 8) continue;
    entry = 0;
    ends.push_back(i + 1);
  }
  if (n > 0) ends.push_back(n);
  CuppenForest forest;
  forest.blocks = static_cast<index_t>(ends.size());
  index_t begin = 0;
  for (std::size_t b = 0; b < ends.size(); ++b) {
    if (b + 1 < ends.size() && ends[b + 1] - begin <= leaf) continue;
    forest.roots.push_back(halve(forest, d, e, begin, ends[b] - begin, leaf));
    begin = ends[b];
  }
  return forest;
}

template CuppenForest cut(std::vector<float>&, std::vector<float>&, index_t);
template CuppenForest cut(std::vector<double>&, std::vector<double>&, index_t);

}  // namespace tesela::detail
