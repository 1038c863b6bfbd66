#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <limits>
#include <vector>

namespace tesela {

/// The range of the numbers of A X = B, as binary exponents.
struct SystemRange {
  std::vector<int> rows;     ///< of the largest element of each row of A
  std::vector<int> columns;  ///< of the largest of each column, once rows are divided by 2^rows
  bool vanished = false;     ///< a column seems to be zero
  /// Least and greatest exponent of a column's largest element in B with rows divided by 2^rows.
  int lowest = std::numeric_limits<int>::max(), highest = std::numeric_limits<int>::min();

  /// Adds columns of B, once `rows` is known. Columns of zeros do not count.
  template <class T>
  void add_right_hand_sides(const Block<const T>& b);
  /// Returns whether multipliers, U, or the terms of a substitution may overflow, or underflow and lose digits of X.
  template <class T>
  bool leaves() const;
};

/// Returns the range of A X = B, by two passes over A and one over B.
template <class T>
SystemRange range_of(const HostMatrix<T>& a, const HostMatrix<T>& b);

/// The system D A E Y = D B S, X = E Y S^-1, in place of A X = B. D, E and S are powers of two, without rounding: the
/// largest element of each row of D A and of each column of D A E is in [1, 2) (LAPACK geequ), and S moves columns of D
/// B that are near the ends of the range. So elimination neither overflows nor loses digits to underflow, for any sizes
/// of rows and columns.
template <class T>
class RangeScaling {
 public:
  /// Determines D and E, without NaN and infinities of A.
  explicit RangeScaling(const HostMatrix<T>& a);
  /// Returns D A E.
  HostMatrix<T> matrix(HostMatrix<T> a) const;
  /// Returns D B S, and keeps S for solution().
  HostMatrix<T> right_hand_sides(HostMatrix<T> b);
  /// Returns X = E Y S^-1; subnormal elements are rounded once, elements that overflow are infinite.
  HostMatrix<T> solution(HostMatrix<T> y) const;

 private:
  std::vector<int> rows_, columns_, shifts_;
};

}  // namespace tesela
