#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <functional>
#include <span>

namespace tesela {

/// Number of eigenvalues of A below sigma, with its uncertainty.
struct SymmetricInertia {
  index_t below = 0;
  /// The count is exact for a matrix at most this far (2-norm) from A - sigma I: n eps times the growth in the
  /// factorization, 2 sqrt 2 times that for complex numbers. Rounding errors are usually much smaller. Infinite if the
  /// factorization broke down.
  double uncertainty = 0;
  Status status =
      {};  ///< of a matrix in memory; 1 + j: column j is the first that is not finite, and there is no count
};

/// Counts the negative pivots of A - sigma I = L D L^H (Sylvester's law of inertia), without pivoting, for a symmetric
/// or Hermitian A. The count is independent of reductions and eigenvectors, so that it can certify a spectrum. Cores
/// factor complex tiles, and GPUs multiply them.
///
/// A       n x n in square tiles; the lower triangle is read, and the real parts of the diagonal. Needs n^2 numbers of
///         memory and n^3 / 3 flops.
/// Throws  ArgumentError for other shapes and a sigma that is not finite.
/// Waits   for the graph.
template <class T>
SymmetricInertia symmetric_inertia(Graph& g, const TileMatrix<T>& A, double sigma);

/// Counts for a matrix in memory, on the host or on one device: chooses the tiles, and waits. Throws ArgumentError if a
/// diagonal element is not real.
template <class T>
SymmetricInertia symmetric_inertia(Runtime& runtime, MatrixView<const T> a, double sigma);

/// Returns the edge of A's tiles for the workers of `runtime`.
index_t inertia_tile(const Runtime& runtime);

/// Number of values below a place: at least `least`, at most `most`; unknown if `known` is false.
struct InertiaCount {
  index_t least = 0, most = 0;
  bool known = true;
};

/// Returns the number of values below `end` that inertia(sigma) proves.
///
/// values  the whole spectrum, ascending, each with an error of at most `accuracy`.
/// Method  If a value is as near to `end` as its error, or the factorization breaks down, as it does at many round
///         numbers, inertias on both sides bound the count, at the distance at which they are certain.
InertiaCount count_below(std::span<const double> values, double end, double accuracy,
                         const std::function<SymmetricInertia(double)>& inertia);

/// Comparison of inertias with the values of a whole spectrum.
struct Certificate {
  index_t certified = 0;  ///< shifts at which the number of values below agrees with the inertia
  index_t misses = 0;     ///< shifts at which it differs
  index_t doubtful = 0;   ///< shifts that were given up, because a value was within the inertia's uncertainty
};

/// Compares all n values, ascending, each with an error of at most `accuracy`, with the inertia of A at random shifts.
///
/// shifts  number of shifts, between a place below the smallest value and one above the largest. A shift that is too
///         near to a value is replaced, at most five times.
/// Waits   for the graph.
template <class T>
Certificate certify_spectrum(Graph& g, const TileMatrix<T>& A, std::span<const double> values, double accuracy,
                             index_t shifts, std::uint64_t seed);

/// Compares the values with Sturm counts of the tridiagonal matrix with diagonal d (n) and off-diagonal e (n - 1), on
/// the calling thread. Throws ArgumentError as tridiagonal_count_below.
Certificate certify_spectrum(std::span<const double> d, std::span<const double> e, std::span<const double> values,
                             double accuracy, index_t shifts, std::uint64_t seed);

}  // namespace tesela
