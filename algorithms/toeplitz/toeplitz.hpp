#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

/// A symmetric Toeplitz matrix of order n, T(i, j) = t(|i - j|), as products and solvers take it: t, and the spectrum
/// of the circulant matrix around it. Both are kept at size 1, times a power of two, so that what works with them has
/// room. Copying it copies the reference.
template <class T>
class Toeplitz {
 public:
  /// Copies t, n x 1, and inserts the task that makes the spectrum. Throws ArgumentError when t has more columns or is
  /// longer than 2^28.
  Toeplitz(Graph& g, const HostMatrix<T>& t);

  index_t n() const { return host_->rows(); }
  /// The first column, on the host.
  const HostMatrix<T>& column() const { return *host_; }
  /// max |t| is in [2^(exponent() - 1), 2^exponent()).
  int exponent() const { return exponent_; }
  /// The first column, n x 1, and its spectrum (see ToeplitzSpectrum), both times 2^-exponent(), in one tile each; only
  /// where n > 0.
  Tile<T> tile() const { return t_(0, 0); }
  Tile<T> spectrum() const { return spectrum_(0, 0); }
  /// Rows of the tiles that transforms work in.
  index_t work_rows() const { return 2 * spectrum_.m(); }

  /// The estimate of ||T - sigma I||_2 by which residuals are measured: see toeplitz_norm_bound.
  double norm(double sigma = 0) const;
  /// norm() times 2^-exponent(), which never overflows.
  double unit_norm() const;
  /// ||T||_1 times 2^-exponent().
  double unit_one_norm() const;

  /// Inserts Y = alpha (T - sigma I) X + beta Y, X and Y n x k, a task for each tile, which must hold whole columns. Y
  /// is not read where beta is 0. Throws ArgumentError when shapes or tiles do not fit, or Y shares tiles with X.
  void multiply(Graph& g, T alpha, T sigma, const TileMatrix<T>& X, T beta, const TileMatrix<T>& Y) const;

 private:
  std::shared_ptr<const HostMatrix<T>> host_;
  int exponent_;
  TileMatrix<T> t_, spectrum_;
};

/// The first column of T - sigma I, rounded once; not finite where it overflows.
template <class T>
HostMatrix<T> shifted_column(const Toeplitz<T>& A, T sigma);

/// Throws ArgumentError unless A has n rows, in one tile.
template <class T>
void require_whole_columns(const char* routine, const char* argument, const TileMatrix<T>& A, index_t n) {
  if (A.m() != n || A.mt() > 1)
    throw ArgumentError(routine, argument,
                        std::to_string(A.m()) + " rows in " + std::to_string(A.mt()) + " tiles; it must have " +
                            std::to_string(n) + " in one");
}

}  // namespace tesela
