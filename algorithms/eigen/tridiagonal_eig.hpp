#pragma once

#include <tesela/algorithms/eigen/eigen_range.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tesela {

/// Who finds the eigenvalues of a symmetric tridiagonal matrix, and the eigenvectors.
enum class TridiagonalEigMethod : std::uint8_t {
  automatic,  ///< divide_and_conquer; without vectors bisection, on GPUs or for less than an eighth of the values
  divide_and_conquer,  ///< Cuppen's, with both deflations and Gu and Eisenstat's vectors; values alone in O(n^2)
  bisection,           ///< values only: on Sturm counts
  ql                   ///< implicit QL steps
};

/// The methods by name; the first is the default.
std::span<const Named<TridiagonalEigMethod>> tridiagonal_eig_methods();

struct TridiagonalEigOptions {
  TridiagonalEigMethod method = TridiagonalEigMethod::automatic;
  std::optional<IndexRange> range = {};  ///< of the ascending spectrum; nothing: all
  int gpu = -1;                          ///< all on this GPU: GraphOptions::gpu of the graphs that it makes
  // 0: what suits the workers (docs/architecture.md).
  index_t gpus_from = 0;  ///< order from which on GPUs, where there are some, do a merge, or bisection
  // Divide and conquer:
  index_t leaf = 0;   ///< order from which on down one task does all: LAPACK's stedc, up to 64 QL steps
  index_t rows = 0;   ///< of a tile of vectors
  index_t batch = 0;  ///< eigenvalues, and columns of vectors, of one task
};

/// How a tridiagonal eigenproblem ended.
struct TridiagonalEigStatus {
  enum class Verdict : std::uint8_t {
    ok,
    not_finite,     ///< d(where), or e(where) where off_diagonal says so, is NaN or infinite
    not_converged,  ///< QL steps, at row `where` of T, after twenty times as many as are usual
    overflow        ///< an eigenvalue of finite elements is larger than T's largest number, and infinite
  };
  Verdict verdict = Verdict::ok;
  index_t where = -1;  ///< counted from 0
  bool off_diagonal = false;
  bool ok() const { return verdict == Verdict::ok; }
};
/// In words; "ok" where nothing is wrong.
std::string to_string(const TridiagonalEigStatus& status);

/// What tridiagonal_eig found, and what it took.
template <class T>
struct TridiagonalEigResult {
  std::vector<T> values;  ///< ascending, of the range; empty unless the status is ok or overflow
  TridiagonalEigStatus status;
  TridiagonalEigMethod method = TridiagonalEigMethod::automatic;  ///< the one that was taken
  index_t blocks = 0;      ///< that T falls into where off-diagonal entries are negligible
  index_t merges = 0;      ///< of divide and conquer
  index_t deflated = 0;    ///< eigenpairs that their merges did not change, of `merged`
  index_t merged = 0;      ///< eigenpairs that entered merges
  index_t iterations = 0;  ///< for a secular root, at most; halvings of an interval
  index_t sweeps = 0;      ///< of QL
};

/// Eigenvalues of the symmetric tridiagonal matrix T with diagonal d (n) and off-diagonal e (n - 1), ascending, without
/// vectors (LAPACK sterf, stebz): each right to a few eps ||T||. By divide and conquer the merges' secular equations
/// need of the vectors only their first and last row; by bisection on Sturm counts a task is a batch of values (W.
/// Kahan, Stanford report CS41, 1966). Values of a part are those that the same method finds of the whole, to the bit.
/// T is scaled by a power of two first, so that its size does not matter. Waits. A NaN or Inf in d or e is a status.
/// Throws ArgumentError for lengths that do not fit, or a range outside 0 … n.
template <class T>
TridiagonalEigResult<T> tridiagonal_eigenvalues(Runtime& runtime, std::span<const T> d, std::span<const T> e,
                                                const TridiagonalEigOptions& options = {});

/// T X = X diag(values): eigenvalues of a part of the spectrum, or of all, ascending, and their orthonormal
/// eigenvectors, the columns of X (n x range size, any tiles; LAPACK stedc, steqr). Values of a part are those of the
/// whole to the bit, its vectors to rounding; for vectors that nobody wants the last merge does no products. A power of
/// two in T goes into the values to the bit, and into X not at all. Waits; X may be read at once. A NaN or Inf in d or
/// e, or QL steps that do not converge, is a status, and X means nothing then. Throws as tridiagonal_eigenvalues does,
/// for an X of another shape, and for bisection. (M. Gu, S. Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995; J. Rutter,
/// LAPACK Working Note 69.)
template <class T>
TridiagonalEigResult<T> tridiagonal_eig(Runtime& runtime, std::span<const T> d, std::span<const T> e,
                                        const TileMatrix<T>& X, const TridiagonalEigOptions& options = {});

/// How many eigenvalues of T are less than x, as the signs of the pivots of T - x I say in T's own precision; it does
/// not fall while x rises, so that counts at a and b tell those in [a, b). All of T must be finite and x not NaN:
/// ArgumentError.
template <class T>
index_t tridiagonal_count_below(std::span<const T> d, std::span<const T> e, T x);

}  // namespace tesela
