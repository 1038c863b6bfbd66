#pragma once

#include <tesela/algorithms/mimo/mimo_tree.hpp>

#include <string>

namespace tesela::cli {

/// Returns the tree of one signal's search as SVG: a row for each level, leaves below, the path to the answer in
/// colour. Draws at most the first 4000 nodes.
std::string tree_picture(const std::string& title, const SearchTree& tree);

}  // namespace tesela::cli
