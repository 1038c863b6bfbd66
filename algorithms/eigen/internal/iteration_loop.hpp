#pragma once

#include <tesela/algorithms/eigen/eig_iteration.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tesela::detail {

/// A symmetric matrix on the host, times 2^-exponent, as the start of an iteration: its lower triangle by diagonals.
template <class T>
class IteratedMatrix {
 public:
  /// Copies elements element(i, j) with 0 <= i - j <= half_width.
  template <class Element>
  IteratedMatrix(index_t n, index_t half_width, int exponent, const Element& element)
      : n_(n), half_(half_width), exponent_(exponent), lower_(half_width + 1, n) {
    parallel_for(n, 64, [&](index_t first, index_t end) {
      for (index_t j = first; j < end; ++j)
        for (index_t i = j; i < std::min(n, j + half_ + 1); ++i)
          lower_(i - j, j) = static_cast<T>(std::ldexp(static_cast<double>(element(i, j)), -exponent));
    });
  }

  index_t n() const { return n_; }
  index_t half_width() const { return half_; }
  int exponent() const { return exponent_; }
  T operator()(index_t i, index_t j) const {
    const index_t below = std::abs(i - j);
    return below > half_ ? T(0) : lower_(below, std::min(i, j));
  }

  double trace() const {
    double sum = 0;
    for (index_t i = 0; i < n_; ++i) sum += static_cast<double>(lower_(0, i));
    return sum;
  }
  double frobenius() const {
    double sum = 0;
    for (index_t j = 0; j < n_; ++j)
      for (index_t i = 0; i < std::min(half_ + 1, n_ - j); ++i) {
        const auto x = static_cast<double>(lower_(i, j));
        sum += (i > 0 ? 2 : 1) * x * x;
      }
    return std::sqrt(sum);
  }
  /// Returns a lower bound of the eigenvalues (Gershgorin).
  double lower_bound() const {
    std::vector<double> beside(static_cast<std::size_t>(n_));
    for (index_t j = 0; j < n_; ++j)
      for (index_t i = 1; i < std::min(half_ + 1, n_ - j); ++i) {
        const double x = std::abs(static_cast<double>(lower_(i, j)));
        beside[static_cast<std::size_t>(j)] += x;
        beside[static_cast<std::size_t>(j + i)] += x;
      }
    double bound = std::numeric_limits<double>::infinity();
    for (index_t i = 0; i < n_; ++i)
      bound = std::min(bound, static_cast<double>(lower_(0, i)) - beside[static_cast<std::size_t>(i)]);
    return bound;
  }

  /// Returns a shift that makes A positive definite, with room for rounding errors.
  double positive_shift() const {
    const double room = 16 * static_cast<double>(n_) * static_cast<double>(std::numeric_limits<T>::epsilon()) *
                        std::max(frobenius(), static_cast<double>(std::numeric_limits<T>::min()));
    return static_cast<double>(static_cast<T>(room - lower_bound()));
  }

 private:
  index_t n_, half_;
  int exponent_;
  HostMatrix<T> lower_;
};

/// Largest order for which the whole loop also runs on a GPU, in one thread block.
inline constexpr index_t largest_small_iteration = 128;

/// Returns whether rotations keep D as a band.
constexpr bool stays_a_band(index_t n, index_t half_width) { return 4 * half_width < n; }

/// The off-diagonal elements of the last D that are not negligible.
struct Remaining {
  double negligible = 0;  ///< largest absolute value of a negligible element
  index_t count = 0;
  double squares = 0;                   ///< sum over the elements and their mirror images
  std::vector<RemainingEntry> largest;  ///< the eight largest, the earlier of two equal ones first

  void add(const RemainingEntry& entry) {
    const double size = std::abs(entry.value);
    if (size <= negligible) return;
    ++count;
    squares += 2 * size * size;
    constexpr std::size_t kept = 8;
    if (largest.size() == kept && !(size > std::abs(largest.back().value))) return;
    const auto at_least = [size](const RemainingEntry& other) { return !(std::abs(other.value) < size); };
    largest.insert(std::partition_point(largest.begin(), largest.end(), at_least), entry);
    if (largest.size() > kept) largest.pop_back();
  }
};

/// The end of an iteration.
template <class T>
struct Iterated {
  kernels::IterationProgress progress;
  std::vector<T> values;   ///< diagonal of D minus the shift
  Remaining remaining;     ///< of the triangle that should vanish
  HostMatrix<T> p;         ///< P, n x n, for QR with vectors
  index_t half_width = 0;  ///< half-width of a D that stayed a band
  double shift = 0;        ///< added to A
  index_t kernels = 0;     ///< tasks that executed steps
};

/// Iterates until convergence or options.max_iterations; tolerance and max_iterations must not be 0.
template <class T>
Iterated<T> run_iteration(Graph& g, const IteratedMatrix<T>& a, const EigIterationOptions& options);

/// Returns whether iterate_by_tiles supports this problem: rotations, reflectors, LR or Cholesky LR, without shifts and
/// deflation.
bool supports_tiles(index_t n, index_t half_width, const EigIterationOptions& options);

/// Iterates by a graph of tiles; reads the stop test every few steps.
template <class T>
Iterated<T> iterate_by_tiles(Graph& g, const IteratedMatrix<T>& a, const EigIterationOptions& options);

}  // namespace tesela::detail
