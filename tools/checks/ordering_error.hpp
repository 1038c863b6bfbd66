#pragma once

#include <tesela/algorithms/mimo/orderings.hpp>

namespace tesela {

/// The largest of ||H P - Q R||_F / ||H||_F and ||I - Q^T Q||_F over orders of H's columns: all of them, or at most
/// about `most` at equal distances.
double ordering_error(const OrderedDetector& detector, const HostMatrix<double>& h, index_t most);

/// The signals for which `found`, labels of `alphabet`'s real axis, differs from what sphere_search answers for the
/// same H as a complex one, where no tie excuses it.
index_t ordering_mismatches(Graph& g, const HostMatrix<double>& h, const HostMatrix<double>& x,
                            const Constellation& alphabet, const Detection& found);

}  // namespace tesela
