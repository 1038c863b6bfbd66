#include <tesela/algorithms/dense/band_solve.hpp>
#include <tesela/algorithms/dense/range_scaling.hpp>
#include <tesela/host/lapack/lapack_band.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tesela {
namespace {

/// Calls f(i, j, element) for each element of the band in rows `first` … of ab, with element (i, j) of A in row
/// above + i - j.
template <class T, class F>
void for_each(HostMatrix<T>& ab, index_t first, index_t above, F f) {
  const index_t n = ab.cols();
  for (index_t j = 0; j < n; ++j)
    for (index_t k = std::max(first, above - j); k < std::min(ab.rows(), above + n - j); ++k)
      f(k - above + j, j, ab(k, j));
}

/// Returns the exponent of a size; 0 for zero, NaN and infinity.
template <class T>
int exponent(T size) {
  return size > 0 && std::isfinite(size) ? std::ilogb(size) : 0;
}

/// Multiplies row i of B by 2^-exponents(i).
template <class T>
void scale_rows(HostMatrix<T>& b, const std::vector<int>& exponents) {
  for (index_t j = 0; j < b.cols(); ++j)
    for (index_t i = 0; i < b.rows(); ++i)
      b(i, j) = times_power_of_two(b(i, j), -exponents[static_cast<std::size_t>(i)]);
}

/// Scales A to 2^-rows A 2^-columns.
template <class T>
void scale_band(HostMatrix<T>& ab, index_t first, index_t above, const Units& units) {
  for_each(ab, first, above, [&](index_t i, index_t j, T& x) {
    x = times_power_of_two(x, -units.rows[static_cast<std::size_t>(i)] - units.columns[static_cast<std::size_t>(j)]);
  });
}

/// Sets status and condition from the reciprocal condition and X.
template <class T>
void judge(DirectSolve& result, double reciprocal, const HostMatrix<T>& x) {
  for (index_t j = 0; j < x.cols(); ++j)
    if (!std::all_of(x.data() + j * x.ld(), x.data() + j * x.ld() + x.rows(), [](T e) { return is_finite(e); })) {
      result.status = DirectStatus::not_finite;
      result.place = j + 1;
      return;
    }
  result.condition = reciprocal > 0 ? 1 / reciprocal : std::numeric_limits<double>::infinity();
  const double loss = result.condition * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  result.status = loss <= 0.01 && result.error <= 0.01 ? DirectStatus::ok
                  : loss <= 1                          ? DirectStatus::doubtful
                                                       : DirectStatus::singular;
}

template <class T>
real_t<T> norm1(HostMatrix<T>& ab, index_t first, index_t above, bool symmetric) {
  std::vector<real_t<T>> sums(static_cast<std::size_t>(ab.cols()));
  for_each(ab, first, above, [&](index_t i, index_t j, T x) {
    sums[static_cast<std::size_t>(j)] += std::abs(x);
    if (symmetric && i != j) sums[static_cast<std::size_t>(i)] += std::abs(x);
  });
  return sums.empty() ? real_t<T>(0) : *std::max_element(sums.begin(), sums.end());
}

/// Returns the exponent of the largest element of each row or column after columns or rows are divided by 2^other.
template <class T>
std::vector<int> largest(HostMatrix<T>& ab, index_t first, index_t above, bool of_rows, const std::vector<int>& other) {
  constexpr int none = std::numeric_limits<int>::min();
  std::vector<int> found(other.size(), none);
  for_each(ab, first, above, [&](index_t i, index_t j, T x) {
    if (x == T(0) || !is_finite(x)) return;
    int& yet = found[static_cast<std::size_t>(of_rows ? i : j)];
    yet = std::max(yet, std::ilogb(largest_part(x)) - other[static_cast<std::size_t>(of_rows ? j : i)]);
  });
  for (int& e : found) e = e == none ? 0 : e;
  return found;
}

/// Returns the units of fitted_units, then of the largest elements. Rows and columns in turn make the least-squares
/// system a band, which Cholesky solves; conjugate gradients would need about n steps.
template <class T>
Units fitted_band_units(HostMatrix<T>& ab, index_t kl, index_t ku) {
  const index_t n = ab.cols(), kd = 2 * std::max(kl, ku) + 1;
  // Row i has the index 2 i, column j the index 2 j + 1. The multiple of the unit matrix makes the fit unique.
  HostMatrix<double> sums = HostMatrix<double>::zeros(2 * n, 1), normal = HostMatrix<double>::zeros(kd + 1, 2 * n);
  for (index_t k = 0; k < 2 * n; ++k) normal(kd, k) = 1e-9;
  for_each(ab, kl, kl + ku, [&](index_t i, index_t j, T x) {
    if (x == T(0) || !is_finite(x)) return;
    const index_t low = std::min(2 * i, 2 * j + 1), high = std::max(2 * i, 2 * j + 1);
    normal(kd + low - high, high) += 1;
    for (const index_t k : {low, high}) {
      normal(kd, k) += 1;
      sums(k, 0) += std::ilogb(largest_part(x));
    }
  });
  Units units;
  if (lapack::pbtrf(2 * n, kd, normal.data(), normal.ld()) == 0)
    lapack::pbtrs(2 * n, kd, 1, normal.data(), normal.ld(), sums.data(), sums.ld());
  for (index_t k = 0; k < n; ++k) units.columns.push_back(static_cast<int>(std::lround(sums(2 * k + 1, 0))));
  units.rows = largest(ab, kl, kl + ku, true, units.columns);
  units.columns = largest(ab, kl, kl + ku, false, units.rows);
  return units;
}

/// Multiplies each column of B by a power of two that brings it into the range after rows are divided by 2^rows, and
/// divides the rows. Returns the exponents of the columns.
template <class T>
std::vector<int> scale_right_hand_sides(HostMatrix<T>& b, const std::vector<int>& rows) {
  using Limits = std::numeric_limits<real_t<T>>;
  constexpr int none = std::numeric_limits<int>::min();
  constexpr int high = Limits::max_exponent - 2 * Limits::digits, low = Limits::min_exponent + 2 * Limits::digits;
  std::vector<int> shifts;
  for (index_t j = 0; j < b.cols(); ++j) {
    int top = none;
    for (index_t i = 0; i < b.rows(); ++i)
      if (b(i, j) != T(0) && is_finite(b(i, j)))
        top = std::max(top, std::ilogb(largest_part(b(i, j))) - rows[static_cast<std::size_t>(i)]);
    shifts.push_back(top == none ? 0 : std::clamp(top, low, high) - top);
    for (index_t i = 0; i < b.rows(); ++i)
      b(i, j) = times_power_of_two(b(i, j), shifts.back() - rows[static_cast<std::size_t>(i)]);
  }
  return shifts;
}

/// A band matrix C with its factors.
template <class T>
struct FactoredBand {
  index_t kl, ku;
  HostMatrix<T> c, factors;
  std::vector<int> swaps = {};

  index_t n() const { return c.cols(); }
  int factor() {
    swaps.resize(static_cast<std::size_t>(n()));
    return lapack::gbtrf(n(), kl, ku, factors.data(), factors.ld(), swaps.data());
  }
  void solve(T* b, index_t r, index_t ldb) const {
    lapack::gbtrs(Op::none, n(), kl, ku, r, factors.data(), factors.ld(), swaps.data(), b, ldb);
  }

  /// Sets rest to b - C x. Returns the backward error: the largest |rest_i| / (|C| |x| + |b|)_i.
  double residual(const T* b, const T* x, std::vector<T>& rest) {
    using Limits = std::numeric_limits<real_t<T>>;
    using Wide = with_parts<T, double>;
    std::vector<Wide> sum(b, b + n());
    std::vector<double> size;
    for (const Wide e : sum) size.push_back(std::abs(e));
    for_each(c, kl, kl + ku, [&](index_t i, index_t j, T e) {
      const Wide term = converted<Wide>(e) * converted<Wide>(x[j]);
      sum[static_cast<std::size_t>(i)] -= term;
      size[static_cast<std::size_t>(i)] += std::abs(term);
    });
    constexpr double least = static_cast<double>(Limits::min() / Limits::epsilon());  // below, terms lose digits
    double worst = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      rest[i] = converted<T>(sum[i]);
      if (!(size[i] <= least)) worst = std::max(worst, std::abs(sum[i]) / size[i]);
    }
    return worst;
  }

  /// Refines C x = b until the backward error of each equation is near eps or decreases no more. Returns it.
  double refine(const T* b, T* x) {
    std::vector<T> rest(static_cast<std::size_t>(n()));
    const double goal =
        static_cast<double>(kl + ku + 2) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
    double error = residual(b, x, rest);
    constexpr int most_steps = 10;
    for (int step = 0; step < most_steps && error > goal; ++step) {
      solve(rest.data(), 1, n());
      std::vector<T> better(x, x + n());
      for (std::size_t i = 0; i < better.size(); ++i) better[i] += rest[i];
      const double next = residual(b, better.data(), rest);
      if (!(next < error)) break;
      std::copy(better.begin(), better.end(), x);
      error = next;
    }
    return error;
  }
};

/// Solves A X = B after rows and columns are divided by `units`; B receives X if it exists.
template <class T>
DirectSolve solve_in_units(index_t kl, index_t ku, const HostMatrix<T>& ab, HostMatrix<T>& B, const Units& units) {
  DirectSolve result;
  HostMatrix<T> c = ab.clone();
  scale_band(c, kl, kl + ku, units);
  FactoredBand<T> band{kl, ku, c.clone(), std::move(c)};
  const real_t<T> norm = norm1(band.c, kl, kl + ku, false);
  result.place = band.factor();
  if (result.place > 0) {
    result.status = DirectStatus::zero_pivot;
    result.condition = std::numeric_limits<double>::infinity();
    return result;
  }
  const double reciprocal =
      lapack::gbcon(band.n(), kl, ku, band.factors.data(), band.factors.ld(), band.swaps.data(), norm);
  const std::vector<int> shifts = scale_right_hand_sides(B, units.rows);
  const HostMatrix<T> right = B.clone();
  band.solve(B.data(), B.cols(), B.ld());
  // Larger errors of equations remain only if elements grew very much.
  const double most = 1e4 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  for (index_t j = 0; j < B.cols(); ++j) {
    const double error = band.refine(&right(0, j), &B(0, j));
    if (error > most) result.error = std::max(result.error, std::min(1.0, error / reciprocal));
    for (index_t i = 0; i < B.rows(); ++i)
      B(i, j) = times_power_of_two(B(i, j),
                                   -units.columns[static_cast<std::size_t>(i)] - shifts[static_cast<std::size_t>(j)]);
  }
  judge(result, reciprocal, B);
  if (result.error > 0 && result.status == DirectStatus::ok) result.status = DirectStatus::doubtful;
  return result;
}

}  // namespace

template <class T>
DirectSolve band_solve(index_t kl, index_t ku, HostMatrix<T>& ab, HostMatrix<T>& B) {
  const index_t n = ab.cols(), above = kl + ku;
  require(kl >= 0 && ku >= 0 && ab.rows() == 2 * kl + ku + 1, "band_solve", "ab", ab.shape(), "; it must have ",
          2 * kl + ku + 1, " rows");
  require(B.rows() == n, "band_solve", "B", B.shape(), "; it must have ", n, " rows");
  if (n == 0) return {};
  const auto visit = [&](const auto& f) {
    for_each(ab, kl, above, [&](index_t i, index_t j, T x) { f(i, j, largest_part(x)); });
  };
  HostMatrix<T> x = B.clone();
  DirectSolve result = solve_in_units(kl, ku, ab, x, units_of(n, n, visit));
  constexpr double good = 1e3;  // condition of units that need no others
  if (result.status != DirectStatus::ok || result.condition > good) {
    HostMatrix<T> other = B.clone();
    DirectSolve second = solve_in_units(kl, ku, ab, other, fitted_band_units(ab, kl, ku));
    if (std::pair(second.status, second.condition) < std::pair(result.status, result.condition)) {
      result = std::move(second);
      x = std::move(other);
    }
  }
  B = std::move(x);
  return result;
}

template <class T>
index_t band_cholesky(HostMatrix<T>& ab) {
  return lapack::pbtrf(ab.cols(), ab.rows() - 1, ab.data(), ab.ld());
}

template <class T>
void band_cholesky_apply(const HostMatrix<T>& r, HostMatrix<T>& B) {
  require(B.rows() == r.cols(), "band_cholesky_apply", "B", B.shape(), "; it must have ", r.cols(), " rows");
  lapack::pbtrs(r.cols(), r.rows() - 1, B.cols(), r.data(), r.ld(), B.data(), B.ld());
}

template <class T>
DirectSolve band_cholesky_solve(HostMatrix<T>& ab, HostMatrix<T>& B) {
  const index_t n = ab.cols(), kd = ab.rows() - 1;
  require(B.rows() == n, "band_cholesky_solve", "B", B.shape(), "; it must have ", n, " rows");
  DirectSolve result;
  if (n == 0) return result;
  // D A D with a diagonal between 1/4 and 4, so that the condition does not depend on units.
  std::vector<int> units;
  for (index_t j = 0; j < n; ++j) units.push_back(exponent(real_part(ab(kd, j))) / 2);
  scale_band(ab, 0, kd, {units, units});
  const real_t<T> norm = norm1(ab, 0, kd, true);
  if (result.place = band_cholesky(ab); result.place > 0) {
    result.status = DirectStatus::not_positive;
    return result;
  }
  scale_rows(B, units);
  band_cholesky_apply(ab, B);
  scale_rows(B, units);
  judge(result, lapack::pbcon(n, kd, ab.data(), ab.ld(), norm), B);
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(band_solve, band_cholesky, band_cholesky_apply, band_cholesky_solve)

}  // namespace tesela
