#pragma once

#include <tesela/algorithms/eigen/eigen_range.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tesela {

/// Method for the eigenpairs of a dense symmetric or Hermitian matrix.
enum class EigMethod : std::uint8_t {
  automatic,  ///< the fastest method by measurements (docs/eigen.md)
  two_stage,  ///< to a band, to tridiagonal form, and back: for large matrices
  one_stage,  ///< directly to tridiagonal form: if a GPU can keep A, up to order 2048
  lapack,     ///< LAPACK's syevd or heevd on all cores: for small matrices
  one_task    ///< one task, LAPACK's on a core or cuSOLVER's on a GPU: for several concurrent problems
};

/// Returns the methods with their names; the first is the default.
std::span<const Named<EigMethod>> eig_methods();

/// Options of symmetric_eig.
struct SymmetricEigOptions {
  EigMethod method = EigMethod::automatic;
  bool vectors = true;  ///< whether to compute eigenvectors
  /// Selected eigenvalues: positions in the ascending spectrum, from 0, and values in [low, high), so that adjacent
  /// ranges partition the spectrum. If both are given, both must hold.
  std::optional<IndexRange> positions = {};
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  index_t band = 0;   ///< half-width of the band between the stages; 0 selects it
  index_t block = 0;  ///< columns that are gathered before A is updated; 0 selects them
};

/// Outcome of a symmetric eigenproblem.
struct SymmetricEigStatus {
  /// Verdict on a problem.
  enum class Verdict : std::uint8_t {
    ok,             ///< values and vectors are valid
    not_finite,     ///< A(row, column) is NaN or infinite
    not_converged,  ///< `row` off-diagonal elements did not converge (LAPACK's info), or the tridiagonal solver's index
    overflow,       ///< an eigenvalue of finite elements exceeds the largest number of T
    // Only generalized_eig:
    b_not_finite,             ///< B(row, column) is NaN or infinite
    b_not_positive_definite,  ///< the leading minor of order `row` is not positive
    reduced_overflow,         ///< element (row, column) of the reduced symmetric matrix overflows
    // Only eig_iteration:
    entry_remains,  ///< D(row, column) is not negligible after the last iteration
    zero_pivot      ///< iteration `column`: pivot `row` is zero, or column `row` depends on the columns before it
  };
  Verdict verdict = Verdict::ok;
  index_t row = -1, column = -1;                      ///< from 0
  bool ok() const { return verdict == Verdict::ok; }  ///< whether values and vectors are valid
};
std::string to_string(const SymmetricEigStatus& status);

/// Result of symmetric_eig.
template <class T>
struct SymmetricEig {
  SymmetricEigStatus status;
  std::vector<double> values;    ///< the selected eigenvalues, ascending; infinite beyond the range of T
  index_t first = 0;             ///< number of eigenvalues below values[0]
  std::vector<double> spectrum;  ///< all eigenvalues of A, ascending; of a tridiagonal matrix the selected ones
  /// Eigenvectors, n x values.size(), in tiles of whole columns; the largest component of each is real and positive.
  std::optional<TileMatrix<T>> vectors;
  /// ||A||_2, the largest |eigenvalue|; for a part of a tridiagonal matrix's spectrum at least ||A||_2 / sqrt 3.
  double norm = 0;
  EigMethod method = EigMethod::automatic;                       ///< the method in use
  index_t half_width = 0;                                        ///< half-width of the band
  index_t deflated = 0, merges = 0, iterations = 0, sweeps = 0;  ///< of the tridiagonal solver
};

/// Solves A X = X diag(values) for a dense symmetric or Hermitian matrix (LAPACK syevd, syevr, heevd).
///
/// A        n x n in tiles of whole columns; the lower triangle is read and overwritten. Imaginary parts of the
///          diagonal are ignored, unless they are not finite. A banded or tridiagonal A skips the stages that it does
///          not need.
/// Returns  the selected eigenpairs, all eigenvalues, and a status.
/// Throws   ArgumentError for other shapes, positions outside 0 … n, low > high, and a band that does not divide A's
///          tiles.
/// Waits    for the graph.
/// Method   A is scaled by a power of two first, so that a factor 2^k in A scales the values exactly and does not
///          change X.
template <class T>
SymmetricEig<T> symmetric_eig(Graph& g, const TileMatrix<T>& A, const SymmetricEigOptions& options = {});

/// Solves the problem for a matrix in memory, on the host or on a device: chooses the method and the tiles, and waits.
/// a is overwritten; the result's vectors are other memory. Throws ArgumentError if a diagonal element is not real.
template <class T>
SymmetricEig<T> symmetric_eig(Runtime& runtime, MatrixView<T> a, const SymmetricEigOptions& options = {});

/// Solves the problem for the tridiagonal matrix with diagonal d (n) and off-diagonal e (n - 1) by tridiagonal_eig, for
/// the selected pairs alone. options.method must not be lapack or one_task.
template <class T>
SymmetricEig<T> symmetric_eig(Graph& g, std::span<const T> d, std::span<const T> e,
                              const SymmetricEigOptions& options = {});

/// Returns the tiles of A that symmetric_eig chooses for these workers.
TileShape eig_tile(const WorkerCounts& workers, index_t n, const SymmetricEigOptions& options = {});

/// Returns the columns per tile of `count` eigenvectors of order n for these workers: equal parts for GPUs.
index_t eigenvectors_tile(const WorkerCounts& workers, index_t n, index_t count);

}  // namespace tesela
