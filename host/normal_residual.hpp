#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

/// Measures how well X solves min ||A X - B||_2, from blocks of rows of A and B in host memory: r = b - A x and A^T r
/// for each column, in double precision, outside any graph. Columns are kept in units of powers of two, so that nothing
/// overflows or underflows unless the errors themselves do. A^T is A^H for complex numbers. Uses BLAS with the threads
/// that the caller allows.
template <class T>
class NormalResidual {
 public:
  /// X is n x r.
  explicit NormalResidual(const HostMatrix<T>& X);

  /// Adds the next rows: A is rows x n with leading dimension lda, B rows x r with ldb.
  void add(index_t rows, const T* a, index_t lda, const T* b, index_t ldb);

  /// Largest errors over all columns; NaN if some input is not finite.
  struct Result {
    double residual_norm = 0;  ///< ||B - A X||_F, the only value that is not a maximum
    /// ||A^T r||_2 / (||A||_F ||r||_2). 0 for a column whose r consists of rounding errors: ||r|| <= max(m, n) eps
    /// (||A||_F ||x|| + ||b||), eps of T. Such an r may have any direction.
    double normal_residual = 0;
    /// ||A^T r||_2 / (||A||_F (||A||_F ||x||_2 + ||b||_2)): small for every backward stable solution.
    double backward_error = 0;
    /// |a_j^T r| / (||a_j||_2 (sum_i ||a_i||_2 |x_i| + ||b||_2)): small if every column of A was perturbed by little
    /// relative to its norm; independent of the columns' units.
    double column_error = 0;
    /// As column_error, without the columns that satisfy a_j^T r <= 0 and x_j = 0: the violation of the
    /// Karush-Kuhn-Tucker conditions of min ||A x - b||_2, x >= 0. Infinite for a negative x_j. Of real numbers only.
    double nonnegative_error = 0;
    /// ||r||_2 / (||A||_F ||x||_2 + ||b||_2): small for solutions of consistent equations.
    double equation_error = 0;
  };
  /// Returns the errors of all columns.
  Result result() const;
  std::vector<double> residual_norms() const;  ///< ||r||_2 of each column

 private:
  void include(index_t rows, const T* a, index_t lda, const T* b, index_t ldb);
  void set_units(const std::vector<int>& of_a, const std::vector<int>& of_b);

  index_t n_, r_, rows_ = 0;
  std::vector<int> a_units_, b_units_;  // column j is kept in units of 2^a_units_[j]
  using Wide = with_parts<T, double>;
  HostMatrix<Wide> x_, scaled_, gradient_;  // X; X and A^T r in those units
  std::vector<double> a_norms_, r_norms_, b_norms_;
};

}  // namespace tesela::kernels
