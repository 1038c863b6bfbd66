#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/codelets/mimo/sphere_search.hpp>

#include <string>
#include <vector>

namespace tesela {

using kernels::VisitedNode;

/// The nodes that sd, sd_plain or babai of mimo_detect visits on a core for one signal, in this order. `levels` names
/// the decision of each level ("Re s2" in real form, "s2" in complex form, streams from 1), the leaves' level first. No
/// task is inserted. mimo_search_tree throws ArgumentError as mimo_detect, for other methods, and a
/// signal that does not exist.
struct SearchTree {
  std::vector<VisitedNode> nodes;
  std::vector<std::string> levels;
};
template <class T>
SearchTree mimo_search_tree(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                            const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                            const MimoOptions& options, index_t signal);

}  // namespace tesela
