#pragma once

#include "tiles/host_matrix.hpp"

#include <vector>

namespace tesela {

/// Measures how well X solves min ||A X - B||_2, from blocks of rows of A and B in host memory: r = b - A x and A^T r
/// for each column, in double precision, outside any graph.
template <class T>
class NormalResidual {
 public:
  /// X is n x r; b_norm is ||B||_F, by which residuals are scaled so that nothing overflows (any estimate will do).
  NormalResidual(const HostMatrix<T>& X, double b_norm);

  /// Takes the next rows: A is rows x n with leading dimension lda, B rows x r with ldb.
  void add(index_t rows, const T* a, index_t lda, const T* b, index_t ldb);

  struct Result {
    double residual_norm = 0;  ///< ||B - A X||_F
    /// The largest ||A^T r||_2 / (||A||_F ||r||_2) of all columns. 0 for a column whose r is nothing but rounding:
    /// ||r|| <= max(m, n) eps (||A||_F ||x|| + ||b||), eps of T. Such an r may point anywhere.
    double normal_residual = 0;
    /// The largest ||A^T r||_2 / (||A||_F (||A||_F ||x||_2 + ||b||_2)): small for every backward stable solution.
    double backward_error = 0;
  };
  Result result() const;

 private:
  index_t n_, r_, rows_ = 0;
  double scale_, a_norm_ = 0;
  HostMatrix<double> x_, gradient_;  // X, and A^T R / scale
  std::vector<double> r_norms_, b_norms_;
};

}  // namespace tesela
