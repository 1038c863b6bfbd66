#pragma once

#include <tesela/host/graded_qr.hpp>

#include <vector>

namespace tesela::detail {

/// The GradedQr of a matrix whose rows have any order.
template <class T>
class GradedRowsOfA {
 public:
  /// Sorts and factors A. `exponents` holds the exponents of the rows' sizes, INT_MIN for zero rows; rows within
  /// class_width of each other form one class.
  GradedRowsOfA(HostMatrix<T> A, const std::vector<int>& exponents, double rcond);

  const kernels::GradedQr<T>& qr() const { return qr_; }

  /// Sets X = Q^T X or Q X for an X with as many rows as A.
  void apply(Op op, HostMatrix<T>& X) const;

 private:
  std::vector<index_t> order_;  // rows of A, sorted by classes
  kernels::GradedQr<T> qr_;
};

}  // namespace tesela::detail
