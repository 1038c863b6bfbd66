#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>

namespace tesela {

/// The generalized eigenproblems, with A symmetric or Hermitian and B so and positive definite.
enum class GeneralizedKind : std::uint8_t {
  ax_lambda_bx,  ///< A x = lambda B x, X^H B X = I
  abx_lambda_x,  ///< A B x = lambda x, X^H B X = I
  bax_lambda_x   ///< B A x = lambda x, X^H B^-1 X = I
};

/// Returns the kinds by LAPACK's number (itype); the first is the default.
std::span<const Named<GeneralizedKind>> generalized_kinds();

/// Options of generalized_eig.
struct GeneralizedEigOptions {
  GeneralizedKind kind = GeneralizedKind::ax_lambda_bx;
  SymmetricEigOptions eig = {};  ///< options of the reduced symmetric problem; low and high apply to lambda
};

/// Computes eigenvalues and eigenvectors of a symmetric or Hermitian pair (LAPACK sygvd, hegvd).
///
/// A, B     symmetric or Hermitian, B positive definite, n x n in square tiles of one size; the lower triangles are
///          read. Both are overwritten.
/// Returns  eigenpairs; `norm` is the largest |lambda|. The status reports an A or B that is not finite, the leading
///          minor of B that is not positive (row, from 1), and an overflow in C, possible if B's diagonal spans the
///          range of T.
/// Throws   ArgumentError for other shapes, and as symmetric_eig.
/// Waits    for the graph.
/// Method   B = R^H R by tiles; symmetric_eig of C = R^-H A R^-1 (kind 1) or R A R^H (kinds 2, 3); X = R^-1 Y (kinds 1,
///          2) or R^H Y (kind 3). A and B are scaled by powers of two first, so that a factor 2^k in A, and 4^k in B,
///          scales values and X exactly; values beyond the range of double become infinite. As in LAPACK, errors grow
///          with the condition of B (kind 1). Golub, Van Loan, "Matrix computations", 8.7.2.
template <class T>
SymmetricEig<T> generalized_eig(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                const GeneralizedEigOptions& options = {});

/// Solves the problem for matrices in memory, on the host or on one device: chooses the tiles, and waits. a and b are
/// overwritten. Throws ArgumentError also for a diagonal that is not real.
template <class T>
SymmetricEig<T> generalized_eig(Runtime& runtime, MatrixView<T> a, MatrixView<T> b,
                                const GeneralizedEigOptions& options = {});

/// Returns the tiles of A and B that generalized_eig chooses for these workers.
TileShape generalized_eig_tile(const WorkerCounts& workers, index_t n);

}  // namespace tesela
