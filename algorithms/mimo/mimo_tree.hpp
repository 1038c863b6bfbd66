#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/codelets/mimo/search_trace.hpp>

#include <string>
#include <vector>

namespace tesela {

using kernels::VisitedNode;

/// The nodes that mimo_detect's sd, sd_plain or babai meets on a core for one signal, in that order, and what each
/// level decides ("Re s2" in real form, "s2" in complex form, streams counted from 1), leaves' level first. No task.
/// Throws ArgumentError as mimo_detect does, for the order `best`, other methods, and a signal that is not there.
struct SearchTree {
  std::vector<VisitedNode> nodes;
  std::vector<std::string> levels;
};
template <class T>
SearchTree mimo_search_tree(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                            const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                            const MimoOptions& options, index_t signal);

}  // namespace tesela
