#pragma once

#include <tesela/algorithms/toeplitz/internal/computed_pairs.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <vector>

namespace tesela::detail {

/// Result of a search.
template <class T>
struct SearchResult {
  std::vector<ComputedEigenvalue> values;  ///< interval by interval, in the order of the search
  std::vector<IntervalPairs<T>> pieces;    ///< one for each interval, if vectors are wanted
  std::vector<SpectrumInterval> clusters;
  std::vector<SpectrumShortage> shortages;
  LanczosTasks tasks = LanczosTasks::fused;
  index_t counts = 0, relaunches = 0, relaunched = 0, divisions = 0, steps = 0, inversions = 0;
};

/// Computes the eigenpairs of many intervals, each by a two-way Lanczos process on the inverse at a shift inside it;
/// waits for the graph.
///
///   waiting jobs --(a batch of inverses)--> prepared --(a free slot)--> in flight --(all found)--> finished
///        ^                   |                               |                           |
///        +--- a new shift, or half the interval: breakdown, or no convergence, or inaccurate
///
/// InverseQueue is the left half, LanczosGroup the runs in flight. `options` have no open defaults.
template <class T>
SearchResult<T> search_intervals(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options,
                                 const std::vector<SpectrumInterval>& intervals);

}  // namespace tesela::detail
