#pragma once

#include <tesela/algorithms/toeplitz/internal/toeplitz_points.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

namespace tesela::detail {

/// Where the eigenvalues that are wanted lie, all of it counted, in the units of the scaled matrix.
struct SpectrumSlices {
  CountedRange range;
  std::vector<SpectrumInterval> intervals;  ///< to be searched, ascending
  std::vector<SpectrumInterval> clusters;   ///< too narrow to be searched
  index_t first = 0;                        ///< eigenvalues below the range
  index_t expected = 0;                     ///< in the range
  index_t counts = 0;                       ///< shifts counted at
};

/// The range that the options want, or where only so many are wanted from an end, one that holds these and few more,
/// in intervals of at most `per_interval`.
template <class T>
SpectrumSlices slice_wanted(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options);

/// The range alone, undivided, for those who find everything at once: all, where only so many are wanted from an end.
template <class T>
SpectrumSlices count_wanted(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options);

}  // namespace tesela::detail
