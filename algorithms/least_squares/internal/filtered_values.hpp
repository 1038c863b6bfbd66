#pragma once

#include <tesela/algorithms/least_squares/regularized_least_squares.hpp>

#include <vector>

namespace tesela::detail {

/// Values of the generalized cross-validation for one right-hand side: A has the singular values s and b the
/// coefficients z with respect to the left singular vectors. All numbers are scaled, so that their squares are in
/// range.
class FilteredValues {
 public:
  /// s         the values that do not count as zero, descending.
  /// z         as many coefficients.
  /// rest      norm of the part of b that no A x reaches.
  /// rows      m.
  /// constant  1 with an intercept, otherwise 0.
  FilteredValues(Regularization kind, std::vector<double> s, std::vector<double> z, double rest, index_t rows,
                 index_t constant);

  /// Returns the factor of z_i in x, f_i / s_i, for a parameter.
  double weight(index_t i, double parameter) const;
  /// Returns the sum of f_i and the constant.
  double effective_df(double parameter) const;
  /// Returns ||b - A x||_2.
  double residual_norm(double parameter) const;
  /// Returns G, or NaN if the effective degrees of freedom are m.
  double gcv(double parameter) const;
  /// Sets parameter, at_end and curve of the minimum of G.
  void minimize(RegularizedFit& fit) const;

 private:
  /// Returns 1 - f_i.
  double loss(index_t i, double parameter) const;
  double rest_of_trace(double parameter) const;
  void minimize_ridge(RegularizedFit& fit) const;

  Regularization kind_;
  std::vector<double> s_, z_;
  double rest_;
  index_t rows_, constant_;
};

}  // namespace tesela::detail
