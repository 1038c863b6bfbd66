#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <vector>

namespace tesela {

/// The parents of the directed spanning tree of least cost whose root is node 0, -1 for the root (Chu and Liu 1965;
/// Edmonds 1967). costs(i, j), finite for i = 0, is that of node j as a child of i; infinity: it cannot be. Throws
/// ArgumentError for a matrix that is not square.
std::vector<index_t> minimum_cost_tree(const HostMatrix<double>& costs);

/// Which equation's triangle each equation would best start from.
struct ReuseTree {
  std::vector<index_t> parents;  ///< -1: from the data
  double flops_alone = 0;        ///< of the rotations of all equations, each from the data, as engine givens takes them
  double flops_reused = 0;       ///< along the tree
};

/// QR factorizations of equations that share columns (Yanev, Foschi and Kontoghiorghes 2004). Of a parent's triangle
/// the columns that a child has too keep what stands above their diagonal there; the child's others, its dependent
/// variable and all that its own children need take the parent's rotations. The tree is that of least cost by pairs;
/// its flops are counted for all that is carried along, and where they are no less than without, no equation has a
/// parent. O(N^3). SemEngine::reuse goes along it.
ReuseTree reuse_tree(const SimultaneousModel& model);

}  // namespace tesela
