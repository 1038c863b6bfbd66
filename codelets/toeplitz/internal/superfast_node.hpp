#pragma once

#include <tesela/codelets/toeplitz/internal/superfast_skeleton.hpp>

// Elimination in the nodes of a tree. Internal to codelets/toeplitz.

namespace tesela::kernels::superfast {

/// A node's numbers, in one array behind a header with m, r, first, second and 1 after a breakdown.
///
/// Its equations A x = b have the order of `equations`: r of the skeleton, then the others. With T = interpolation,
/// the others minus T^T times the skeleton's contain no unknown of other nodes: (L U)^T P^T x, which determines
/// m - r unknowns.
template <class T>
struct Node {
  static constexpr index_t header = 5;
  index_t m, r;           ///< equations before and after the elimination
  index_t first, second;  ///< equations of the children; 0 for a leaf
  T* data;

  static Node at(T* data) {
    const auto number = [data](int i) { return static_cast<index_t>(data[i]); };
    return {number(0), number(1), number(2), number(3), data};
  }
  index_t gone() const { return m - r; }
  T* equations() const { return data + header; }
  T* swaps() const { return equations() + m; }                 ///< m - r exchanges of unknowns
  T* interpolation() const { return swaps() + m; }             ///< r x (m - r)
  T* inverse() const { return interpolation() + r * gone(); }  ///< (m - r) x (m - r): (L U)^-1 of the pivots
  T* backward() const { return inverse() + gone() * gone(); }  ///< (m - r) x r: remaining unknowns in the eliminated
  T* forward() const {
    return backward() + gone() * r;
  }                                                           ///< (m - r) x 2 r: eliminated unknowns in the skeleton's
                                                              ///< equations and in other nodes, transposed
  T* coupling() const { return forward() + 2 * gone() * r; }  ///< first x second: C between the children
  index_t size() const { return header + 2 * m + gone() * (m + 3 * r) + first * second; }
};

/// Returns the largest size of a node with these numbers of equations, for any r.
constexpr index_t node_size(index_t m, index_t first, index_t second) {
  return Node<double>::header + 2 * m + 4 * m * m / 3 + 1 + first * second;
}

/// A node's remaining equations for its parent.
template <class T>
struct Skeleton {
  std::vector<index_t> rows;  ///< rows of the block, r of them
  std::vector<T> d, v;  ///< r x r, transposed: coefficients of the remaining unknowns, and their effect on other nodes
  bool broken = false;  ///< whether a pivot vanished
};

/// A node of the tree: its rows lo <= a < hi, and the largest skeleton; the root has none.
struct Range {
  index_t lo, hi, most;
};

/// Factors a leaf, or the parent of two children; writes the node at `data`.
template <class T>
Node<T> factor_leaf(const CauchyBlock<T>& block, const Range& range, T* data, Skeleton<T>& to);
template <class T>
Node<T> factor_parent(const CauchyBlock<T>& block, const Range& range, const Skeleton<T>& first,
                      const Skeleton<T>& second, T* data, Skeleton<T>& to);

}  // namespace tesela::kernels::superfast
