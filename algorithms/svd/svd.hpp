#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tesela {

/// Method for the singular value decomposition of a dense matrix.
enum class SvdMethod : std::uint8_t {
  automatic,  ///< the fastest method by measurements (docs/svd.md)
  two_stage,  ///< to an upper band, to bidiagonal form, and back, as a graph: for large matrices
  lapack      ///< LAPACK's gesdd on all cores: for small matrices
};

/// Returns the methods with their names; the first is the default.
std::span<const Named<SvdMethod>> svd_methods();

/// The singular vectors that svd computes.
enum class SvdVectors : std::uint8_t {
  none,      ///< values only
  economic,  ///< min(m, n) columns of U and of V
  all        ///< square U and V
};

/// Options of svd.
struct SvdOptions {
  SvdMethod method = SvdMethod::automatic;    ///< how to compute
  SvdVectors vectors = SvdVectors::economic;  ///< what to compute
  std::optional<index_t> largest = {};  ///< number of largest values with their vectors, at most min(m, n); empty: all
  std::optional<std::pair<double, double>> range = {};  ///< [low, high): only values in it; empty: all
  index_t band = 0;                                     ///< half-width of the band between the stages; 0 selects it
  bool in_tiles = false;  ///< whether U and V are left in tiles, on GPUs if they computed them
};

/// Outcome of a singular value decomposition.
struct SvdStatus {
  /// What happened.
  enum class Verdict : std::uint8_t {
    ok,             ///< values and vectors are valid
    not_finite,     ///< A(row, column) is NaN or infinite
    not_converged,  ///< LAPACK's iteration did not converge; `row` is its info
    overflow        ///< a value of finite elements exceeds the largest number of T; the vectors are valid
  };
  Verdict verdict = Verdict::ok;  ///< the outcome
  index_t row = -1;               ///< row of A, from 0
  index_t column = -1;            ///< column of A, from 0
  /// Returns whether values and vectors are valid.
  bool ok() const { return verdict == Verdict::ok; }
};
/// Describes the status in words; "ok" without failure.
std::string to_string(const SvdStatus& status);

/// Result of svd.
template <class T>
struct Svd {
  SvdStatus status;                ///< whether to trust the result
  std::vector<double> values;      ///< the requested values, descending; infinite beyond the range of double
  std::optional<HostMatrix<T>> u;  ///< m x values.size() with A = U diag(values) V^H; m x m with SvdVectors::all
  std::optional<HostMatrix<T>> v;  ///< n x values.size(), or n x n
  std::optional<TileMatrix<T>> u_tiles, v_tiles;  ///< U and V in place of u and v, with SvdOptions::in_tiles
  double norm = 0;                                ///< ||A||_2, the largest value
  SvdMethod method = SvdMethod::automatic;        ///< the method in use
  index_t half_width = 0;                         ///< half-width of the band
};

/// Computes A = U diag(values) V^H for any m x n matrix (LAPACK gesdd).
///
/// A        m x n, on the host or on a device; only read. Sizes may be zero.
/// Returns  values, vectors on the host or in tiles, and a status. NaN and infinities are a status.
/// Throws   ArgumentError for a negative band, for `largest` outside 0 … min(m, n), for a range without low < high, and
///          for both together or one with SvdVectors::all.
/// Waits    for the computation.
/// Method   A is scaled by a power of two, so that a factor 2^k in A scales the values exactly and does not change U
///          and V. If m > n, QR first; if m < n, the adjoint. Then reduce_to_upper_band, band_to_bidiagonal,
///          bidiagonal_svd, and the products with the reflectors of both stages,
///          for the selected vectors only. All values are computed.
template <class T>
Svd<T> svd(Runtime& runtime, MatrixView<T> a, const SvdOptions& options = {});

/// Compute it with the options of a graph, the second one for a matrix in any tiles.
template <class T>
Svd<T> svd(Graph& g, MatrixView<T> a, const SvdOptions& options = {});
template <class T>
Svd<T> svd(Graph& g, const TileMatrix<T>& A, const SvdOptions& options = {});

/// Returns the method of svd for these options and an m x n matrix.
SvdMethod svd_method(const WorkerCounts& workers, Shape shape, const SvdOptions& options);

/// Returns the number of floating-point operations that define the rate of svd: 4 m n^2 - 4/3 n^3 for the values, m >=
/// n, and as many for each side of vectors.
double svd_flops(index_t m, index_t n, SvdVectors vectors);

}  // namespace tesela
