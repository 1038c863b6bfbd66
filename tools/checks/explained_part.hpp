#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// The part of variables that some instruments explain: QR with pivoting of the instruments' columns W in a triangle R
/// of all variables, with Q for the columns that count.
class InstrumentProjection {
 public:
  /// Columns of W count down to `rcond` times the largest.
  InstrumentProjection(const HostMatrix<double>& R, const std::vector<index_t>& instruments, double rcond);

  index_t rank() const { return rank_; }
  /// 1-norm condition of the columns that count, scaled to unit norm.
  double condition() const { return condition_; }
  /// Returns Q^T A for columns in R's coordinates.
  HostMatrix<double> of(HostMatrix<double> A) const;
  /// Returns the same for residuals, from their products with all variables.
  HostMatrix<double> of_products(const HostMatrix<double>& products) const;
  /// Returns A - Q Q^T A.
  HostMatrix<double> rest(HostMatrix<double> A) const;

 private:
  HostMatrix<double> factor_, triangle_;
  std::vector<double> tau_;
  std::vector<index_t> columns_;  ///< columns that count, in pivoting order
  index_t rank_ = 0;
  double condition_ = 1;
};

}  // namespace tesela
