#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <vector>

namespace tesela {

/// Returns the parents of the directed spanning tree of least cost with root 0, whose parent is -1 (Chu and Liu 1965;
/// Edmonds 1967).
///
/// costs   costs(i, j) is the cost of node j as a child of node i: infinite if impossible, finite for i = 0.
/// Throws  ArgumentError if the matrix is not square.
std::vector<index_t> minimum_cost_tree(const HostMatrix<double>& costs);

/// A parent for each equation, from whose triangle its factorization starts.
struct ReuseTree {
  std::vector<index_t> parents;  ///< -1: the equation starts from the data
  /// Operations of the rotations if every equation starts from the data, as engine `givens` does.
  double flops_alone = 0;
  double flops_reused = 0;  ///< operations of the rotations along the tree
};

/// Plans QR factorizations of equations that share columns (Yanev, Foschi and Kontoghiorghes 2004). It is the plan of
/// SemEngine::reuse and takes O(N^3) operations.
///
/// Returns  the tree.
/// Method   A column that parent and child share keeps its elements above the parent's diagonal. The parent's rotations
///          are applied to the child's other columns, to its dependent variable and to all columns that its own
///          children need. The tree has the least cost, computed by pairs; flops_reused counts all carried columns. If
///          it is not below flops_alone, no equation has a parent.
ReuseTree reuse_tree(const SimultaneousModel& model);

}  // namespace tesela
