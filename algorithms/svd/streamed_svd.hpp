#pragma once

#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/tiles/row_source.hpp>

namespace tesela {

/// Result of streamed_svd.
template <class T>
struct StreamedSvd {
  SvdStatus status;                ///< whether to trust the result
  std::vector<double> values;      ///< the requested values, descending
  std::optional<HostMatrix<T>> v;  ///< n x values.size(), if requested
  double norm = 0;                 ///< ||A||_2, the largest value
  /// The rows of U, computed from rows of A, which must exist as long: a column for each value above max(m, n) eps
  /// norm. Without columns if vectors were not requested.
  RowSource<T> u;
};

/// Computes A = U diag(values) V^H for a real or complex matrix with m >= n that may be larger than memory.
///
/// A        m x n, read in blocks of rows: once for the values, twice with vectors, and once more for U. If R
///          leaves the range, A is read twice more, to scale it by a power of two.
/// options  vectors and largest; the other options are for the decomposition of R.
/// Returns  values, V, the rows of U, and a status.
/// Throws   ArgumentError for m < n, for SvdVectors::all and as svd; the errors of reading.
/// Waits    for the computation.
/// Method   svd of R from streamed_r gives V. W = A V diag(1 / values) loses orthogonality where values are small, and
///          the R of a second pass, W = U R_w, restores it.
template <class T>
StreamedSvd<T> streamed_svd(Graph& g, const RowSource<T>& A, const SvdOptions& options = {});

}  // namespace tesela
