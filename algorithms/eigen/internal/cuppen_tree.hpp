#pragma once

#include <tesela/runtime/types.hpp>

#include <vector>

namespace tesela::detail {

/// Rows begin … begin + n - 1 of T: a leaf, or its two halves joined by `joint`, the off-diagonal entry between them.
struct CuppenNode {
  index_t begin = 0, n = 0;
  int height = 0;  // of a leaf
  std::size_t upper = 0, lower = 0;
  double joint = 0;
};

/// A tree for each block of T, halves before what they make, the last of `nodes` in no particular place.
struct CuppenForest {
  std::vector<CuppenNode> nodes;
  std::vector<std::size_t> roots;  // ascending in T's rows
  index_t blocks = 0;
};

/// T, its largest entry of size 1, falls into blocks where |e(i)| <= eps / 8: by Weyl that moves an eigenvalue by no
/// more than eps / 4, and none by more than divide and conquer does anyway. e(i) becomes zero there. Neighbouring
/// blocks that fit a leaf together share one. Longer ones are halved down to `leaf` rows; at each cut |e(i)| is taken
/// off both its neighbours in d, which leaves a matrix of rank one to be added again.
template <class T>
CuppenForest cut(std::vector<T>& d, std::vector<T>& e, index_t leaf);

}  // namespace tesela::detail
