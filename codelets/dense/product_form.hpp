#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <array>
#include <vector>

namespace tesela::kernels {

/// A dense m x n matrix A = U diag(s) V^T with given singular values s; U and V are products of two Householder
/// reflectors with counter-based random vectors. A is thus a diagonal matrix plus a matrix of rank 4, and an element
/// costs 8 multiplications. A complex A is the real matrix with each row and column times a random number of
/// magnitude 1. Each element is rounded once from extended precision, so the singular values equal s up to
/// half a unit in the last place of A's entries.
template <class T>
class ProductForm {
 public:
  /// `s` holds min(m, n) values, or fewer for a matrix of lower rank.
  ProductForm(index_t m, index_t n, const std::vector<double>& s, std::uint64_t seed);

  /// Returns element (i, j), counted from 0.
  T operator()(index_t i, index_t j) const {
    const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
    const auto& right = right_[column];
    long double a = -(left_[row][0] * right[0] + left_[row][1] * right[1]);
    if (row < scaled_.size()) a -= scaled_[row][0] * right[2] + scaled_[row][1] * right[3];
    if (row == column && row < s_.size()) a += static_cast<long double>(s_[row]);
    if constexpr (is_complex<T>)
      return T(static_cast<double>(a) * row_phases_[row] * column_phases_[column]);
    else
      return static_cast<T>(a);
  }

 private:
  std::vector<double> s_;
  // With U = I - W T W^T, V = I - X S X^T and D = diag(s): A = D - W (T W^T D V^T) - (D X S^T) X^T.
  std::vector<std::array<double, 2>> left_;                       // rows of W
  std::vector<std::array<long double, 2>> scaled_;                // nonzero rows of D X S^T
  std::vector<std::array<long double, 4>> right_;                 // columns of T W^T D V^T, then rows of X
  std::vector<std::complex<double>> row_phases_, column_phases_;  // of a complex matrix
};

/// Returns `count` singular values from 1 down to 1 / condition, evenly spaced on a logarithmic scale. The condition is
/// at least 1; a single value is 1.
std::vector<double> spectrum(index_t count, double condition);

}  // namespace tesela::kernels
