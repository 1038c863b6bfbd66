#pragma once

#include <tesela/algorithms/mimo/orderings.hpp>

#include <functional>

namespace tesela {

/// Returns the largest of ||H P - Q R||_F / ||H||_F and ||I - Q^T Q||_F over all orders of H's columns, or over about
/// `most` equally spaced ones.
double ordering_error(const OrderedDetector& detector, const HostMatrix<double>& h, index_t most);

/// Returns the largest ||R^T R - P^T R0^T R0 P||_F / ||R0||_F^2 over about `most` equally spaced of all orders P. `at`
/// returns element (i, j) of the k-th triangle R.
double triangles_error(const std::function<double(index_t k, index_t i, index_t j)>& at, const HostMatrix<double>& r0,
                       index_t most);

/// Returns the number of signals for which `found`, labels on `alphabet`'s real axis, differs from sphere_search's
/// result for the same H as a complex matrix without a tie.
index_t ordering_mismatches(Graph& g, const HostMatrix<double>& h, const HostMatrix<double>& x,
                            const Constellation& alphabet, const Detection& found);

}  // namespace tesela
