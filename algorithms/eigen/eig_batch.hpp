#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <string>
#include <vector>

namespace tesela {

/// The largest order that eig_batch takes.
inline constexpr index_t largest_batch_order = 128;

struct EigBatchOptions {
  bool vectors = true;
};

/// One matrix of a batch, counted from 0, and how it ended.
struct EigBatchFailure {
  index_t matrix = 0;
  SymmetricEigStatus status;
};
std::string to_string(const EigBatchFailure& failure);

/// The matrices of a batch that have no eigenvalues, in order; of the others all is there.
struct EigBatchResult {
  std::vector<EigBatchFailure> failures;
  bool ok() const { return failures.empty(); }
};

/// A_k X_k = X_k diag(w_k) for K symmetric matrices of one order n <= 128 (LAPACK syev, matrix by matrix): A is n x (K
/// n), matrix k in its columns k n …, in tiles n x (kb n); the lower triangles are read. Column k of W, n x K in tiles
/// n x kb, becomes the values w_k, ascending; A becomes the vectors, the largest component of each positive, or without
/// vectors stays. Each matrix is scaled by a power of two of its own, reduced to tridiagonal form and solved by
/// implicit QL steps; a task is a tile, and larger ones than suit a core are a GPU's, where there is one. A matrix with
/// a NaN or an infinity, or without convergence, is named in the result: its values are NaN, and no other one notices.
/// Where a value is beyond T's range, it is infinite. Waits. Throws ArgumentError for other shapes and tiles.
template <class T>
EigBatchResult eig_batch(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& W, const EigBatchOptions& options = {});

/// kb for matrices of order n: on cores about a millisecond a task, and whole groups of what a core takes side by side;
/// with a GPU as many as keep it busy, at most 65536 of them and 256 MiB.
template <class T>
index_t suitable_eig_batch(const Runtime& runtime, index_t n);

}  // namespace tesela
