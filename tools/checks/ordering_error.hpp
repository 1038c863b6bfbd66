#pragma once

#include <tesela/algorithms/mimo/orderings.hpp>

namespace tesela {

/// Returns the largest of ||H P - Q R||_F / ||H||_F and ||I - Q^T Q||_F over all orders of H's columns, or over about
/// `most` equally spaced ones.
double ordering_error(const OrderedDetector& detector, const HostMatrix<double>& h, index_t most);

/// Returns the number of signals for which `found`, labels on `alphabet`'s real axis, differs from sphere_search's
/// result for the same H as a complex matrix without a tie.
index_t ordering_mismatches(Graph& g, const HostMatrix<double>& h, const HostMatrix<double>& x,
                            const Constellation& alphabet, const Detection& found);

}  // namespace tesela
