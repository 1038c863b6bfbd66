#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// What some instruments explain, by QR with pivoting of their columns W in a triangle R of all variables: Q of the
/// columns that count.
class ExplainedPart {
 public:
  /// W's columns count down to `rcond` of the largest.
  ExplainedPart(const HostMatrix<double>& R, const std::vector<index_t>& instruments, double rcond);

  index_t rank() const { return rank_; }
  /// 1-norm, of the columns that count, of unit norm.
  double condition() const { return condition_; }
  /// Q^T A of columns in R's coordinates.
  HostMatrix<double> of(HostMatrix<double> A) const;
  /// The same of residuals, from the products of all variables with them.
  HostMatrix<double> of_products(const HostMatrix<double>& products) const;
  /// A - Q Q^T A.
  HostMatrix<double> rest(HostMatrix<double> A) const;

 private:
  HostMatrix<double> factor_, triangle_;
  std::vector<double> tau_;
  std::vector<index_t> columns_;  ///< that count, as pivoting had them
  index_t rank_ = 0;
  double condition_ = 1;
};

}  // namespace tesela
