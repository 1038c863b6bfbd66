#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

/// Factorization of q x n rows, real or complex, as Q [N; 0] with an N of full row rank, in host memory. All numbers
/// are finite. Rounding errors of all columns must have one size: scale the columns first.
template <class T>
class RowBasis {
 public:
  HostMatrix<T> N;       ///< rank x n
  index_t rank = 0;      ///< singular values above rcond times the largest
  double condition = 1;  ///< largest over smallest singular value, or triangle_condition's estimate if that is small
  double cut = 0;        ///< ||R22||_F of reveal_rank

  RowBasis(HostMatrix<T> rows, double rcond);

  /// Sets X = Q^H X or Q X, for an X of q rows.
  void apply(Op op, HostMatrix<T>& X) const;

 private:
  HostMatrix<T> q_vectors_, turn_;  // turn_ is empty if it is the identity
  std::vector<T> tau_;              // empty if the rows are already an upper trapezoid
};

}  // namespace tesela::kernels
