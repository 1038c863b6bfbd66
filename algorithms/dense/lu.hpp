#pragma once

#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/codelets/dense/getrf.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <memory>
#include <span>
#include <vector>

namespace tesela {

using kernels::Pivoting;

/// Returns the kinds of pivoting with their names and descriptions.
std::span<const Named<Pivoting>> pivotings();

/// Returns the tile shape for the LU factorization of order n: whole columns. `complex`: the matrix has complex
/// elements.
TileShape lu_tile(const Runtime& runtime, index_t n, bool complex = false);

/// Returns the memory that lu needs for order n, on the host and on GPUs, which are assumed to have equal shares;
/// without residues (docs/factorizations.md).
MemoryPlan plan_lu(const WorkerCounts& workers, index_t n, std::size_t element, TileShape tile);

/// The factorization P A = L U, L unit lower and U upper triangular (LAPACK getrf): 2 n^3 / 3 flops.
///
/// A       n x n in tiles of whole columns.
/// Method  Step k factors tile column k recursively (Toledo 1997), with pivots on the diagonal or with a tournament for
///         32 columns at a time (CALU: Grigori, Demmel, Xiang 2011). One task updates each column to the right: row
///         exchanges, U = L^-1 A, A -= L U. The column of the next panel is updated first, so that panels overlap with
///         updates. A matrix that exceeds the GPUs' memory is factored in blocks of columns, one after the other
///         (ColumnBlock).
template <class T>
class LuFactorization {
 public:
  /// Inserts the tasks of the factorization. Waits for earlier blocks if there are several.
  LuFactorization(Graph& g, const TileMatrix<T>& A, Pivoting pivoting);

  /// Returns the index, from 1, of the first pivot that is zero or not finite; 0 if there is none. Waits for the
  /// panels.
  index_t zero_pivot() const;
  /// Returns L below the diagonal and U on and above it.
  const TileMatrix<T>& factors() const;
  /// Returns the row order: row i of P A is row rows()[i] of A, from 0. Waits for the panels.
  std::vector<index_t> rows() const;

  /// Inserts X = A^-1 X (LAPACK getrs); X in tiles of whole columns. Graph::wait() returns 1 + j if column j is the
  /// first column of X that is not finite, in the input or through overflow. If rows of A have very different sizes,
  /// products of U and X can overflow although X does not; lu_solve scales such systems (RangeScaling). Throws
  /// ArgumentError for another shape.
  void solve(Graph& g, const TileMatrix<T>& X) const;

 private:
  struct Plan;
  std::shared_ptr<const Plan> plan_;
};

/// Inserts the factorization P A = L U (LAPACK getrf).
///
/// A         n x n in tiles of whole columns; overwritten by L and U. After a zero pivot A is unusable.
/// pivoting  `tournament` for general matrices; `none` for matrices that need no pivoting, such as diagonally dominant
///           ones.
/// Returns   the factorization, which shares A's tiles.
/// Throws    ArgumentError if A is not square or its tiles are not whole columns.
template <class T>
LuFactorization<T> lu(Graph& g, const TileMatrix<T>& A, Pivoting pivoting = Pivoting::tournament);

/// P A = L U for an m x n matrix.
template <class T>
struct LuFactors {
  HostMatrix<T> factors;      ///< L below the diagonal, with a unit diagonal, and U on and above it
  std::vector<index_t> rows;  ///< row i of P A is row rows[i] of A, from 0
  index_t zero_pivot = 0;     ///< first pivot that is zero, from 1; 0 if there is none
};

/// Factors P A = L U for a matrix in host memory, which is not changed (LAPACK getrf).
///
/// Returns  the factors, also of singular matrices. NaN spreads.
/// Waits    for the graph.
/// Method   lu() for square matrices from order 256 whose pivots do not vanish; otherwise LAPACK on the calling thread.
template <class T>
LuFactors<T> lu_factors(Runtime& runtime, const MatrixView<const T>& A);

}  // namespace tesela
