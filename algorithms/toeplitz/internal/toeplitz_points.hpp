#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <limits>
#include <optional>

// Counting and slicing in the units of the scaled matrix (SineToeplitz). Not part of the interface.
namespace tesela::detail {

enum class Nudge : std::uint8_t { none, either_side, down };

/// Returns the inertia at each point. If the smallest pivot is below the resolution, the point is moved by 2, 4, 8, ...
/// resolutions, to either side in turn or down.
template <class T>
std::vector<Inertia> count_at(Graph& g, const SineToeplitz<T>& A, std::span<const double> points, Nudge nudge,
                              const CountOptions& options = {});

/// The ends of the requested range, times 2^-exponent, with their counts. An end beyond all eigenvalues is empty.
struct CountedRange {
  std::optional<Inertia> low, high;
  bool empty = false;  ///< whether the range is outside the spectrum
  double moved = 0;    ///< distance by which an end was moved down, relative to the width of the requested range
};
template <class T>
CountedRange count_ends(Graph& g, const SineToeplitz<T>& A, double low, double high, index_t* counts,
                        const CountOptions& options = {});

/// Returns toeplitz_slice between counted points. T is not 0.
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
