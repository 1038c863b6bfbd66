#pragma once

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

}  // namespace tesela::detail
