#pragma once

#include <tesela/runtime/types.hpp>

#include <vector>

namespace tesela::detail {

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

/// Cuts T, whose largest entry has size 1, into blocks where |e(i)| <= eps / 8, and sets these e(i) to zero. By Weyl an
/// eigenvalue changes by at most eps / 4, less than by divide and conquer itself. Neighbouring blocks that fit into a
/// leaf together share one. Longer blocks are halved down to `leaf` rows. At each cut |e(i)| is subtracted from both
/// neighbours in d; the merge adds a matrix of rank one again.
template <class T>
CuppenForest cut(std::vector<T>& d, std::vector<T>& e, index_t leaf);

}  // namespace tesela::detail
