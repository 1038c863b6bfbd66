#pragma once

#include <tesela/algorithms/mimo/mimo_tree.hpp>

#include <string>

namespace tesela::cli {

/// The tree of one signal's search as SVG: a row a level, leaves below, the path to the answer in colour. Of more than
/// 4000 nodes the first ones.
std::string tree_picture(const std::string& title, const SearchTree& tree);

}  // namespace tesela::cli
