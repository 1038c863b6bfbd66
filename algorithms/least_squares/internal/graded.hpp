#pragma once

#include <tesela/algorithms/least_squares/internal/row_system.hpp>
#include <tesela/host/graded_qr.hpp>

#include <vector>

namespace tesela::detail {

/// Solves as RowSystem::solve for a q x p B2 whose columns differ in size: column j has size 2^of_columns[j], and its
/// rounding errors are relative to that size. The rank is decided on columns of size 1 (singular values above rcond
/// times the largest possible one). Then B2^H is factored with rows sorted by size and columns pivoted, so that errors
/// are relative to each row (Cox and Higham 1998). Runs on the host; B2 is finite.
template <class T>
LeastNorm<T> graded_least_norm(HostMatrix<T> B2, std::vector<int> of_columns, const HostMatrix<T>& C2, double rcond,
                               bool multipliers);

/// Returns RowSystem::beyond for a B whose columns differ in size: the rows before `first` times orthonormal columns
/// that span the null space of the other rows. The rank is decided as in graded_least_norm. Runs on the host.
template <class T>
HostMatrix<T> graded_null_space_part(const HostMatrix<T>& B, index_t first, const std::vector<int>& of_columns,
                                     double rcond);

/// The GradedQr of a matrix whose rows have any order.
template <class T>
class GradedRowsOfA {
 public:
  /// Sorts and factors A. `exponents` holds the exponents of the rows' sizes, INT_MIN for zero rows; rows within
  /// class_width of each other form one class.
  GradedRowsOfA(HostMatrix<T> A, const std::vector<int>& exponents, double rcond);

  const kernels::GradedQr<T>& qr() const { return qr_; }

  /// Sets X = Q^H X or Q X for an X with as many rows as A.
  void apply(Op op, HostMatrix<T>& X) const;

 private:
  std::vector<index_t> order_;  // rows of A, sorted by classes
  kernels::GradedQr<T> qr_;
};

}  // namespace tesela::detail
