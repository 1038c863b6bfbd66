#pragma once

#include <tesela/codelets/mimo/sphere_search.hpp>
#include <tesela/runtime/access.hpp>

#include <complex>
#include <vector>

namespace tesela::kernels {

/// A child that a search went to. Level 0 has the leaves.
struct VisitedNode {
  int level = 0, parent = -1;  ///< the place in the list, -1 of the root
  int column = 0, child = 0;   ///< what it decides, and the place in that column's list
  double distance = 0;         ///< of the path down to it, without what no s reaches
  bool best = false;           ///< a leaf that was the nearest so far
};

/// The nodes of one signal's search on a core, as SphereSearch makes it, in the order in which they were met; no task.
template <class T>
std::vector<VisitedNode> trace_search(const typename SphereSearch<T>::Args& args, const Block<const std::complex<T>>& h,
                                      const std::complex<T>* y, const SearchColumn* columns, const SearchPoint* points);

}  // namespace tesela::kernels
