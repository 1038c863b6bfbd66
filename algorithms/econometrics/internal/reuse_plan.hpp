#pragma once

#include <tesela/algorithms/econometrics/reuse_tree.hpp>

#include <vector>

namespace tesela::detail {

/// The start of an equation's triangle, and the columns carried with it.
struct ReuseStep {
  index_t equation = 0, parent = -1;             ///< -1: starts from the data
  std::vector<index_t> columns = {}, ends = {};  ///< its columns, and their ends in the parent's triangle; ends ascend
  std::vector<index_t> carried = {};             ///< other columns that its descendants need
  std::vector<index_t> right = {};  ///< equations whose dependent variables are rotated with it, its own first
  index_t rotations = 0;
  double flops = 0;
};

/// Returns the steps of a tree, parents before their children. `ends` are the ends of the model's columns, which have
/// `rows` rows.
std::vector<ReuseStep> reuse_steps(const SimultaneousModel& model, const std::vector<index_t>& ends, index_t rows,
                                   const std::vector<index_t>& parents);

/// Returns the tree of the public reuse_tree for these ends.
ReuseTree reuse_tree(const SimultaneousModel& model, const std::vector<index_t>& ends, index_t rows);

}  // namespace tesela::detail
