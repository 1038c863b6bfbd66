#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>

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

}  // namespace tesela
