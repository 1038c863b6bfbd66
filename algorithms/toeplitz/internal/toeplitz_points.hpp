#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>

#include <limits>
#include <optional>

// Counting and slicing in the units of the scaled matrix (SineToeplitz). Not part of the interface.
namespace tesela::detail {

enum class Nudge : std::uint8_t { none, either_side, down, up };

/// Returns the inertia at each point. If the smallest pivot is below the resolution, the point is moved by 2, 4, 8, ...
/// resolutions to either side in turn, or by 4, 8, 16, ... down or up.
template <class T>
std::vector<Inertia> count_at(Graph& g, const SineToeplitz<T>& A, std::span<const double> points, Nudge nudge,
                              const CountOptions& options = {});

/// The ends of the requested range, times 2^-exponent, with their counts. An end beyond all eigenvalues is empty.
struct CountedRange {
  std::optional<Inertia> low, high;
  bool empty = false;      ///< whether the range is outside the spectrum
  double moved = 0;        ///< largest distance of a count below its end, relative to the width of the requested range
  double least_moved = 0;  ///< the four resolutions of an end that is not nudged, relative to that width
};
template <class T>
CountedRange count_ends(Graph& g, const SineToeplitz<T>& A, double low, double high, index_t* counts,
                        const CountOptions& options = {});

/// Returns the number of eigenvalues that may be on either side of an end of the range: between the places of
/// count_ends and places four resolutions or more above the ends. It is n if no count near an end is sure.
template <class T>
index_t count_near_ends(Graph& g, const SineToeplitz<T>& A, double low, double high, const CountedRange& range,
                        index_t* counts, const CountOptions& options = {});

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
