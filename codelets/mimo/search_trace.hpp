#pragma once

#include <tesela/codelets/mimo/sphere_search.hpp>
#include <tesela/runtime/access.hpp>

#include <complex>
#include <vector>

namespace tesela::kernels {

/// A child that a search visited. Level 0 has the leaves.
struct VisitedNode {
  int level = 0, parent = -1;  ///< the parent's index in the list, -1 for the root
  int column = 0, child = 0;   ///< the decided column, and the index in that column's list
  double distance = 0;         ///< of the path down to it, without the part of y that no s reaches
  bool best = false;           ///< a leaf that was the nearest up to then
};

/// Returns the nodes of one signal's search on a core, as SphereSearch performs it, in the order of visits; not a task.
template <class T>
std::vector<VisitedNode> trace_search(const typename SphereSearch<T>::Args& args, const Block<const std::complex<T>>& h,
                                      const std::complex<T>* y, const SearchColumn* columns, const SearchPoint* points);

}  // namespace tesela::kernels
