#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/least_squares/internal/wide_system.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace tesela::detail {

using namespace kernels;
namespace {

template <class T>
HostMatrix<T> scaled(HostMatrix<T> x, int e) {
  scale_by_power_of_two(std::span(x.data(), static_cast<std::size_t>(x.size())), e);
  return x;
}

/// A wide system with R scaled to size 1 by a power of two: A = 2^exponent (Q R)^H.
template <class T>
struct ScaledSystem {
  Graph& g;
  const WideSystem<T>& given;
  const HostMatrix<T>& R;
  int exponent;

  /// Returns Q [R^-H C; 0].
  HostMatrix<T> solution(HostMatrix<T> C) const {
    triangular_solve(g, Op::conjugate, R, C);
    HostMatrix<T> X = HostMatrix<T>::zeros(given.shape.cols, C.cols());
    for (index_t j = 0; j < C.cols(); ++j)
      for (index_t i = 0; i < C.rows(); ++i) X(i, j) = C(i, j);
    given.apply_q(X);
    return X;
  }

  /// Returns C - (Q R)^H X = C - 2^-exponent A X. X is scaled by half of the exponent and C by the other half, so that
  /// all numbers stay in range.
  HostMatrix<T> rest(const HostMatrix<T>& C, const HostMatrix<T>& X) const {
    const int half = exponent / 2;
    HostMatrix<T> left = scaled(C.clone(), exponent - half);
    given.subtract(left, scaled(X.clone(), -half));
    return scaled(std::move(left), half - exponent);
  }
};

/// Returns the largest ||a_k|| / ||b_k|| of all columns; zero columns of a count as 0.
template <class T>
double largest_ratio(const HostMatrix<T>& a, const std::vector<double>& sizes) {
  const std::vector<real_t<T>> norms = column_norms(a);
  double most = 0;
  for (std::size_t k = 0; k < norms.size(); ++k)
    if (norms[k] != 0) most = std::fmax(most, static_cast<double>(norms[k]) / sizes[k]);
  return most;
}

}  // namespace

template <class T>
std::optional<LeastSquares<T>> solve_wide_system(Graph& g, ExtendedQr<T> e, const WideSystem<T>& system, double rcond) {
  const auto [m, n] = system.shape;
  const index_t r = e.C.cols();
  if (!all_finite(e)) return not_finite<T>(r);
  LeastSquares<T> result;
  // Rows are not scaled here. If A is well conditioned, so is A with scaled columns, up to a factor sqrt(n). The
  // decision therefore agrees with the rank of scaled columns, which is computed in doubtful cases.
  result.condition = triangle_condition(e.R, false);
  if (!clearly_regular(result.condition * std::sqrt(static_cast<double>(n)), rcond)) return std::nullopt;
  result.rank = m;
  const int of_r = largest_exponent(e.R.size(), e.R.data());
  scale_by_power_of_two(std::span(e.R.data(), static_cast<std::size_t>(e.R.size())), -of_r);
  const std::vector<int> of_c = scale_columns(e.C);
  const ScaledSystem<T> least{g, system, e.R, of_r};
  result.X = HostMatrix<T>::zeros(n, r);
  if (r == 0) return result;

  result.X = least.solution(e.C.clone());
  HostMatrix<T> rest = least.rest(e.C, result.X);
  // X solves a problem within rounding of the given one. If A is badly conditioned (for example because its columns
  // differ in size), ||A X - B|| may still be far above rounding; then the residual is solved for.
  const std::vector<real_t<T>> norms = column_norms(e.C);
  const std::vector<double> sizes(norms.begin(), norms.end());
  const double rounding =
      std::sqrt(static_cast<double>(n)) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  for (int step = 0; step < 2 && largest_ratio(rest, sizes) > rounding; ++step) {
    HostMatrix<T> better = least.solution(rest.clone());
    for (index_t k = 0; k < better.size(); ++k) better.data()[k] += result.X.data()[k];
    HostMatrix<T> less = least.rest(e.C, better);
    if (!(largest_ratio(less, sizes) < largest_ratio(rest, sizes))) break;
    result.X = std::move(better);
    rest = std::move(less);
  }
  const double size = euclidean_norm(e.R.size(), e.R.data());
  std::vector<double> largest = sizes;
  for (index_t k = 0; k < r; ++k)
    largest[static_cast<std::size_t>(k)] += size * euclidean_norm(n, result.X.data() + k * n);
  result.backward_error =
      ols_error<T>({.equation_error = all_finite(rest) ? largest_ratio(rest, largest) : NAN}, system.shape, m, 0);
  if (!result.backward_error.good()) result.status = SolveStatus::inaccurate;
  result.residual_norms = column_norms(rest);
  for (std::size_t k = 0; k < of_c.size(); ++k)
    result.residual_norms[k] = std::ldexp(result.residual_norms[k], of_c[k]);
  unscale(result.X, of_c, [&](index_t) { return of_r; });
  if (!all_finite(result.X)) return not_finite<T>(r);
  return result;
}

template <class T>
LeastSquares<T> solve_wide_here(Graph& g, const MatrixView<T>& a, const MatrixView<T>& b, double rcond) {
  const index_t m = a.rows, n = a.cols, r = b.cols;
  HostMatrix<T> transposed(n, m);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) transposed(j, i) = conj(a.data[i + j * a.ld]);
  std::vector<T> tau(static_cast<std::size_t>(m));
  lapack::geqrf(n, m, transposed.data(), transposed.ld(), tau.data());
  ExtendedQr<T> e{HostMatrix<T>::zeros(m, m), HostMatrix<T>(m, r), {}};
  for (index_t j = 0; j < m; ++j) std::copy_n(&transposed(0, j), j + 1, &e.R(0, j));
  for (index_t j = 0; j < r; ++j) std::copy_n(b.data + j * b.ld, m, &e.C(0, j));
  const WideSystem<T> system{
      a.shape(),
      [&](HostMatrix<T>& X) {
        lapack::ormqr(Op::none, n, X.cols(), m, transposed.data(), n, tau.data(), X.data(), X.ld());
      },
      [&](HostMatrix<T>& C, const HostMatrix<T>& X) {
        blas::gemm(Op::none, Op::none, m, C.cols(), n, T(-1), a.data, a.ld, X.data(), X.ld(), T(1), C.data(), C.ld());
      }};
  std::optional<LeastSquares<T>> solved = solve_wide_system(g, std::move(e), system, rcond);
  return solved ? std::move(*solved) : ols_any_rank(reduce_here(a, b), a.shape(), rcond);
}

TESELA_FUNCTIONS_FOR_NUMBERS(solve_wide_system, solve_wide_here)

}  // namespace tesela::detail
