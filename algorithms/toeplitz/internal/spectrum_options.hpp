#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <cmath>

// What the options of a spectrum come to; no part of the interface.
namespace tesela::detail {

/// The options with every "what suits" decided for this machine, the method too. Throws ArgumentError for those that
/// mean nothing.
template <class T>
SpectrumOptions settled_options(const Runtime& runtime, index_t n, SpectrumOptions options);

/// Lanczos steps that a run may take at most, with `per_interval` decided.
index_t krylov_limit(index_t n, const SpectrumOptions& options);

/// Whether each solve is refined: vectors need it, and only the inverse is cheap enough.
inline bool refined(const SpectrumOptions& o) { return o.vectors && o.solver == ToeplitzSolver::cauchy; }

/// What residuals, and errors of eigenvalues, may be, relative to the largest eigenvalue (docs/toeplitz.md).
struct SpectrumBounds {
  double residual, error;
};
template <class T>
SpectrumBounds spectrum_bounds(index_t n, const SpectrumOptions& options);

/// About the largest eigenvalue of the scaled matrix.
template <class T>
double estimated_norm(const SineToeplitz<T>& A) {
  return 3 * A.rms() + std::abs(A.mean());
}

/// Up to this order LAPACK finds what the search could not do well enough.
constexpr index_t largest_dense = 2048;

}  // namespace tesela::detail
