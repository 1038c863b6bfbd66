#pragma once

#include <tesela/codelets/toeplitz/internal/superfast_node.hpp>

// Substitution through the nodes of a tree, for k right-hand sides. Internal to codelets/toeplitz.

namespace tesela::kernels::superfast {

/// Numbers that a node sends to its parent: the right-hand sides of its skeleton, and the effect of its eliminated
/// unknowns on other nodes, r x k each.
template <class T>
struct Message {
  std::vector<T> b, y;
};

/// Substitutes forward in a leaf or in a parent, whose right-hand sides are in `b` (m x k) and whose children's effects
/// are in `y` (m x k). `z` becomes the eliminated unknowns if the remaining ones are zero, (m - r) x k.
template <class T>
Message<T> forward(const Node<const T>& node, index_t k, const std::vector<T>& b, const std::vector<T>& y, T* z);

/// Joins the messages of a parent's children: `b` and `y` become the arguments of `forward`.
template <class T>
void join(const Node<const T>& node, index_t k, const Message<T>& first, const Message<T>& second, std::vector<T>& b,
          std::vector<T>& y);

/// Substitutes backward: returns all m x k unknowns from z and the remaining r x k ones.
template <class T>
std::vector<T> backward(const Node<const T>& node, index_t k, const T* z, const T* remaining, index_t ld);

}  // namespace tesela::kernels::superfast
