#pragma once

#include <tesela/algorithms/toeplitz/internal/computed_pairs.hpp>
#include <tesela/algorithms/toeplitz/internal/toeplitz_points.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <vector>

namespace tesela::detail {

/// Accuracy of values (members as in Spectrum).
struct SpectrumAccuracy {
  Measured residual, error;
  index_t uncertain = 0;
  bool good() const { return uncertain == 0 && residual.good() && error.good(); }
};

/// Values, some of them refined, and their accuracy.
struct CertifiedValues {
  std::vector<ComputedEigenvalue> values;
  SpectrumAccuracy verdict;
  index_t counts = 0;  ///< number of shifts
};

/// Certifies the values of a search of `range` (certify), and adds the values of clusters. If no vectors are wanted,
/// values that are certain but inaccurate are refined by counting (pin). Waits for the graph.
template <class T>
CertifiedValues certify_search(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options,
                               const CountedRange& range, std::vector<ComputedEigenvalue> values,
                               const std::vector<SpectrumInterval>& clusters);

/// Certifies LAPACK's values of `range`, each within its residual of a distinct eigenvalue; certify counts if they are
/// too near to each other. Waits for the graph.
template <class T>
CertifiedValues certify_dense(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options,
                              const CountedRange& range, std::vector<ComputedEigenvalue> values);

/// Returns the accuracy of values that belong to orthogonal vectors: each is within the largest residual of a distinct
/// eigenvalue.
template <class T>
SpectrumAccuracy accuracy_of_orthogonal(const SineToeplitz<T>& A, const SpectrumOptions& options,
                                        const std::vector<ComputedEigenvalue>& values);

}  // namespace tesela::detail
