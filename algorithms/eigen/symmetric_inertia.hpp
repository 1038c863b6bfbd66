#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <functional>
#include <span>
#include <vector>

namespace tesela {

/// How many eigenvalues of A are below sigma, and how sure that is.
struct SymmetricInertia {
  index_t below = 0;
  /// The count is that of a matrix at most this far (2-norm) from A - sigma I: n eps times the growth of the
  /// factorization, which rounding errors hardly reach. Infinite where it broke down.
  double uncertainty = 0;
};

/// Counts the negative pivots of A - sigma I = L D L^T (Sylvester's law of inertia), without pivoting, by square tiles
/// of A, n x n, of which the lower triangle is read; n^2 numbers more and n^3 / 3 flops. It knows nothing of reductions
/// and eigenvectors, so it proves a spectrum. Waits. Throws ArgumentError for other shapes and a sigma that is not
/// finite.
template <class T>
SymmetricInertia symmetric_inertia(Graph& g, const TileMatrix<T>& A, double sigma);

/// The edge of A's tiles that suits the runtime's workers.
index_t suitable_inertia_tile(const Runtime& runtime);

/// How many values are below some place: at least `least`, at most `most`, or nobody knows.
struct InertiaCount {
  index_t least = 0, most = 0;
  bool known = true;
};

/// The number of values below `end` that inertia(sigma) proves, for a whole spectrum `values`, ascending and each right
/// to `accuracy`. Where one is as near to the end as its error, or the factorization breaks down, as it does at many
/// round numbers, inertias on both sides say it: so far away as they are sure.
InertiaCount count_below(std::span<const double> values, double end, double accuracy,
                         const std::function<SymmetricInertia(double)>& inertia);

/// What inertias said of values that should be the whole spectrum.
struct Certificate {
  index_t certified = 0;  ///< shifts at which as many values are below as the inertia says
  index_t misses = 0;     ///< others
  index_t doubtful = 0;   ///< shifts given up, since a value was within the inertia's uncertainty
};

/// Compares all n values, ascending and each right to `accuracy`, with the inertia of A at `shifts` random places from
/// somewhat below the smallest to somewhat above the largest. A shift too near to a value to tell is replaced by
/// another one, five times at most. Waits.
template <class T>
Certificate certify_spectrum(Graph& g, const TileMatrix<T>& A, std::span<const double> values, double accuracy,
                             index_t shifts, std::uint64_t seed);

}  // namespace tesela
