#pragma once

#include <tesela/host/row_basis.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

/// Rows of similar size: 2^exponent times `rows`, k x n for any k.
template <class T>
struct RowsOfSize {
  int exponent = 0;
  HostMatrix<T> rows;
};

/// QR factorization of real or complex rows whose sizes may differ by any factor, in host memory, with backward errors
/// relative to each row's size. Rows are sorted by size and columns pivoted (M. Powell and J. Reid 1969; A. Cox and N.
/// Higham, "Stability of Householder QR factorization for weighted least squares problems", 1998):
///
///     A Pi = Q [diag(2^row_exponents) R; 0]
///
/// A class whose rank is below its number of rows (singular values up to rcond times the largest, the class's columns
/// scaled to one size) is reduced to that rank first: rounding errors of heavy rows must not be mistaken for light
/// rows. The triangle ends at the first pivot that errors of rcond in each row, times its class's size, may have
/// caused. All numbers are finite.
template <class T>
class GradedQr {
 public:
  /// Factors `classes`, which contain A's rows, one class after the other.
  GradedQr(std::vector<RowsOfSize<T>> classes, double rcond);

  HostMatrix<T> R;                 ///< rank x n, upper trapezoidal
  std::vector<index_t> pivots;     ///< pivots[j]: the unknown of R's column j
  std::vector<int> row_exponents;  ///< rank
  /// The exponent of the largest class that has a row below the rank: the size of rounding errors there.
  int exponent_below = 0;

  index_t rank() const { return R.rows(); }
  index_t rows() const { return rows_; }

  /// Sets X = Q^H X or Q X, for an X with A's number of rows.
  void apply(Op op, HostMatrix<T>& X) const;

 private:
  struct Place {
    std::size_t in = 0;  // class
    index_t row = 0;
    double size = 0;
  };

  void sort(const std::vector<RowsOfSize<T>>& classes, int most);
  /// Moves the bases' rows of X, in the order of the classes, to their positions in [sorted; below], or back.
  void move(Op op, HostMatrix<T>& X) const;

  index_t rows_ = 0;
  std::vector<index_t> first_;  // the first row of each class
  std::vector<RowBasis<T>> bases_;
  std::vector<Place> order_;  // rows of all bases by size
  HostMatrix<T> S_;           // these rows, factored
  std::vector<T> tau_;
};

}  // namespace tesela::kernels
