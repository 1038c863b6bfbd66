#pragma once

#include <tesela/algorithms/toeplitz/internal/toeplitz_points.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

namespace tesela::detail {

/// The location of the wanted eigenvalues, by counting, in the units of the scaled matrix.
struct SpectrumSlices {
  CountedRange range;
  std::vector<SpectrumInterval> intervals;  ///< to be searched, ascending
  std::vector<SpectrumInterval> clusters;   ///< too narrow to be searched
  index_t first = 0;                        ///< number of eigenvalues below the range
  index_t expected = 0;                     ///< number of eigenvalues in the range
  index_t counts = 0;                       ///< number of shifts
};

/// Returns the range of the options, in intervals of at most `per_interval` eigenvalues. If a number from one end is
/// wanted, the range contains these and a few more.
template <class T>
SpectrumSlices slice_wanted(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options);

/// Returns the undivided range, for methods that compute everything at once. If a number from one end is wanted, the
/// range is the whole spectrum.
template <class T>
SpectrumSlices count_wanted(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options);

}  // namespace tesela::detail
