#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/codelets/iterations/iteration_steps.hpp>

#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace tesela {

using kernels::StopTest;

/// The classical diagonalizations, which turn D = A into a diagonal matrix by similarities.
enum class EigIteration : std::uint8_t {
  qr,           ///< D = Q R, D = R Q
  lr,           ///< D = L U without pivoting, D = U L
  cholesky_lr,  ///< D = R R^T, D = R^T R
};

/// How a QR iteration makes Q and R.
enum class QrFactor : std::uint8_t { givens, householder, gram_schmidt, mgs, cgs2, cholesky_qr2, tiles };

enum class QrShift : std::uint8_t {
  none,
  wilkinson  ///< the eigenvalue of the last 2 x 2 block that is nearer to its last element
};

/// All of them as `tesela eig` names them; the first is the default.
std::span<const Named<EigIteration>> eig_iterations();
std::span<const Named<QrFactor>> qr_factors();
std::span<const Named<StopTest>> stop_tests();
std::span<const Named<QrShift>> qr_shifts();

/// With more than that an iteration's values would not have three digits.
inline constexpr double largest_iteration_tolerance = 1e-3;

struct EigIterationOptions {
  EigIteration method = EigIteration::qr;
  QrFactor factor = QrFactor::givens;
  StopTest stop = StopTest::off_diagonal;
  QrShift shift = QrShift::none;
  bool deflate = false;            ///< of QR: a last row whose elements beside the diagonal are negligible is done
  bool positive_diagonal = false;  ///< of QR: R's diagonal, so that Q and R are unique
  double tolerance = 0;            ///< an element up to this times ||A||_F is negligible; 0: 1e-13, single 1e-5
  index_t max_iterations = 0;      ///< 0: 2000 n; where a step is a graph not above 30 n, but 6000
  bool vectors = true;
  /// As in SymmetricEigOptions.
  std::optional<IndexRange> positions = {};
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

/// An element beside the diagonal of the last D.
struct RemainingEntry {
  index_t row = 0, column = 0;  ///< counted from 0
  double value = 0;
};

/// What an iteration tells besides its eigenpairs.
struct IterationFacts {
  index_t rotations = 0;
  index_t kernels = 0;                    ///< tasks that took steps
  index_t remain = 0;                     ///< elements of the last D that are not negligible
  std::vector<RemainingEntry> remaining;  ///< the eight largest of them
  /// All of them with their mirror images: ||.||_F over ||A||_F. They move no value by more (Weyl), and nothing else
  /// bounds what they do.
  double remaining_norm = 0;
  double tolerance = 0;  ///< the one that was taken
  double shift = 0;      ///< that made A positive definite (Gershgorin)
  /// max |l_(i+1) / l_i| of what iterates, by magnitude, and ln(tolerance) / ln of it: about so many iterations are
  /// needed without shifts. 1 and infinity where two have one magnitude.
  double ratio = 0, predicted = 0;
  double trace_drift = 0, frobenius_drift = 0;  ///< |of the last D - of A| / ||A||_F
};

/// What it found: `iterations`, `half_width` (of a D that was kept as a band) and `deflated` of SymmetricEig tell of
/// the iteration; without convergence its status names the largest element that remains.
template <class T>
struct EigIterationResult : SymmetricEig<T>, IterationFacts {};

/// A X = X diag(values) for a dense symmetric matrix by a classical iteration, which loses to symmetric_eig by orders
/// of magnitude (docs/qr-iteration.md): P = I; D = A; D = Q R, P = P Q, D = R Q until D is diagonal, or LR steps, whose
/// vectors come by inverse iteration on A. A is n x n in tiles of whole columns; its lower triangle is read. A band
/// that is less than n/4 wide stays one with rotations: O(half_width^2 n) operations a step. Up to order 128 the whole
/// loop is one task. A is scaled by a power of two first. Where LR meets a pivot that is zero, Cholesky LR one that is
/// not positive after the shift by Gershgorin's bound, and Gram-Schmidt or Cholesky QR a column that depends on those
/// before it, the status is zero_pivot. Waits. Throws ArgumentError for other shapes, tolerances below 0 or
/// above largest_iteration_tolerance, negative iterations, QR's options with LR, positions outside 0 … n, and low >
/// high.
///
/// Sources: Rutishauser 1958; Francis 1961; Kublanovskaya 1961; Wilkinson, The Algebraic Eigenvalue Problem, chapter 8.
template <class T>
EigIterationResult<T> eig_iteration(Graph& g, const TileMatrix<T>& A, const EigIterationOptions& options = {});

/// The same of the tridiagonal matrix with diagonal d (n) and off-diagonal e (n - 1), QR iterations alone.
template <class T>
EigIterationResult<T> eig_iteration(Graph& g, std::span<const T> d, std::span<const T> e,
                                    const EigIterationOptions& options = {});

}  // namespace tesela
