#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <limits>
#include <optional>

// Counting and slicing in the units of the scaled matrix (SineToeplitz); no part of the interface.
namespace tesela::detail {

enum class Nudge : std::uint8_t { none, either_side, down };

/// The inertia at each point. Where the smallest pivot is below the resolution, the point is moved by 2, 4, 8, ... of
/// it, to either side in turn or down.
template <class T>
std::vector<Inertia> count_at(Graph& g, const SineToeplitz<T>& A, std::span<const double> points, Nudge nudge,
                              const CountOptions& options = {});

/// The ends that a user gave, times 2^-exponent and counted. Nothing where all eigenvalues are on the inner side.
struct CountedRange {
  std::optional<Inertia> low, high;
  bool empty = false;  ///< beyond the spectrum
  double moved = 0;    ///< how far down an end was moved, relative to what the user's ends are apart
};
template <class T>
CountedRange count_ends(Graph& g, const SineToeplitz<T>& A, double low, double high, index_t* counts,
                        const CountOptions& options = {});

/// toeplitz_slice between points that have been counted. T is not 0.
template <class T>
std::vector<SpectrumInterval> slice_between(Graph& g, const SineToeplitz<T>& A, index_t most, const CountedRange& range,
                                            index_t* counts, const CountOptions& options = {});

/// Returns all eigenvalues of T = 0, which no shift separates, in the narrowest interval [0, high).
template <class T>
SpectrumInterval all_zero(const SineToeplitz<T>& A) {
  return {0,
          std::numeric_limits<double>::denorm_min(),
          {},
          {kernels::cauchy_rows(A.n(), 0), kernels::cauchy_rows(A.n(), 1)},
          true};
}

}  // namespace tesela::detail
