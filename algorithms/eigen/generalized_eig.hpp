#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>

namespace tesela {

/// The generalized symmetric eigenproblems, with A symmetric and B symmetric positive definite.
enum class GeneralizedKind : std::uint8_t {
  ax_lambda_bx,  ///< A x = lambda B x, X^T B X = I
  abx_lambda_x,  ///< A B x = lambda x, X^T B X = I
  bax_lambda_x   ///< B A x = lambda x, X^T B^-1 X = I
};

/// The kinds by LAPACK's number of them (itype); the first is the default.
std::span<const Named<GeneralizedKind>> generalized_kinds();

struct GeneralizedEigOptions {
  GeneralizedKind kind = GeneralizedKind::ax_lambda_bx;
  SymmetricEigOptions eig = {};  ///< of the symmetric problem that is left; low and high are of lambda
};

/// Eigenvalues and eigenvectors of a symmetric pair (LAPACK sygvd): B = R^T R by tiles, then symmetric_eig of C, which
/// is R^-T A R^-1 (kind 1) or R A R^T (2, 3), then X = R^-1 Y (1, 2) or R^T Y (3). A and B are n x n in square tiles
/// that cut alike, of which the lower triangle is read; both are lost. Both are scaled by powers of two first, so that
/// a power of two in A, and a power of four in B, goes into values and X to the bit; values beyond the range of double
/// are infinite. The norm in the result is the largest |lambda|. Waits. The status says where A or B is not finite,
/// which leading minor of B is not positive (row, counted from 1), and where C overflows, as it may beside a B whose
/// diagonal spans the range of T. Throws ArgumentError for other shapes, and as symmetric_eig. Errors grow with the
/// condition of B (kind 1) as LAPACK's do. Golub, Van Loan, "Matrix computations", 8.7.2.
template <class T>
SymmetricEig<T> generalized_eig(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                const GeneralizedEigOptions& options = {});

/// The edge of A's and B's tiles that suits the runtime's workers.
index_t suitable_generalized_tile(const Runtime& runtime, index_t n);

}  // namespace tesela
