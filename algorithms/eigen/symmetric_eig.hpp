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

/// Who finds the eigenpairs of a dense symmetric matrix.
enum class EigMethod : std::uint8_t {
  automatic,  ///< what was measured to be faster on this machine (docs/eigen.md)
  two_stage,  ///< to a band, to tridiagonal form, and back
  one_stage,  ///< to tridiagonal form at once: where a GPU keeps A, up to order 2048
  lapack,     ///< syevd on all cores
  one_task    ///< syevd of LAPACK on one core, or of cuSOLVER on one GPU, as a task: for several problems at a time
};

/// The methods by name; the first is the default.
std::span<const Named<EigMethod>> eig_methods();

struct SymmetricEigOptions {
  EigMethod method = EigMethod::automatic;
  bool vectors = true;
  /// Which eigenvalues: positions in the ascending spectrum, counted from 0, or those in [low, high), so that adjoining
  /// ranges partition the spectrum. Both: what satisfies both.
  std::optional<IndexRange> positions = {};
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  index_t band = 0;   ///< half-width of the band between the stages; 0 chooses
  index_t block = 0;  ///< columns that are gathered before A takes them; 0 chooses
};

/// How a symmetric eigenproblem ended.
struct SymmetricEigStatus {
  enum class Verdict : std::uint8_t {
    ok,
    not_finite,     ///< A(row, column) is NaN or infinite
    not_converged,  ///< so many off-diagonal elements did not (LAPACK's info), or the tridiagonal solver's place
    overflow,       ///< an eigenvalue of finite elements is larger than T's largest number
    // Of generalized_eig:
    b_not_finite,             ///< B(row, column) is NaN or infinite
    b_not_positive_definite,  ///< the leading minor of order `row` is not positive
    reduced_overflow,         ///< element (row, column) of the symmetric matrix that B's factor makes of A
    // Of eig_iteration:
    entry_remains,  ///< D(row, column) is not negligible after the last iteration
    zero_pivot      ///< that of this row, or no rest of this column is left, in iteration `column`
  };
  Verdict verdict = Verdict::ok;
  index_t row = -1, column = -1;  ///< counted from 0
  bool ok() const { return verdict == Verdict::ok; }
};
std::string to_string(const SymmetricEigStatus& status);

/// What symmetric_eig found, and what it took.
template <class T>
struct SymmetricEig {
  SymmetricEigStatus status;
  std::vector<double> values;               ///< ascending, of those that were asked for; infinite where T's range ends
  index_t first = 0;                        ///< eigenvalues below values[0]
  std::vector<double> spectrum;             ///< all of A's eigenvalues, ascending
  std::optional<TileMatrix<T>> vectors;     ///< n x values.size(), in tiles of whole columns; the largest component of
                                            ///< each is positive
  double norm = 0;                          ///< ||A||_2, the largest eigenvalue by magnitude
  EigMethod method = EigMethod::automatic;  ///< the one that was taken
  index_t half_width = 0;                   ///< of the band
  index_t deflated = 0, merges = 0, iterations = 0, sweeps = 0;  ///< of the tridiagonal solver
};

/// A X = X diag(values) for a dense symmetric matrix (LAPACK syevd, syevr): A is n x n in tiles of whole columns, of
/// which the lower triangle is read and lost. A is scaled by a power of two first, so that a power of two in A goes
/// into the values to the bit, and into X not at all. Waits. Throws ArgumentError for other shapes, positions outside 0
/// … n, low > high, and a band that does not divide A's tiles. An A that is a band already, or tridiagonal, enters
/// where it is.
template <class T>
SymmetricEig<T> symmetric_eig(Graph& g, const TileMatrix<T>& A, const SymmetricEigOptions& options = {});

/// The same of the tridiagonal matrix with diagonal d (n) and off-diagonal e (n - 1); options.method must not be
/// lapack or one_task.
template <class T>
SymmetricEig<T> symmetric_eig(Graph& g, std::span<const T> d, std::span<const T> e,
                              const SymmetricEigOptions& options = {});

/// The columns of a tile of A that suit the workers and a band of this half-width (0: the default).
index_t suitable_eig_tile(const WorkerCounts& workers, index_t n, index_t band = 0);

/// The columns of a tile of X, of order n with `count` vectors, that suit them: GPUs have equal parts.
index_t suitable_eigenvectors_tile(const WorkerCounts& workers, index_t n, index_t count);

}  // namespace tesela
