#pragma once

#include <tesela/algorithms/toeplitz/internal/toeplitz_points.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <cmath>

// Values derived from SpectrumOptions. Not part of the interface.
namespace tesela::detail {

/// Returns the options with every default decided for this machine, including the method. Throws ArgumentError for
/// contradictory options.
template <class T>
SpectrumOptions resolved_options(const Runtime& runtime, index_t n, SpectrumOptions options);

/// Returns the largest number of Lanczos steps of a run; `per_interval` must be decided.
index_t krylov_limit(index_t n, const SpectrumOptions& options);

/// Returns whether each solve is refined: vectors need it, and only the stored inverse makes it cheap enough.
inline bool refined(const SpectrumOptions& o) { return o.vectors && o.solver == ToeplitzSolver::cauchy; }

/// Bounds of residuals and of errors of eigenvalues, relative to the largest eigenvalue (docs/toeplitz.md).
struct SpectrumBounds {
  double residual, error;
};
template <class T>
SpectrumBounds spectrum_bounds(index_t n, const SpectrumOptions& options);

/// Returns an estimate of the largest eigenvalue of the scaled matrix.
template <class T>
double estimated_norm(const SineToeplitz<T>& A) {
  return 3 * A.rms() + std::abs(A.mean());
}

/// Largest order at which LAPACK repeats an insufficient search.
constexpr index_t largest_dense = 2048;

/// The location of the wanted eigenvalues, by counting, in the units of the scaled matrix.
struct SpectrumSlices {
  CountedRange range;
  std::vector<SpectrumInterval> intervals;  ///< to be searched, ascending
  std::vector<SpectrumInterval> clusters;   ///< too narrow to be searched
  index_t first = 0;                        ///< number of eigenvalues below the range
  index_t expected = 0;                     ///< number of eigenvalues in the range
  index_t doubtful = 0;                     ///< largest error of this number
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
