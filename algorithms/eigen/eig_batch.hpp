#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <string>
#include <vector>

namespace tesela {

/// Largest order that eig_batch accepts.
inline constexpr index_t largest_batch_order = 128;

/// Options of eig_batch.
struct EigBatchOptions {
  bool vectors = true;  ///< whether to compute eigenvectors
};

/// A matrix of a batch, from 0, with its failure.
struct EigBatchFailure {
  index_t matrix = 0;
  SymmetricEigStatus status;
};
std::string to_string(const EigBatchFailure& failure);

/// The matrices of a batch that failed, in order. The results of the others are complete.
struct EigBatchResult {
  std::vector<EigBatchFailure> failures;        ///< empty if all matrices are solved
  bool ok() const { return failures.empty(); }  ///< whether nothing failed
};

/// Solves A_k X_k = X_k diag(w_k) for K symmetric or Hermitian matrices of one order n <= 128 (LAPACK syev or heev,
/// matrix by matrix).
///
/// A        n x (K n) in tiles n x (kb n), matrix k in columns k n …; the lower triangles are read. Overwritten by the
///          eigenvectors, the largest component of each positive; unchanged without vectors.
/// W        n x K in tiles n x kb; column k becomes the eigenvalues w_k, ascending. A value beyond the range of T
///          becomes infinite.
/// Returns  the matrices with a NaN or an infinity, or without convergence. Their values are NaN; other matrices are
///          not affected.
/// Throws   ArgumentError for other shapes and tiles.
/// Waits    for the graph.
/// Method   Each matrix is scaled by a power of two, reduced to tridiagonal form and solved by implicit QL steps. A
///          task is a tile; tiles that are too large for a core run on a GPU if there is one.
template <class T>
EigBatchResult eig_batch(Graph& g, const TileMatrix<T>& A, const TileMatrix<real_t<T>>& W,
                         const EigBatchOptions& options = {});

/// Returns kb for matrices of order n: on cores about one millisecond per task and a multiple of the matrices that a
/// core processes together; with a GPU enough matrices to keep it busy, at most 65536 and 256 MiB.
template <class T>
index_t eig_batch_size(const Runtime& runtime, index_t n);

}  // namespace tesela
