#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>

namespace tesela {

/// The generalized symmetric eigenproblems, with A symmetric and B symmetric positive definite.
enum class GeneralizedKind : std::uint8_t {
  ax_lambda_bx,  ///< A x = lambda B x, X^T B X = I
  abx_lambda_x,  ///< A B x = lambda x, X^T B X = I
  bax_lambda_x   ///< B A x = lambda x, X^T B^-1 X = I
};

/// Returns the kinds by LAPACK's number (itype); the first is the default.
std::span<const Named<GeneralizedKind>> generalized_kinds();

/// Options of generalized_eig.
struct GeneralizedEigOptions {
  GeneralizedKind kind = GeneralizedKind::ax_lambda_bx;
  SymmetricEigOptions eig = {};  ///< options of the reduced symmetric problem; low and high apply to lambda
};

/// Computes eigenvalues and eigenvectors of a symmetric pair (LAPACK sygvd).
///
/// A, B     symmetric, B positive definite, n x n in square tiles of one size; the lower triangles are read. Both are
///          overwritten.
/// Returns  eigenpairs; `norm` is the largest |lambda|. The status reports an A or B that is not finite, the leading
///          minor of B that is not positive (row, from 1), and an overflow in C, possible if B's diagonal spans the
///          range of T.
/// Throws   ArgumentError for other shapes, and as symmetric_eig.
/// Waits    for the graph.
/// Method   B = R^T R by tiles; symmetric_eig of C = R^-T A R^-1 (kind 1) or R A R^T (kinds 2, 3); X = R^-1 Y (kinds 1,
///          2) or R^T Y (kind 3). A and B are scaled by powers of two first, so that a factor 2^k in A, and 4^k in B,
///          scales values and X exactly; values beyond the range of double become infinite. As in LAPACK, errors grow
///          with the condition of B (kind 1). Golub, Van Loan, "Matrix computations", 8.7.2.
template <class T>
SymmetricEig<T> generalized_eig(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                const GeneralizedEigOptions& options = {});

/// Solves the problem for matrices in memory, on the host or on one device: chooses the tiles, and waits. a and b are
/// overwritten.
template <class T>
SymmetricEig<T> generalized_eig(Runtime& runtime, MatrixView<T> a, MatrixView<T> b,
                                const GeneralizedEigOptions& options = {});

/// Returns the tiles of A and B that generalized_eig chooses for these workers.
TileShape generalized_eig_tile(const WorkerCounts& workers, index_t n);

}  // namespace tesela
