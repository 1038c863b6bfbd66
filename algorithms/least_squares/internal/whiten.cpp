#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/least_squares/internal/whiten.hpp>
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/row_basis.hpp>
#include <tesela/runtime/shortest.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace tesela::detail {

using namespace kernels;
namespace {

template <class T>
HostMatrix<T> adjoint_of(const HostMatrix<T>& a) {
  HostMatrix<T> t(a.cols(), a.rows());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) t(j, i) = conj(a(i, j));
  return t;
}

template <class T>
double divide_by_full(Graph& g, const HostMatrix<T>& F, HostMatrix<T>& X, index_t size) {
  const index_t m = F.rows();
  real_t<T> norm = 0;
  for (index_t j = 0; j < m; ++j) {
    real_t<T> sum = 0;
    for (index_t i = 0; i < m; ++i) sum += std::abs(F(i, j));
    norm = std::max(norm, sum);
  }
  HostMatrix<T> copy = F.clone();
  {
    const TileShape tile = lu_tile(g.runtime(), m);
    const auto factors = TileMatrix<T>::map(g.runtime(), copy.data(), m, m, copy.ld(), tile, "F");
    const auto solved = lu(g, factors);
    if (solved.zero_pivot() != 0) return std::numeric_limits<double>::infinity();
    g.wait();
    factors.bring_home();
    const double reciprocal = lapack::gecon(m, copy.data(), copy.ld(), norm);
    const double condition = reciprocal > 0 ? 1 / reciprocal : std::numeric_limits<double>::infinity();
    if (!well_conditioned<T>(size, condition)) return condition;
    const auto x = TileMatrix<T>::map(g.runtime(), X.data(), m, X.cols(), X.ld(), {m, tile.nb}, "X");
    solved.solve(g, x);
    g.wait();
    x.bring_home();
    return condition;
  }
}

/// Throws unless the remainder of S below its rank is rounding.
template <class T>
void require_semidefinite(const char* routine, const HostMatrix<T>& S, const std::vector<int>& of_rows, int exponent,
                          const HostMatrix<T>& R, const std::vector<index_t>& pivots, index_t rank,
                          real_t<T> tolerance) {
  const index_t m = S.rows(), left = m - rank;
  HostMatrix<T> rest(left, left);
  const auto at = [&](index_t i) { return pivots[static_cast<std::size_t>(rank + i)]; };
  for (index_t j = 0; j < left; ++j)
    for (index_t i = 0; i < left; ++i) rest(i, j) = at(i) <= at(j) ? S(at(i), at(j)) : conj(S(at(j), at(i)));
  if (rank > 0 && left > 0)
    blas::gemm(adjoint<T>, Op::none, left, left, rank, T(-1), R.data() + rank * R.ld(), R.ld(),
               R.data() + rank * R.ld(), R.ld(), T(1), rest.data(), rest.ld());
  const std::string after = "after " + std::to_string(rank) + " pivots ";
  index_t worst = -1;
  for (index_t i = 0; i < left; ++i)
    if (const auto pivot = real_part(rest(i, i));
        !(pivot >= -tolerance) && (worst < 0 || pivot < real_part(rest(worst, worst))))
      worst = i;
  if (worst >= 0)
    throw indefinite(routine, after + "the pivot of row", at(worst), -1, real_part(rest(worst, worst)),
                     exponent + 2 * of_rows[static_cast<std::size_t>(at(worst))]);
  for (index_t j = 0; j < left; ++j)
    for (index_t i = 0; i < left; ++i)
      if (!(std::abs(rest(i, j)) <= tolerance))  // also next to variances of zero
        throw indefinite(
            routine, after + "entry", at(i), at(j), rest(i, j),
            exponent + of_rows[static_cast<std::size_t>(at(i))] + of_rows[static_cast<std::size_t>(at(j))]);
}

/// Throws if an element of the diagonal of 2^exponent S is not real.
template <class T>
void require_real_diagonal(const char* routine, const HostMatrix<T>& S, int exponent, real_t<T> tolerance) {
  if constexpr (is_complex<T>)
    for (index_t i = 0; i < S.cols(); ++i) {
      const auto imaginary = S(i, i).imag();
      if (std::abs(imaginary) <= tolerance * std::abs(S(i, i))) continue;
      throw CovarianceError(routine, "is not Hermitian: its diagonal must be real, and the imaginary part in row", i,
                            -1, " is " + shortest(std::ldexp(imaginary, exponent)));
    }
}

}  // namespace

template <class T>
bool well_conditioned(index_t size, double condition, bool of_covariance) {
  return condition * std::cbrt(static_cast<double>(std::numeric_limits<real_t<T>>::epsilon())) <= 1 &&
         rounding_bound<T>(size) * std::pow(condition, of_covariance ? 2 : 1) <= useful_bound;
}

template <class T>
Structure structure_of(const HostMatrix<T>& F) {
  bool upper = true, lower = true;
  for (index_t j = 0; j < F.cols(); ++j) {
    for (index_t i = 0; i < j; ++i) lower = lower && F(i, j) == T(0);
    for (index_t i = j + 1; i < F.rows(); ++i) upper = upper && F(i, j) == T(0);
  }
  return upper && lower ? Structure::diagonal : upper ? Structure::upper : lower ? Structure::lower : Structure::full;
}

template <class T>
double divide_if_well_conditioned(Graph& g, Structure structure, const HostMatrix<T>& F, HostMatrix<T>& X,
                                  index_t size) {
  if (structure == Structure::full) return divide_by_full(g, F, X, size);
  const bool lower = structure == Structure::lower;
  HostMatrix<T> upper;
  if (lower) upper = adjoint_of(F);
  const HostMatrix<T>& R = lower ? upper : F;
  // Rows of a lower triangular F may have any size: errors of the substitution are relative to each row.
  const double condition = triangle_condition(R, lower);
  if (well_conditioned<T>(size, condition)) triangular_solve(g, lower ? adjoint<T> : Op::none, R, X);
  return condition;
}

template <class T>
index_t rank_of_factor(const HostMatrix<T>& F, double condition) {
  const index_t m = F.rows();
  const double rcond = static_cast<double>(m) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  if (10 * rcond * condition < 1) return m;
  const blas::Threads threads(blas::all_cores());
  HostMatrix<T> columns = F.clone();
  scale_columns(columns);
  return RowBasis<T>(std::move(columns), rcond).rank;
}

template <class T>
void require_symmetric(const char* routine, const HostMatrix<T>& S, int exponent) {
  using Real = real_t<T>;
  const Real tolerance = static_cast<Real>(S.rows()) * std::numeric_limits<Real>::epsilon();
  require_real_diagonal(routine, S, exponent, tolerance);
  Real worst = 0;
  index_t row = 0, column = 0;
  for (index_t j = 0; j < S.cols(); ++j)
    for (index_t i = 0; i < j; ++i) {
      const Real off = std::abs(S(i, j) - conj(S(j, i)));
      if (off == 0) continue;
      const Real size = std::sqrt(std::abs(S(i, i))) * std::sqrt(std::abs(S(j, j))), ratio = off / size;
      if (ratio > tolerance && ratio > worst) worst = ratio, row = i, column = j;
    }
  if (worst > 0)
    throw CovarianceError(routine, is_complex<T> ? "is not Hermitian: worst at" : "is not symmetric: worst at", row,
                          column, ", by " + shortest(worst) + " times the product of the standard deviations");
}

template <class T>
CovarianceError indefinite(const char* routine, const std::string& what, index_t row, index_t column, T value,
                           int exponent) {
  std::ostringstream text;
  if constexpr (is_complex<T>)
    text << " has the magnitude " << std::ldexp(magnitude(value), exponent);
  else
    text << " is " << std::ldexp(static_cast<double>(value), exponent);
  return {routine, "is indefinite: " + what, row, column, text.str()};
}

template <class T>
CovarianceFactor<T> factor_covariance(Graph& g, const char* routine, HostMatrix<T> S, int exponent) {
  const index_t m = S.rows();
  using Real = real_t<T>;
  const Real epsilon = std::numeric_limits<Real>::epsilon();
  // Decide with variances near 1, because errors of one size do not show errors of another size.
  std::vector<int> of_rows(static_cast<std::size_t>(m), 0);
  for (index_t i = 0; i < m; ++i)
    if (real_part(S(i, i)) > 0) of_rows[static_cast<std::size_t>(i)] = std::ilogb(real_part(S(i, i))) / 2;
  std::vector<T> kept;
  kept.reserve(static_cast<std::size_t>(m * (m + 1) / 2));
  for (index_t j = 0; j < m; ++j)
    for (index_t i = 0; i <= j; ++i) {
      S(i, j) =
          times_power_of_two(S(i, j), -of_rows[static_cast<std::size_t>(i)] - of_rows[static_cast<std::size_t>(j)]);
      if (i == j) S(i, j) = T(real_part(S(i, j)));
      kept.push_back(S(i, j));
    }
  index_t minor = 0;
  {
    const auto tiles = TileMatrix<T>::map(g.runtime(), S.data(), m, m, S.ld(),
                                          cholesky_tile(g.runtime(), m, false, is_complex<T>), "S");
    const auto factors = cholesky(g, tiles);
    minor = factors.minor();
    g.wait();
    tiles.bring_home();
  }
  if (minor == 0) {
    const double reciprocal = lapack::trcon(m, S.data(), S.ld());
    if (10 * static_cast<double>(m) * static_cast<double>(epsilon) < reciprocal * reciprocal)
      return {std::move(S), std::move(of_rows), 1 / reciprocal};
  }
  auto next = kept.begin();
  for (index_t j = 0; j < m; ++j)
    for (index_t i = 0; i <= j; ++i) S(i, j) = *next++;
  kept = {};
  Real largest = 0;
  for (index_t i = 0; i < m; ++i) largest = std::max(largest, real_part(S(i, i)));
  const Real tolerance = static_cast<Real>(m) * epsilon * largest;
  HostMatrix<T> R = S.clone();
  std::vector<index_t> pivots;
  const index_t rank = lapack::pstrf(m, R.data(), R.ld(), pivots, tolerance);
  require_semidefinite(routine, S, of_rows, exponent, R, pivots, rank, 10 * tolerance);
  HostMatrix<T> F = HostMatrix<T>::zeros(m, rank);
  for (index_t j = 0; j < m; ++j)
    for (index_t i = 0; i < std::min(rank, j + 1); ++i) {
      const auto row = pivots[static_cast<std::size_t>(j)];
      F(row, i) = times_power_of_two(conj(R(i, j)), of_rows[static_cast<std::size_t>(row)]);
    }
  return {std::move(F)};
}

template <class T>
HostMatrix<T> written_out(CovarianceFactor<T> factor) {
  if (!factor.triangular()) return std::move(factor.F);
  HostMatrix<T>& F = factor.F;
  for (index_t j = 0; j < F.cols(); ++j) {
    const int e = factor.units[static_cast<std::size_t>(j)];
    for (index_t i = 0; i < j; ++i) {
      F(j, i) = times_power_of_two(conj(F(i, j)), e);
      F(i, j) = 0;
    }
    F(j, j) = times_power_of_two(F(j, j), e);
  }
  return std::move(F);
}

template <class T>
void divide(Graph& g, const CovarianceFactor<T>& factor, HostMatrix<T>& X) {
  for (index_t j = 0; j < X.cols(); ++j)
    for (index_t i = 0; i < X.rows(); ++i)
      X(i, j) = times_power_of_two(X(i, j), -factor.units[static_cast<std::size_t>(i)]);
  triangular_solve(g, adjoint<T>, factor.F, X);
}

TESELA_FUNCTIONS_FOR_NUMBERS(well_conditioned, structure_of, divide_if_well_conditioned, rank_of_factor,
                             require_symmetric, indefinite)
TESELA_FUNCTIONS_FOR_NUMBERS(factor_covariance, written_out, divide)

}  // namespace tesela::detail
