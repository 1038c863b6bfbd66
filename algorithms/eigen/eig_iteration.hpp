#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/codelets/iterations/iteration_steps.hpp>

#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace tesela {

using kernels::StopTest;

/// The classical diagonalizations, which transform D = A into a diagonal matrix by similarities.
enum class EigIteration : std::uint8_t {
  qr,           ///< D = Q R, D = R Q; the default
  lr,           ///< D = L U without pivoting, D = U L; fails for a zero pivot
  cholesky_lr,  ///< D = R R^T, D = R^T R; A is shifted first if it is not positive definite
};

/// Method for Q and R in a QR iteration.
enum class QrFactor : std::uint8_t {
  givens,        ///< plane rotations; the default, and the only method that keeps a band
  householder,   ///< reflectors
  gram_schmidt,  ///< classical Gram-Schmidt: Q loses orthogonality with the square of the condition
  mgs,           ///< modified Gram-Schmidt: Q loses orthogonality with the condition
  cgs2,          ///< classical Gram-Schmidt, twice
  cholesky_qr2,  ///< Cholesky factor of D^T D, twice
  tiles          ///< reflectors by tiles: for large matrices
};

/// Shift of a QR iteration.
enum class QrShift : std::uint8_t {
  none,      ///< no shift, as in the Cinvestav thesis
  wilkinson  ///< the eigenvalue of the last 2 x 2 block that is nearer to its last element; converges fastest
};

/// Return the choices with the names that `tesela eig` accepts; the first is the default.
std::span<const Named<EigIteration>> eig_iterations();
std::span<const Named<QrFactor>> qr_factors();
std::span<const Named<StopTest>> stop_tests();
std::span<const Named<QrShift>> qr_shifts();

/// Largest tolerance; with a larger one the eigenvalues would not have three digits.
inline constexpr double largest_iteration_tolerance = 1e-3;

/// Options of eig_iteration.
struct EigIterationOptions {
  EigIteration method = EigIteration::qr;
  QrFactor factor = QrFactor::givens;
  StopTest stop = StopTest::off_diagonal;
  QrShift shift = QrShift::none;
  bool deflate = false;            ///< QR only: removes the last row once its off-diagonal elements are negligible
  bool positive_diagonal = false;  ///< QR only: makes R's diagonal positive, so that Q and R are unique
  /// An element is negligible up to tolerance ||A||_F; 0 selects 1e-13, in single precision 1e-5.
  double tolerance = 0;
  index_t max_iterations = 0;  ///< 0 selects 2000 n; if each step is a graph, at most max(30 n, 6000)
  bool vectors = true;         ///< whether to compute eigenvectors
  /// Selected eigenvalues, as in SymmetricEigOptions.
  std::optional<IndexRange> positions = {};
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

/// An off-diagonal element of the last D.
struct RemainingEntry {
  index_t row = 0, column = 0;  ///< from 0
  double value = 0;             ///< the element
};

/// Facts about an iteration.
struct IterationFacts {
  index_t rotations = 0;                  ///< number of plane rotations
  index_t kernels = 0;                    ///< tasks that executed steps
  index_t remain = 0;                     ///< elements of the last D that are not negligible
  std::vector<RemainingEntry> remaining;  ///< the eight largest of these elements
  /// ||.||_F of all these elements and their mirror images, relative to ||A||_F. It bounds the error that they cause in
  /// an eigenvalue (Weyl).
  double remaining_norm = 0;
  double tolerance = 0;  ///< the tolerance in use
  double shift = 0;      ///< shift that made A positive definite (Gershgorin)
  /// ratio = max |l_(i+1) / l_i| of the iterated eigenvalues, ordered by magnitude; predicted = ln(tolerance) /
  /// ln(ratio), about the number of iterations without shifts. 1 and infinity if two eigenvalues have equal magnitude.
  double ratio = 0, predicted = 0;
  double trace_drift = 0, frobenius_drift = 0;  ///< |trace or norm of the last D minus A's| / ||A||_F
};

/// Result of eig_iteration. `iterations`, `half_width` (of a D that stayed a band) and `deflated` of SymmetricEig
/// describe the iteration. Without convergence the status names the largest remaining element.
template <class T>
struct EigIterationResult : SymmetricEig<T>, IterationFacts {};

/// Solves A X = X diag(values) for a dense symmetric matrix by a classical iteration, for study: symmetric_eig is
/// faster by orders of magnitude (docs/qr-iteration.md).
///
/// A        n x n in tiles of whole columns; the lower triangle is read.
/// Returns  eigenpairs and facts. The status is zero_pivot if LR meets a zero pivot, Cholesky LR a pivot that is not
///          positive after the shift by Gershgorin's bound, or Gram-Schmidt or Cholesky QR a dependent column.
/// Throws   ArgumentError for other shapes, a tolerance outside 0 … largest_iteration_tolerance, negative iterations,
///          options of QR with LR, positions outside 0 … n, and low > high.
/// Waits    for the graph.
/// Method   A is scaled by a power of two. QR: P = I, D = A; D = Q R, P = P Q, D = R Q until D is diagonal. LR steps
///          similarly; their vectors come from inverse iteration on A. With rotations, a band narrower than n/4 stays a
///          band: O(half_width^2 n) operations per step. Up to order 128 the whole loop is one task. Sources:
///          Rutishauser 1958; Francis 1961; Kublanovskaya 1961; Wilkinson, The Algebraic Eigenvalue Problem, chapter 8.
template <class T>
EigIterationResult<T> eig_iteration(Graph& g, const TileMatrix<T>& A, const EigIterationOptions& options = {});

/// Solves the problem for the tridiagonal matrix with diagonal d (n) and off-diagonal e (n - 1), by QR iterations with
/// rotations.
template <class T>
EigIterationResult<T> eig_iteration(Graph& g, std::span<const T> d, std::span<const T> e,
                                    const EigIterationOptions& options = {});

}  // namespace tesela
