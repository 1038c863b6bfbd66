#pragma once

#include <tesela/algorithms/eigen/eig_iteration.hpp>
#include <tesela/algorithms/eigen/internal/iterated_matrix.hpp>

#include <vector>

namespace tesela::detail {

/// Up to this order the whole loop is a GPU's as well, in one block of threads.
inline constexpr index_t largest_small_iteration = 128;

/// Whether rotations keep D as a band.
constexpr bool stays_a_band(index_t n, index_t half_width) { return 4 * half_width < n; }

/// Where an iteration ended.
template <class T>
struct Iterated {
  kernels::IterationProgress progress;
  std::vector<T> values;               ///< D's diagonal, less the shift
  std::vector<RemainingEntry> beside;  ///< what is not zero in the triangle that should be
  HostMatrix<T> p;                     ///< P, n x n, of QR with vectors
  index_t half_width = 0;              ///< of a D that was a band
  double shift = 0;                    ///< added to A
  index_t kernels = 0;                 ///< tasks that took steps
};

/// Iterates until it ends or options.max_iterations are done; tolerance and max_iterations are settled.
template <class T>
Iterated<T> run_iteration(Graph& g, const IteratedMatrix<T>& a, const EigIterationOptions& options);

}  // namespace tesela::detail
