#pragma once

#include <tesela/algorithms/toeplitz/internal/found_pairs.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <vector>

namespace tesela::detail {

/// What a search found, what it could not find, and what it took.
template <class T>
struct SearchResult {
  std::vector<FoundValue> values;     ///< interval by interval, in the order in which they were found
  std::vector<FoundPiece<T>> pieces;  ///< if vectors are wanted: one of each interval
  std::vector<SpectrumInterval> clusters;
  std::vector<SpectrumShortage> shortages;
  index_t counts = 0, relaunches = 0, relaunched = 0, divisions = 0, steps = 0, inversions = 0;
};

/// The eigenpairs of many intervals, each by a two-way Lanczos process on the inverse at a shift inside it; waits.
///
///   waiting jobs --(a batch of inverses)--> prepared --(a free slot)--> in flight --(all found)--> finished
///        ^                   |                               |                           |
///        +--- a new shift, or half the interval: breakdown, or no convergence, or inaccurate
///
/// InverseQueue has the left half, LanczosGroup what is in flight. `options` are settled.
template <class T>
SearchResult<T> search_intervals(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options,
                                 const std::vector<SpectrumInterval>& intervals);

}  // namespace tesela::detail
