#pragma once

#include <tesela/algorithms/dense/direct_solve.hpp>
#include <tesela/algorithms/dense/range_scaling.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

// Estimates of condition and error that lu_solve and cholesky_solve share, for tiles and on the calling thread.

namespace tesela::detail {

inline constexpr index_t samples = 4;

/// Powers of two, one for each row or column.
using Exponents = std::vector<int>;

/// Largest |e| of a scaling by 2^e that leaves room for sums.
template <class T>
constexpr int most = std::numeric_limits<real_t<T>>::max_exponent - 24;

/// Returns the exponent of `size`: 0 for zero, the largest for an infinite size.
template <class T>
int exponent_of(T size) {
  if (size == T(0)) return 0;
  return std::isfinite(size) ? std::clamp(std::ilogb(size), -most<T>, most<T>) : most<T>;
}

/// Returns n x samples independent numbers, uniform in [-1, 1).
template <class T>
HostMatrix<T> random_columns(index_t n, std::uint64_t seed) {
  const Generator<T> random{.pattern = Pattern::uniform, .seed = seed};
  HostMatrix<T> w(n, samples);
  for (index_t j = 0; j < samples; ++j)
    for (index_t i = 0; i < n; ++i) w(i, j) = random(i, j);
  return w;
}

/// Sets x(i) *= 2^(sign exponents(i) + shift).
template <class T>
void scale(T* x, const Exponents& exponents, int sign, int shift) {
  for (std::size_t i = 0; i < exponents.size(); ++i) x[i] = times_power_of_two(x[i], sign * exponents[i] + shift);
}

/// Returns the exponent of the largest element of each row.
template <class T>
Exponents sizes_of_rows(const HostMatrix<T>& a) {
  Exponents sizes;
  for (index_t i = 0; i < a.rows(); ++i) {
    real_t<T> size = 0;
    for (index_t j = 0; j < a.cols(); ++j) size = largest_part(a(i, j)) <= size ? size : largest_part(a(i, j));
    sizes.push_back(exponent_of(size));
  }
  return sizes;
}

/// Returns an exponent that leaves room for D^-1 w, E w and A E w, and for solutions 1 / eps times as large.
template <class T>
int shift_for(const Exponents& rows, const Exponents& columns) {
  const auto largest = [](const Exponents& e, int sign) {
    int found = 0;
    for (const int x : e) found = std::max(found, sign * x);
    return found;
  };
  const int digits = std::numeric_limits<real_t<T>>::digits;
  return -std::max({0, largest(rows, 1) + 8 - most<T>, largest(columns, -1) + digits - most<T>});
}

template <class Wide>
double length(const std::vector<Wide>& x) {
  return blas::nrm2<Wide>(static_cast<index_t>(x.size()), x.data());
}

/// Returns the largest ||E^-1 x 2^-shift - w|| / ||w|| of all columns, or without `subtract` ||E^-1 x 2^-shift|| /
/// ||w||.
template <class T>
double largest_ratio(const HostMatrix<T>& x, index_t first, const Exponents& columns, int shift, const HostMatrix<T>& w,
                     bool subtract) {
  using Wide = with_parts<T, double>;
  double worst = 0;
  for (index_t k = 0; k < samples; ++k) {
    std::vector<Wide> difference, known;
    for (index_t i = 0; i < x.rows(); ++i) {
      known.push_back(Wide(w(i, k)));
      const Wide found = times_power_of_two(Wide(x(i, first + k)), columns[at(i)] - shift);
      difference.push_back(found - (subtract ? known.back() : Wide(0)));
    }
    const double ratio = length(difference) / length(known);
    if (!(ratio <= worst)) worst = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
  }
  return worst;
}

/// Returns the status of a finite solution from its condition and error. If `estimated` is false, the error is unknown,
/// and the condition alone decides.
template <class T>
DirectStatus status_of(const DirectSolve& solve, bool estimated = true) {
  const double loss = solve.condition * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  if (!(loss <= 1)) return DirectStatus::singular;
  if (!(solve.error <= 0.1)) return DirectStatus::inaccurate;
  if (loss <= 0.01) return solve.error <= 0.01 ? DirectStatus::ok : DirectStatus::doubtful;
  return estimated && solve.error <= 0.001 ? DirectStatus::ok : DirectStatus::doubtful;
}

/// Returns an estimate of the Frobenius norm from products with uniform columns, row i times 2^-exponents(i).
template <class T>
double norm_of(const HostMatrix<T>& products, const Exponents& exponents) {
  double size = 0;
  for (index_t k = 0; k < samples; ++k)
    for (index_t i = 0; i < products.rows(); ++i)
      size = std::hypot(size, std::abs(times_power_of_two(with_parts<T, double>(products(i, k)), -exponents[at(i)])));
  return size * std::sqrt(3.0 / (is_complex<T> ? 2 * samples : samples));  // uniform parts have the variance 1/3
}

/// Replaces units that begin with the rows as units_of does: by units that begin with the columns, or by units from the
/// elements if the sizes of samples still differ much. Returns the norm of D A E then, else 0.
template <class T, class System>
double improve_units(System& system, const HostMatrix<T>& w, Exponents& rows, Exponents& columns) {
  const int left = spread(columns);
  if (left <= small_spread) return 0;
  Exponents first = sizes_of_rows(system.product(adjoint<T>, w));
  const auto products = [&] {  // A E w for E = 2^-first
    const int shift = shift_for<T>(rows, first);
    HostMatrix<T> scaled = w.clone();
    for (index_t k = 0; k < samples; ++k) scale(&scaled(0, k), first, -1, shift);
    return std::pair{system.product(Op::none, scaled), shift};
  };
  auto [sums, shift] = products();
  Exponents second = sizes_of_rows(sums);
  if (std::min(left, spread(second)) > small_spread) {
    Units units = units_of(system.n(), system.n(), [&](const auto& f) { system.visit(f); });
    first = std::move(units.columns);
    rows = second = std::move(units.rows);
    std::tie(sums, shift) = products();
    for (int& e : second) e += shift;
  } else if (spread(second) >= left) {
    return 0;
  }
  const double norm = norm_of(sums, second);
  for (int& e : second) e -= shift;
  rows = std::move(second);
  columns = std::move(first);
  return norm;
}

template <class T, class System>
std::optional<DirectSolve> solve_with_estimates(System& system, bool may_scale);

/// Solves D A E Y = D B in place, for X = E Y and P A = L U. The units of A's rows then do not decide the pivots, and
/// elements do not grow because of them. Multipliers may exceed 1 by the units of two rows.
template <class T, class System>
DirectSolve solve_in_units(System& system) {
  const Units units = units_of(system.n(), system.n(), [&](const auto& f) { system.visit(f); });
  const auto row = [&](index_t i) { return units.rows[at(i)]; };
  const auto column = [&](index_t j) { return units.columns[at(j)]; };
  system.scale_matrix([&](index_t i, index_t j) { return -row(i) - column(j); });
  system.scale_right_hand_sides(units.rows);
  DirectSolve result = *solve_with_estimates<T>(system, false);
  const std::vector<index_t>& order = result.rows;
  system.scale_matrix(
      [&](index_t i, index_t j) { return row(order[at(i)]) + (i > j ? -row(order[at(j)]) : column(j)); });
  system.scale_right_hand_sides(units.columns);
  if (result.has_solution()) system.check_solution(result);
  return result;
}

/// Solves A X = B by LU with estimates. `System` provides the order n, product(op, X), visit(f) as for units_of,
/// leaves_range(rows, columns, across), may_scale_rows(rows) and what solve_in_units calls, factor() with the index of
/// a zero pivot, solve(probes, result), rows() and growth(rows, columns). Returns nothing, and changes nothing, if the
/// system should be scaled first and `may_scale` is set.
template <class T, class System>
std::optional<DirectSolve> solve_with_estimates(System& system, bool may_scale) {
  const index_t n = system.n();
  DirectSolve result;
  HostMatrix<T> probes(n, 2 * samples), w = random_columns<T>(n, 1);
  Exponents rows = sizes_of_rows(system.product(Op::none, w));
  HostMatrix<T> scaled = random_columns<T>(n, 2);
  for (index_t k = 0; k < samples; ++k) scale(&scaled(0, k), rows, -1, 0);
  const HostMatrix<T> across = system.product(adjoint<T>, scaled);
  Exponents columns = sizes_of_rows(across);
  if (may_scale && system.leaves_range(rows, columns, across)) return std::nullopt;
  if (may_scale && system.may_scale_rows(rows)) return solve_in_units<T>(system);
  double size = improve_units(system, w, rows, columns);
  if (size == 0) size = norm_of(across, columns);
  const int shift = shift_for<T>(rows, columns);
  HostMatrix<T> known = w.clone();
  for (index_t k = 0; k < samples; ++k) {
    scale(&known(0, k), columns, -1, shift);
    std::copy_n(&w(0, k), n, &probes(0, samples + k));
    scale(&probes(0, samples + k), rows, 1, shift);
  }
  const HostMatrix<T> right = system.product(Op::none, known);
  std::copy_n(right.data(), right.size(), probes.data());
  result.place = system.factor();
  if (result.place > 0)
    result.status = DirectStatus::zero_pivot;
  else
    system.solve(probes, result);
  result.rows = system.rows();
  if (result.place > 0) return result;
  result.error = std::sqrt(static_cast<double>(n)) * largest_ratio(probes, 0, columns, shift, w, true);
  result.condition =
      size * std::sqrt(static_cast<double>(n)) * largest_ratio(probes, samples, columns, shift, w, false);
  result.status = status_of<T>(result);
  if (result.status == DirectStatus::singular &&
      !(system.growth(rows, columns) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) <= 0.01))
    result.status = DirectStatus::inaccurate;
  return result;
}

/// Solves A X = B by Cholesky with estimates, from A's diagonal. `System` provides factor(), with the order of a minor
/// that is not positive, and solve(probes, result).
template <class T, class System>
DirectSolve solve_positive_with_estimates(System& system, std::span<const T> diagonal) {
  const auto n = static_cast<index_t>(diagonal.size());
  DirectSolve result;
  Exponents units;
  for (const T element : diagonal) {  // also of subnormal numbers, which exponent_of moves nearer to 1
    const real_t<T> a = real_part(element);
    units.push_back(a != 0 && std::isfinite(a) ? std::ilogb(a) / 2 : exponent_of(a) / 2);
  }
  const int shift = shift_for<T>(units, units);
  const HostMatrix<T> w = random_columns<T>(n, 1);
  HostMatrix<T> probes = w.clone();
  for (index_t k = 0; n > 0 && k < samples; ++k) scale(&probes(0, k), units, 1, shift);
  if (result.place = system.factor(); result.place > 0) {
    result.status = DirectStatus::not_positive;
    return result;
  }
  system.solve(probes, result);
  if (n == 0 || result.place > 0) return result;
  // ||C||_F is at least sqrt(n), and ||C^-1||_F about sqrt(n) ||C^-1 w|| / ||w||.
  result.condition = static_cast<double>(n) * largest_ratio(probes, 0, units, shift, w, false);
  result.status = status_of<T>(result, false);
  return result;
}

}  // namespace tesela::detail
