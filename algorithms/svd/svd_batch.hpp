#pragma once

#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// Largest min(m, n) and largest max(m, n) that svd_batch accepts.
inline constexpr index_t largest_svd_batch_side = 64, largest_svd_batch_length = 1024;

/// A matrix of a batch, from 0, with its failure.
struct SvdBatchFailure {
  index_t matrix = 0;
  SvdStatus status;
};
/// Describes the failure in words, with the matrix counted from 1.
std::string to_string(const SvdBatchFailure& failure);

/// The decompositions of K matrices, side by side.
template <class T>
struct SvdBatch {
  std::vector<SvdBatchFailure> failures;  ///< in the order of the matrices; empty if none failed
  HostMatrix<real_t<T>> values;           ///< min(m, n) x K, descending; column k belongs to matrix k
  std::optional<HostMatrix<T>> u, v;      ///< m x (c K) and n x (c' K), with the c columns of matrix k from c k on
  bool ok() const { return failures.empty(); }  ///< whether nothing failed
};

/// Computes A_k = U_k diag(s_k) V_k^H for K matrices m x n, min(m, n) <= 64, max(m, n) <= 1024 (LAPACK gesdd, matrix by
/// matrix).
///
/// A        m x (n K) in tiles m x (n kb), matrix k in columns n k …; only read.
/// S        min(m, n) x K in tiles of kb columns; column k becomes the values of matrix k, descending. A value beyond
///          the range of T becomes infinite.
/// U, V     m x (c K) and n x (c' K) in tiles of c kb and c' kb columns: c = c' = min(m, n), or m and n; null for the
///          values alone.
/// Returns  the matrices with a NaN or an infinity or without convergence, whose results are NaN, and those with the
///          status `overflow`. Other matrices are not affected.
/// Throws   ArgumentError for other shapes and tiles.
/// Waits    for the graph.
/// Method   A power of two scales each matrix. QR with rows in descending order and pivoting of columns, QR of R^T,
///          then one-sided Jacobi rotations of its triangle (Z. Drmač, K. Veselić, SIAM J. Matrix Anal. Appl. 29, 2008;
///          LAPACK gejsv), one matrix in each lane of the vector unit, or in a warp or a thread block of a GPU. For A =
///          D1 B D2 with diagonal D1 and D2 and a well-conditioned B small values have small relative errors too.
///          Complex matrices: gesdd, on cores only.
template <class T>
std::vector<SvdBatchFailure> svd_batch(Graph& g, const TileMatrix<T>& A, const TileMatrix<real_t<T>>& S,
                                       const TileMatrix<T>* U = nullptr, const TileMatrix<T>* V = nullptr);

/// Computes it for `count` matrices side by side in host memory, m x (n count).
///
/// Throws   ArgumentError for other shapes, and for memory of a device.
/// Waits    for the computation.
template <class T>
SvdBatch<T> svd_batch(Runtime& runtime, MatrixView<T> a, index_t count, SvdVectors vectors = SvdVectors::economic);
template <class T>
SvdBatch<T> svd_batch(Graph& g, MatrixView<T> a, index_t count, SvdVectors vectors = SvdVectors::economic);

/// Returns kb for matrices of this shape: about a millisecond of a core, or with a GPU up to 256 MiB.
template <class T>
index_t svd_batch_size(const WorkerCounts& workers, Shape shape);

}  // namespace tesela
