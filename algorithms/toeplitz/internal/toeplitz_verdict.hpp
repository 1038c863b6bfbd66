#pragma once

#include <tesela/algorithms/toeplitz/internal/found_pairs.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_points.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <vector>

namespace tesela::detail {

/// What values are worth (Spectrum has the same members).
struct SpectrumVerdict {
  Measured residual, error;
  index_t uncertain = 0;
  bool good() const { return uncertain == 0 && residual.good() && error.good(); }
};

/// Values, some of them made more exact, and their verdict.
struct JudgedValues {
  std::vector<FoundValue> values;
  SpectrumVerdict verdict;
  index_t counts = 0;  ///< shifts counted at
};

/// Judges what a search of `range` found by `certify`, and what counts say of clusters, whose values are added. Values
/// alone, without vectors, that are certain but vague are counted to the end (`pin`). Waits.
template <class T>
JudgedValues judge_search(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, const CountedRange& range,
                          std::vector<FoundValue> values, const std::vector<SpectrumInterval>& clusters);

/// Judges what LAPACK found of `range`, each value within its residual of an eigenvalue of its own: `certify` counts
/// where they are too near to be told apart. Waits.
template <class T>
JudgedValues judge_halves(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, const CountedRange& range,
                          std::vector<FoundValue> values);

/// The verdict on values that belong to orthogonal vectors: each is within the largest residual of an eigenvalue of its
/// own.
template <class T>
SpectrumVerdict judge_orthogonal(const SineToeplitz<T>& A, const SpectrumOptions& options,
                                 const std::vector<FoundValue>& values);

}  // namespace tesela::detail
