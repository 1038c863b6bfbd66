#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
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

/// Largest spread of rows or columns that counts as one size.
inline constexpr int small_spread = 3;

/// Returns the sum of squares of the residuals' means: the scalar product of the residuals and the residuals divided by
/// `counts`, which the second argument receives.
double divided(const std::vector<double>& rest, const std::vector<double>& counts, std::vector<double>& mean);

/// Returns exponents r and c that minimize the sum of (log2 |a_ij| - r_i - c_j)^2 over the nonzero elements (A. Curtis,
/// J. Reid, J. Inst. Maths Applics 10, 1972), to half a unit per row and column. With D1 M D2 in place of M they change
/// by the exponents of D1 and D2, also if M has zeros.
template <class Visit>
Units fitted_units(index_t m, index_t n, const Visit& visit) {
  const auto size = static_cast<std::size_t>(m + n);
  std::vector<double> fit(size), counts(size), rest(size), mean(size), along(size), image(size);
  visit([&](index_t i, index_t j, auto x) {
    if (x == 0 || !std::isfinite(x)) return;
    for (const index_t k : {i, m + j}) {
      counts[static_cast<std::size_t>(k)] += 1;
      rest[static_cast<std::size_t>(k)] += std::ilogb(x);
    }
  });
  double rho = divided(rest, counts, mean);
  along = mean;
  constexpr int most_steps = 100;  // of conjugate gradients; random places of zeros need ten
  for (int step = 0; step < most_steps; ++step) {
    if (std::all_of(mean.begin(), mean.end(), [](double x) { return std::abs(x) <= 0.5; })) break;
    std::fill(image.begin(), image.end(), 0.0);
    visit([&](index_t i, index_t j, auto x) {
      if (x == 0 || !std::isfinite(x)) return;
      const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(m + j);
      const double sum = along[row] + along[column];
      image[row] += sum;
      image[column] += sum;
    });
    const double alpha = rho / std::inner_product(along.begin(), along.end(), image.begin(), 0.0);
    for (std::size_t k = 0; k < size; ++k) {
      fit[k] += alpha * along[k];
      rest[k] -= alpha * image[k];
    }
    const double next = divided(rest, counts, mean);
    for (std::size_t k = 0; k < size; ++k) along[k] = mean[k] + next / rho * along[k];
    rho = next;
  }
  Units units;
  for (index_t k = 0; k < m + n; ++k)
    (k < m ? units.rows : units.columns).push_back(static_cast<int>(std::lround(fit[static_cast<std::size_t>(k)])));
  return units;
}

/// Returns D and E of an m x n matrix; ignores zeros, NaN and infinities. If A has no zeros, they do not depend on its
/// units. If it has zeros, large columns decide D when the rows are scaled first, so fitted_units comes before, unless
/// all rows or all columns have one size. `visit(f)` calls f(i, j, size) with the magnitude of each element, or of the
/// larger part of a complex element.
template <class Visit>
Units units_of(index_t m, index_t n, const Visit& visit) {
  constexpr int none = std::numeric_limits<int>::min();
  index_t counted = 0;
  const auto largest = [&](bool of_rows, const std::vector<int>& other) {
    std::vector<int> found(at(of_rows ? m : n), none);
    counted = 0;
    visit([&](index_t i, index_t j, auto x) {
      if (x == 0 || !std::isfinite(x)) return;
      ++counted;
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
  const int least = std::min(spread(first.columns), spread(second.rows));
  if (counted < m * n && spread(first.rows) > small_spread && spread(second.columns) > small_spread) {
    Units third = fitted_units(m, n, visit);
    third.rows = largest(true, third.columns);
    const std::vector<int> fitted = std::exchange(third.columns, largest(false, third.rows));
    std::vector<int> left(fitted.size());
    std::transform(fitted.begin(), fitted.end(), third.columns.begin(), left.begin(), std::minus<>());
    if (spread(left) <= std::max(least, small_spread)) return third;
  }
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
