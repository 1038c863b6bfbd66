#pragma once

#include <tesela/algorithms/eigen/eig_iteration.hpp>
#include <tesela/algorithms/eigen/internal/iterated_matrix.hpp>

#include <vector>

namespace tesela::detail {

/// Largest order for which the whole loop also runs on a GPU, in one thread block.
inline constexpr index_t largest_small_iteration = 128;

/// Returns whether rotations keep D as a band.
constexpr bool stays_a_band(index_t n, index_t half_width) { return 4 * half_width < n; }

/// The end of an iteration.
template <class T>
struct Iterated {
  kernels::IterationProgress progress;
  std::vector<T> values;               ///< diagonal of D minus the shift
  std::vector<RemainingEntry> beside;  ///< nonzero elements of the triangle that should vanish
  HostMatrix<T> p;                     ///< P, n x n, for QR with vectors
  index_t half_width = 0;              ///< half-width of a D that stayed a band
  double shift = 0;                    ///< added to A
  index_t kernels = 0;                 ///< tasks that executed steps
};

/// Iterates until convergence or options.max_iterations; tolerance and max_iterations must not be 0.
template <class T>
Iterated<T> run_iteration(Graph& g, const IteratedMatrix<T>& a, const EigIterationOptions& options);

}  // namespace tesela::detail
