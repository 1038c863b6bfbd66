#pragma once

#include <tesela/algorithms/mimo/mimo_tree.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// Rates over dB, on a logarithmic axis, as SVG. Points that are 0 are left out.
struct RateCurve {
  std::string name;
  std::vector<double> rate, low, high;  ///< one a place on the x axis; low and high may be empty
  bool dashed = false;                  ///< theory
};
std::string rate_picture(const std::string& title, const std::vector<double>& db, const std::vector<RateCurve>& curves);

/// Returns the tree of one signal's search as SVG: a row for each level, leaves below, the path to the answer in
/// colour. Draws at most the first 4000 nodes.
std::string tree_picture(const std::string& title, const SearchTree& tree);

}  // namespace tesela::cli
