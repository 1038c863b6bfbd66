#pragma once

#include <tesela/algorithms/eigen/eigen_range.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <limits>
#include <optional>
#include <vector>

namespace tesela {

/// Options of band_eig.
struct BandEigOptions {
  bool vectors = true;                       ///< whether to compute eigenvectors
  std::optional<IndexRange> positions = {};  ///< positions in the ascending spectrum; empty: all
  /// Wanted eigenvalues are in [low, high); together with `positions` not allowed.
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

/// Result of band_eig.
template <class T>
struct BandEigResult {
  TridiagonalEigStatus status;    ///< not_finite: column `where` of the band
  std::vector<real_t<T>> values;  ///< ascending
  /// n x number of values, the largest component of each real and positive; 0 x 0 without vectors.
  HostMatrix<T> vectors;
};

/// Computes eigenvalues and eigenvectors of a symmetric or Hermitian band matrix (LAPACK sbevx, hbevx).
///
/// ab       b + 1 x n, LAPACK's lower band storage: B(i, j), i >= j, in row i - j of column j.
/// Throws   ArgumentError for positions outside 0 … n, or together with low or high, for an imaginary part on the
///          diagonal, and for a band without rows.
/// Waits    for the graph.
/// Method   The band, scaled by a power of two, is reduced to tridiagonal form (band_to_tridiagonal) and solved by
///          tridiagonal_eig: 6 b n^2 flops without vectors. A tridiagonal band is not reduced.
template <class T>
BandEigResult<T> band_eig(Runtime& runtime, const HostMatrix<T>& ab, const BandEigOptions& options = {});

}  // namespace tesela
