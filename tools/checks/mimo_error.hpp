#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>

namespace tesela {

/// How far a detection is from another one that should be as good, and from what was sent.
struct MimoError {
  index_t mismatches = 0;  ///< signals whose labels differ from the reference's, where that is certified
  /// The largest (||y - H s||^2 - best) / max(||y||^2, best), best being the least that is known; of a signal with
  /// ties, what rounding may hide among them too: it grows with ||H|| ||s|| / ||y||.
  double metric_gap = 0;
};

/// Distances are computed from H, in double, here. sent: labels, or empty.
template <class T>
MimoError mimo_error(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                     const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                     const Detection& found, const Detection& reference, const HostMatrix<int>& sent);

/// largest = max(largest, gap); what is no number stays.
void raise_gap(double& largest, double gap);

/// Symbols, bits and whole vectors that differ.
struct MimoMistakes {
  index_t vectors = 0, symbols = 0, bits = 0;
};
MimoMistakes mimo_mistakes(const HostMatrix<int>& found, const HostMatrix<int>& sent);

}  // namespace tesela
