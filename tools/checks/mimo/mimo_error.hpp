#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/algorithms/mimo/orderings.hpp>

#include <functional>

namespace tesela {

/// Differences of a detection from a reference of equal quality and from the sent vectors.
struct MimoError {
  index_t mismatches = 0;  ///< signals whose labels differ from a certified reference
  /// The largest (||y - H s||^2 - best) / max(||y||^2, best), where best is the least known value. For a signal with
  /// ties it includes the differences that rounding may hide among them, which grow with ||H|| ||s|| / ||y||.
  double metric_gap = 0;
};

/// Computes distances from H in double precision. sent: labels, or empty.
template <class T>
MimoError mimo_error(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                     const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                     const Detection& found, const Detection& reference, const HostMatrix<int>& sent);

/// largest = max(largest, gap); NaN is kept.
void update_nan_max(double& largest, double gap);

/// Number of wrong symbols, bits and whole vectors.
struct MimoMistakes {
  index_t vectors = 0, symbols = 0, bits = 0;
};
MimoMistakes mimo_mistakes(const HostMatrix<int>& found, const HostMatrix<int>& sent);

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
