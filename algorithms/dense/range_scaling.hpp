#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <limits>
#include <vector>

namespace tesela {

/// Range of the elements of A X = B, as binary exponents.
struct SystemRange {
  std::vector<int> rows;     ///< exponent of the largest element of each row of A
  std::vector<int> columns;  ///< exponent of the largest element of each column of A after rows are divided by 2^rows
  bool vanished = false;     ///< a column seems to be zero
  /// Least and greatest exponent of the columns' largest elements in B after rows are divided by 2^rows.
  int lowest = std::numeric_limits<int>::max(), highest = std::numeric_limits<int>::min();

  /// Includes columns of B; needs `rows`. Zero columns do not count.
  template <class T>
  void add_right_hand_sides(const Block<const T>& b);
  /// Returns whether multipliers, U or terms of a substitution may overflow, or underflow so that X loses digits.
  template <class T>
  bool leaves() const;
};

/// Returns the range of A X = B; reads A twice and B once.
template <class T>
SystemRange range_of(const HostMatrix<T>& a, const HostMatrix<T>& b);

/// Scales A X = B to D A E Y = D B S with X = E Y S^-1. D, E and S are powers of two, so that scaling does not round.
/// The largest element of each row of D A and of each column of D A E is in [1, 2) (LAPACK geequ). S moves columns of D
/// B that are near the ends of the range. Elimination then neither overflows nor loses digits to underflow, whatever
/// the sizes of rows and columns.
template <class T>
class RangeScaling {
 public:
  /// Computes D and E; ignores NaN and infinities in A.
  explicit RangeScaling(const HostMatrix<T>& a);
  /// Returns D A E.
  HostMatrix<T> matrix(HostMatrix<T> a) const;
  /// Returns D B S, and stores S for solution().
  HostMatrix<T> right_hand_sides(HostMatrix<T> b);
  /// Returns X = E Y S^-1. Subnormal elements are rounded once; elements that overflow become infinite.
  HostMatrix<T> solution(HostMatrix<T> y) const;

 private:
  std::vector<int> rows_, columns_, shifts_;
};

}  // namespace tesela
