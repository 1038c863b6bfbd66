#pragma once

#include <tesela/algorithms/eigen/eigen_range.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tesela {

/// Method for the eigenvalues and eigenvectors of a symmetric tridiagonal matrix.
enum class TridiagonalEigMethod : std::uint8_t {
  automatic,  ///< bisection for up to an eighth of the spectrum, and on GPUs for values; else divide_and_conquer
  /// Cuppen's method with both deflations and Gu and Eisenstat's vectors; values only in O(n^2). For vectors.
  divide_and_conquer,
  bisection,  ///< Sturm counts, and vectors by inverse iteration. For a small part of the spectrum
  ql          ///< implicit QL steps, one after another
};

/// Returns the methods with their names; the first is the default.
std::span<const Named<TridiagonalEigMethod>> tridiagonal_eig_methods();

/// Options of tridiagonal_eig and tridiagonal_eigenvalues.
struct TridiagonalEigOptions {
  TridiagonalEigMethod method = TridiagonalEigMethod::automatic;
  std::optional<IndexRange> range = {};  ///< positions in the ascending spectrum; empty: all
  /// Selected values are in [low, high), and at a position of `range` if both are given.
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  int gpu = -1;  ///< if not negative, the GPU for all tasks: GraphOptions::gpu
  // 0 selects a value for the workers.
  index_t gpus_from = 0;  ///< smallest order of a merge or a bisection on a GPU
  // Divide and conquer:
  index_t leaf = 0;   ///< largest order of a leaf, solved by one task: by QL steps up to 64, else by LAPACK's stedc
  index_t rows = 0;   ///< rows per tile of vectors
  index_t batch = 0;  ///< eigenvalues, and columns of vectors, per task
};

/// Outcome of a tridiagonal eigenproblem.
struct TridiagonalEigStatus {
  /// Verdict on a problem.
  enum class Verdict : std::uint8_t {
    ok,             ///< values and vectors are valid
    not_finite,     ///< d(where), or e(where) if off_diagonal, is NaN or infinite
    not_converged,  ///< QL steps, or inverse iteration, did not converge at row or vector `where`
    overflow        ///< an eigenvalue of finite elements exceeds the largest number of T, and is infinite
  };
  Verdict verdict = Verdict::ok;
  index_t where = -1;                                 ///< from 0
  bool off_diagonal = false;                          ///< whether `where` counts off-diagonal elements
  bool ok() const { return verdict == Verdict::ok; }  ///< whether values and vectors are valid
};
/// Describes the status in words; "ok" without failure.
std::string to_string(const TridiagonalEigStatus& status);

/// Result of tridiagonal_eig and tridiagonal_eigenvalues.
template <class T>
struct TridiagonalEigResult {
  std::vector<T> values;  ///< the selected eigenvalues, ascending; empty unless the status is ok or overflow
  TridiagonalEigStatus status;
  TridiagonalEigMethod method = TridiagonalEigMethod::automatic;  ///< the method in use
  index_t blocks = 0;      ///< number of blocks into which negligible off-diagonal entries divide T
  index_t merges = 0;      ///< merges of divide and conquer
  index_t deflated = 0;    ///< number of `merged` eigenpairs that their merges did not change
  index_t merged = 0;      ///< number of eigenpairs that entered merges
  index_t iterations = 0;  ///< largest number of steps for a secular root, or halvings of an interval
  index_t sweeps = 0;      ///< sweeps of QL
};

/// Computes eigenvalues of the symmetric tridiagonal matrix with diagonal d (n) and off-diagonal e (n - 1), without
/// vectors (LAPACK sterf, stebz).
///
/// Returns  eigenvalues, ascending, with errors of a few eps ||T||. A NaN or infinity in d or e is a status.
/// Throws   ArgumentError for lengths that do not conform, a range outside 0 … n, or low > high.
/// Waits    for all tasks.
/// Method   T is scaled by a power of two, so that its size does not matter. Divide and conquer: secular equations need
///          only the first and last row of the vectors. Bisection on Sturm counts: a task is a batch of values (W.
///          Kahan, Stanford report CS41, 1966). A part of the spectrum equals the same part of the whole spectrum bit
///          by bit; a value that rounding errors take out of [low, high) becomes the nearest number inside.
template <class T>
TridiagonalEigResult<T> tridiagonal_eigenvalues(Runtime& runtime, std::span<const T> d, std::span<const T> e,
                                                const TridiagonalEigOptions& options = {});

/// Computes eigenvalues, ascending, and orthonormal eigenvectors T X = X diag(values), of a part of the spectrum or all
/// (LAPACK stedc, stein, steqr).
///
/// X        n x number of selected values (tridiagonal_positions) in any tiles; becomes the eigenvectors.
/// Returns  values and a status. If d or e has a NaN or infinity, or the steps do not converge, X is undefined.
/// Throws   as tridiagonal_eigenvalues, and ArgumentError for an X of another shape.
/// Waits    for the values; X may be read at once.
/// Method   With each method a part of the values equals the same part of the whole spectrum bit by bit. Divide and
///          conquer: the last merge computes only the selected vectors, to rounding as in the whole (M. Gu, S.
///          Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995; J. Rutter, LAPACK Working Note 69). Bisection needs O(n k)
///          memory for k vectors. Inverse iteration runs in each block of T and makes the vectors of neighbours closer
///          than ||T|| / 1000 orthonormal after each step (I. Ipsen, SIAM Review 39, 1997). A factor 2^k in T scales
///          the values exactly and does not change X.
template <class T>
TridiagonalEigResult<T> tridiagonal_eig(Runtime& runtime, std::span<const T> d, std::span<const T> e,
                                        const TileMatrix<T>& X, const TridiagonalEigOptions& options = {});

/// Returns the positions that the options select in the ascending spectrum of T: `range` without the values outside
/// [low, high) by tridiagonal_count_below. Ignores low and high if an element of T is not finite. Throws as
/// tridiagonal_eigenvalues.
template <class T>
IndexRange tridiagonal_positions(std::span<const T> d, std::span<const T> e, const TridiagonalEigOptions& options);

/// Returns the number of eigenvalues of T below x, from the signs of the pivots of T - x I in the precision of T. It
/// never decreases as x grows, so that the difference of counts at b and a is the number of eigenvalues in [a, b).
/// Throws ArgumentError if an element of T is not finite or x is NaN.
template <class T>
index_t tridiagonal_count_below(std::span<const T> d, std::span<const T> e, T x);

}  // namespace tesela
