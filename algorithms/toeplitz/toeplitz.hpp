#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

/// A symmetric Toeplitz matrix of order n, T(i, j) = t(|i - j|), for products and solvers: t, and the spectrum of the
/// circulant matrix that contains T. Both are stored at size 1, times a power of two, to avoid overflow. A copy shares
/// them.
template <class T>
class Toeplitz {
 public:
  /// Copies t, n x 1, and inserts the task that computes the spectrum. Throws ArgumentError if t has several columns or
  /// is longer than 2^28.
  Toeplitz(Graph& g, const HostMatrix<T>& t);

  index_t n() const { return host_->rows(); }
  /// Returns the first column, on the host.
  const HostMatrix<T>& column() const { return *host_; }
  /// Returns e with 2^(e - 1) <= max |t| < 2^e.
  int exponent() const { return exponent_; }
  /// Return the first column, n x 1, and its spectrum (see ToeplitzSpectrum), both times 2^-exponent(), in one tile
  /// each; only for n > 0.
  Tile<T> tile() const { return t_(0, 0); }
  Tile<T> spectrum() const { return spectrum_(0, 0); }
  /// Returns the rows of the tiles for transforms.
  index_t work_rows() const { return 2 * spectrum_.m(); }

  /// Returns the estimate of ||T - sigma I||_2 for relative residuals: see toeplitz_norm_bound.
  double norm(double sigma = 0) const;
  /// Returns norm() times 2^-exponent(), which does not overflow.
  double unit_norm() const;
  /// Returns ||T||_1 times 2^-exponent().
  double unit_one_norm() const;

  /// Inserts Y = alpha (T - sigma I) X + beta Y. X and Y are n x k in tiles of whole columns, one task per tile. Y is
  /// not read if beta is 0. Throws ArgumentError if shapes or tiles do not conform or Y shares tiles with X.
  void multiply(Graph& g, T alpha, T sigma, const TileMatrix<T>& X, T beta, const TileMatrix<T>& Y) const;

 private:
  std::shared_ptr<const HostMatrix<T>> host_;
  int exponent_;
  TileMatrix<T> t_, spectrum_;
};

/// Returns the first column of T - sigma I, rounded once; not finite if it overflows.
template <class T>
HostMatrix<T> shifted_column(const Toeplitz<T>& A, T sigma);

/// Throws ArgumentError unless A has n rows, in one tile.
template <class T>
void require_whole_columns(const char* routine, const char* argument, const TileMatrix<T>& A, index_t n) {
  require(A.m() == n && A.mt() <= 1, routine, argument, A.m(), " rows in ", A.mt(), " tiles; it must have ", n,
          " in one");
}

}  // namespace tesela
