#pragma once

#include <tesela/algorithms/econometrics/reuse_tree.hpp>

#include <vector>

namespace tesela::detail {

/// What an equation's triangle starts from and carries along.
struct ReuseStep {
  index_t equation = 0, parent = -1;             ///< -1: from the data
  std::vector<index_t> columns = {}, ends = {};  ///< its own and where they end in what it starts from; ends ascend
  std::vector<index_t> carried = {};             ///< columns that those below it need besides
  std::vector<index_t> right = {};  ///< the equations whose dependent variables take its rotations, its own first
  index_t rotations = 0;
  double flops = 0;
};

/// Along a tree, parents before what starts from them. `ends` are those of the model's columns, of which `rows` rows
/// take part.
std::vector<ReuseStep> reuse_steps(const SimultaneousModel& model, const std::vector<index_t>& ends, index_t rows,
                                   const std::vector<index_t>& parents);

/// As the public one, with these ends.
ReuseTree reuse_tree(const SimultaneousModel& model, const std::vector<index_t>& ends, index_t rows);

}  // namespace tesela::detail
