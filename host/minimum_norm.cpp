#include <tesela/host/blas.hpp>
#include <tesela/host/internal/unit_columns.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/rank_revealing.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace tesela::kernels {

template <class T>
std::vector<Unit<real_t<T>>> scale_to_unit_columns(HostMatrix<T>& a) {
  std::vector<Unit<real_t<T>>> units(static_cast<std::size_t>(a.cols()));
  for (index_t j = 0; j < a.cols(); ++j) {
    T* const column = a.data() + j * a.ld();
    Unit<real_t<T>>& unit = units[static_cast<std::size_t>(j)];
    unit.exponent = largest_exponent(a.rows(), column);
    scale_by_power_of_two(std::span(column, static_cast<std::size_t>(a.rows())), -unit.exponent);
    unit.norm = euclidean_norm(a.rows(), column);
    if (unit.norm != 0)
      for (index_t i = 0; i < a.rows(); ++i) column[i] /= unit.norm;
  }
  return units;
}

template <class T>
void clear_below_diagonal(HostMatrix<T>& a) {
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = j + 1; i < a.rows(); ++i) a(i, j) = T(0);
}

namespace {

/// Returns whether ||x||_2 in the original units of x can be minimized: see minimum_norm. `weights` are column norms
/// relative to one of the largest.
template <class T>
bool comparable(const std::vector<Unit<T>>& units, const std::vector<T>& weights) {
  T least = std::numeric_limits<T>::infinity(), most = 0;
  for (std::size_t j = 0; j < units.size(); ++j)
    if (units[j].norm != T(0)) least = std::min(least, weights[j]), most = std::max(most, weights[j]);
  return most <= least / std::sqrt(std::numeric_limits<T>::epsilon());
}

/// Returns whether eps times the condition number of K's triangle, its rows scaled to one size, is at most 0.01. The
/// solution of least norm then has two correct digits, whatever the sizes of K's columns are.
template <class T>
bool has_regular_rows(const HostMatrix<T>& K) {
  using Real = real_t<T>;
  const index_t rank = K.rows();
  HostMatrix<T> rows = HostMatrix<T>::zeros(rank, rank);
  for (index_t i = 0; i < rank; ++i) {
    Real size = 0;
    for (index_t j = i; j < rank; ++j) size = std::max(size, largest_part(K(i, j)));
    if (!(size > 0) || !std::isfinite(size)) return false;
    for (index_t j = i; j < rank; ++j) rows(i, j) = times_power_of_two(K(i, j), -std::ilogb(size));
  }
  constexpr double most = 0.01 / static_cast<double>(std::numeric_limits<Real>::epsilon());
  const double condition = triangle_condition(rows, false);
  return condition <= most || (std::isfinite(condition) && spectral_condition(rows) <= most);
}

}  // namespace

template <class T>
real_t<T> euclidean_norm(index_t n, const T* x) {
  return n == 0 ? 0 : blas::nrm2(n, x);
}

template <class T>
std::vector<real_t<T>> column_norms(const HostMatrix<T>& a) {
  std::vector<real_t<T>> norms(static_cast<std::size_t>(a.cols()));
  for (index_t j = 0; j < a.cols(); ++j)
    norms[static_cast<std::size_t>(j)] = euclidean_norm(a.rows(), a.data() + j * a.ld());
  return norms;
}

template <class T>
bool all_finite(const HostMatrix<T>& a) {
  for (index_t k = 0; k < a.size(); ++k)
    if (!is_finite(a.data()[k])) return false;
  return true;
}

template <class T>
std::vector<int> scale_columns(HostMatrix<T>& a) {
  std::vector<int> exponents(static_cast<std::size_t>(a.cols()));
  for (index_t j = 0; j < a.cols(); ++j) {
    T* const column = a.data() + j * a.ld();
    exponents[static_cast<std::size_t>(j)] = largest_exponent(a.rows(), column);
    scale_by_power_of_two(std::span(column, static_cast<std::size_t>(a.rows())),
                          -exponents[static_cast<std::size_t>(j)]);
  }
  return exponents;
}

template <class T>
double triangle_condition(const HostMatrix<T>& R, bool unit_columns) {
  HostMatrix<T> copy = R.clone();
  clear_below_diagonal(copy);
  if (unit_columns)
    scale_to_unit_columns(copy);
  else
    scale_by_power_of_two(std::span(copy.data(), static_cast<std::size_t>(copy.size())),
                          -largest_exponent(copy.size(), copy.data()));
  const double reciprocal = lapack::trcon(copy.cols(), copy.data(), copy.ld());
  return reciprocal > 0 ? 1 / reciprocal : std::numeric_limits<double>::infinity();
}

template <class T>
MinimumNorm<T> minimum_norm(HostMatrix<T> R, HostMatrix<T> C, double rcond) {
  const index_t k = R.rows(), n = R.cols(), r = C.cols();
  clear_below_diagonal(R);
  using Real = real_t<T>;
  const std::vector<Unit<Real>> units = scale_to_unit_columns(R);
  const std::vector<int> c_exponents = scale_columns(C);
  RankRevealed revealed = reveal_rank(R, C, rcond);
  const index_t rank = revealed.rank;
  const auto& pivots = revealed.pivots;
  MinimumNorm<T> result{HostMatrix<T>::zeros(n, r), rank, {}, true, std::move(revealed.singular_values), revealed.cut};
  result.residual_norms.resize(static_cast<std::size_t>(r));
  for (index_t j = 0; j < r; ++j)
    if (const auto at = static_cast<std::size_t>(j); rank < k)
      result.residual_norms[at] = std::ldexp(euclidean_norm(k - rank, &C(rank, j)), c_exponents[at]);
  if (rank == 0 || r == 0) return result;

  int most = std::numeric_limits<int>::min();
  for (const Unit<Real>& unit : units)
    if (unit.norm != 0) most = std::max(most, unit.exponent);
  std::vector<Real> weights;
  for (const Unit<Real>& unit : units) weights.push_back(std::ldexp(unit.norm, unit.exponent - most));
  // A square triangle has a unique solution, which the scaled columns give most accurately.
  const bool choice = rank < n;
  const auto weighted = [&](bool by_norms) {
    HostMatrix<T> K(rank, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < rank; ++i)
        K(i, j) = i > j      ? T(0)
                  : by_norms ? R(i, j) * weights[static_cast<std::size_t>(pivots[static_cast<std::size_t>(j)])]
                             : R(i, j);
    return K;
  };
  HostMatrix<T> K = weighted(choice);
  std::vector<T> tau(static_cast<std::size_t>(rank));
  if (choice) lapack::tzrzf(rank, n, K.data(), K.ld(), tau.data());
  result.original_units = !choice || comparable(units, weights) || has_regular_rows(K);
  const bool unscale = choice && result.original_units;
  if (!result.original_units) {
    K = weighted(false);
    lapack::tzrzf(rank, n, K.data(), K.ld(), tau.data());
  }
  HostMatrix<T> Y = HostMatrix<T>::zeros(n, r);
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < rank; ++i) Y(i, j) = C(i, j);
  blas::trsm(Op::none, rank, r, K.data(), K.ld(), Y.data(), Y.ld());
  if (choice) lapack::ormrz(rank, n, r, K.data(), K.ld(), tau.data(), Y.data(), Y.ld());
  for (index_t i = 0; i < n; ++i) {
    const index_t unknown = pivots[static_cast<std::size_t>(i)];
    const Unit<Real>& unit = units[static_cast<std::size_t>(unknown)];
    if (unit.norm == 0) continue;
    for (index_t j = 0; j < r; ++j)
      result.X(unknown, j) =
          times_power_of_two(unscale ? Y(i, j) : Y(i, j) / unit.norm,
                             c_exponents[static_cast<std::size_t>(j)] - (unscale ? most : unit.exponent));
  }
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(scale_to_unit_columns, clear_below_diagonal, euclidean_norm, column_norms, all_finite,
                             scale_columns)
TESELA_FUNCTIONS_FOR_NUMBERS(triangle_condition, minimum_norm)

}  // namespace tesela::kernels
