#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace tesela {

/// Exponents of D = 2^-rows and E = 2^-columns, for which the largest element of each row and column of D A E is
/// near 1.
struct Units {
  std::vector<int> rows, columns;
};

/// Returns the highest minus the lowest exponent.
inline int spread(const std::vector<int>& exponents) {
  if (exponents.empty()) return 0;
  const auto [low, high] = std::minmax_element(exponents.begin(), exponents.end());
  return *high - *low;
}

/// Returns D and E of an m x n matrix; ignores zeros, NaN and infinities. If A has zeros, D and E depend on the
/// order: large columns of A decide D if the rows are scaled first. The order with the smaller spread of the second
/// exponents, here the sizes of columns or rows that the first ones leave, does not depend on the units of rows alone
/// or columns alone. `visit(f)` calls f(i, j, element) for each element.
template <class Visit>
Units units_of(index_t m, index_t n, const Visit& visit) {
  constexpr int none = std::numeric_limits<int>::min();
  const auto at = [](index_t i) { return static_cast<std::size_t>(i); };
  const auto largest = [&](bool of_rows, const std::vector<int>& other) {
    std::vector<int> found(at(of_rows ? m : n), none);
    visit([&](index_t i, index_t j, auto x) {
      if (x == 0 || !std::isfinite(x)) return;
      int& yet = found[at(of_rows ? i : j)];
      yet = std::max(yet, std::ilogb(x) - other[at(of_rows ? j : i)]);
    });
    for (int& e : found) e = e == none ? 0 : e;
    return found;
  };
  Units first, second;
  first.rows = largest(true, std::vector<int>(at(n)));
  first.columns = largest(false, first.rows);
  second.columns = largest(false, std::vector<int>(at(m)));
  second.rows = largest(true, second.columns);
  return spread(second.rows) < spread(first.columns) ? second : first;
}

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
/// The largest element of each row and column of D A E is near 1 (units_of, LAPACK geequ). S moves columns of D
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
  Units units_;
  std::vector<int> shifts_;
};

}  // namespace tesela
