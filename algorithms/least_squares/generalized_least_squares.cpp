#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/algorithms/least_squares/internal/equation_units.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/least_squares/internal/scaled_rows.hpp>
#include <tesela/algorithms/least_squares/internal/whiten.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
void scale_all(HostMatrix<T>& a, int e) {
  scale_by_power_of_two(std::span(a.data(), static_cast<std::size_t>(a.size())), e);
}

template <class T>
GeneralizedLeastSquares<T> with(LeastSquares<T> answer, CovariancePath path, double condition, index_t rank) {
  GeneralizedLeastSquares<T> result;
  static_cast<LeastSquares<T>&>(result) = std::move(answer);
  result.path = path;
  result.factor_condition = condition;
  result.covariance_rank = rank;
  result.distances.assign(result.residual_norms.size(), 0);
  return result;
}

/// Solves for a regular diagonal F: divides rows by it.
template <class T>
GeneralizedLeastSquares<T> by_rows(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const HostMatrix<T>& F,
                                   const OlsOptions& options) {
  std::vector<real_t<T>> scales(static_cast<std::size_t>(F.rows()));
  real_t<T> most = 0, least = std::numeric_limits<real_t<T>>::infinity();
  for (index_t i = 0; i < F.rows(); ++i) {
    const real_t<T> size = std::abs(F(i, i));
    most = std::max(most, size), least = std::min(least, size);
    scales[static_cast<std::size_t>(i)] = 1 / size;
  }
  return with(detail::solve_scaled_rows(g, A, B, detail::row_classes(scales), options), CovariancePath::rows,
              static_cast<double>(most / least), F.rows());
}

/// Solves the model b = A x + F u for an F of the given rank; `units` is set if the equations were scaled.
template <class T>
GeneralizedLeastSquares<T> solve_by_glm(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, HostMatrix<T>& F,
                                        index_t rank, const OlsOptions& options,
                                        const detail::EquationUnits* units = nullptr) {
  const index_t m = A.m(), p = F.cols();
  GlmOptions of_model;
  const TileShape wanted = glm_tiles(g.runtime(), of_model.method, {m, A.n()}, p).a;
  if (g.runtime().gpus() == 0 &&
      wanted.mb > A.tile_shape().mb) {  // next to F, a copy of A in the tiles that glm prefers is small
    const TileMatrix<T> a(g.runtime(), m, A.n(), wanted, "A"), b(g.runtime(), m, B.n(), {wanted.mb, B.tile_shape().nb});
    rearrange(g, A, {}, a);
    rearrange(g, B, {}, b);
    return solve_by_glm(g, a, b, F, rank, options, units);
  }
  const TileShape tile{A.tile_shape().mb, std::clamp<index_t>(p, 1, A.tile_shape().nb)};
  const auto factor = TileMatrix<T>::map(g.runtime(), F.data(), m, p, F.ld(), tile, "F");
  of_model.rcond = options.rcond;
  of_model.qr = options.qr;
  of_model.multipliers = options.multipliers;
  of_model.keep_spread = options.keep_triangle;
  const Glm<T> s =
      units ? detail::glm_scaled_equations(g, A, factor, B, of_model, *units) : glm(g, A, factor, B, of_model);
  LeastSquares<T> answer;
  answer.X = s.X.clone();
  answer.rank = s.rank;
  answer.condition = s.condition;
  answer.backward_error = s.backward_error;
  answer.original_units = s.original_units;
  answer.residual_norms.assign(static_cast<std::size_t>(B.n()), std::numeric_limits<real_t<T>>::quiet_NaN());
  if (s.X.shape() == Shape{A.n(), B.n()} && s.U.cols() == B.n()) answer.residual_norms = column_norms(s.U);
  answer.degrees_of_freedom = s.rank_b;
  answer.status = s.status;
  GeneralizedLeastSquares<T> result = with(std::move(answer), CovariancePath::model, s.condition_b, rank);
  result.U = s.U.clone();
  result.multipliers = s.multipliers.clone();
  result.multiplier_exponents = s.multiplier_exponents;
  result.spread = s.spread.clone();
  for (std::size_t k = 0; k < s.distances.size(); ++k)
    if (!s.consistent[k]) result.distances[k] = s.distances[k];
  return result;
}

/// Solves by F^-1 [A b] if F is well conditioned. `divide` divides [A b] by F and returns F's condition and whether it
/// did.
template <class T, class Divide>
std::optional<GeneralizedLeastSquares<T>> solve_by_whitening(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                                             const OlsOptions& options, const Divide& divide) {
  const index_t m = A.m(), n = A.n(), r = B.n();
  HostMatrix<T> X(m, n + r);
  if (n > 0) A.copy_to(X.data(), X.ld());
  if (r > 0) B.copy_to(X.data() + n * X.ld(), X.ld());
  if (!all_finite(X)) return with(detail::not_finite<T>(r), CovariancePath::whitened, 1, m);
  const auto [condition, divided] = divide(X);
  if (!divided) return std::nullopt;
  A.copy_from(X.data(), X.ld());
  if (r > 0) B.copy_from(X.data() + n * X.ld(), X.ld());
  X = HostMatrix<T>();
  return with(ols(g, A, B, options), CovariancePath::whitened, condition, m);
}

/// Solves for an F of size 1.
template <class T>
GeneralizedLeastSquares<T> by_factor(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, HostMatrix<T> F,
                                     const OlsOptions& options) {
  const index_t m = A.m(), size = std::max(m, A.n());
  if (detail::structure_of(F) == detail::Structure::diagonal) {
    index_t rank = 0;
    for (index_t i = 0; i < m; ++i) rank += std::isfinite(1 / std::abs(F(i, i))) ? 1 : 0;
    return rank == m ? by_rows(g, A, B, F, options) : solve_by_glm(g, A, B, F, rank, options);
  }
  // Scale rows of F, A and B together, so that the sizes of F's rows do not affect its condition and the sizes of A's
  // rows show their precision.
  detail::EquationUnits units;
  {
    const auto factor = TileMatrix<T>::map(g.runtime(), F.data(), m, m, F.ld(), {A.tile_shape().mb, m}, "F");
    units = detail::equilibrate_equations(g, A, factor, B);
    g.wait();
    factor.bring_home();
  }
  std::optional<GeneralizedLeastSquares<T>> answer;
  std::optional<double> condition;
  const auto divide = [&](HostMatrix<T>& X) {
    condition = detail::divide_if_well_conditioned(g, detail::structure_of(F), F, X, size);
    return std::pair(*condition, detail::well_conditioned<T>(size, *condition));
  };
  if (!units.graded) answer = solve_by_whitening(g, A, B, options, divide);
  if (!answer) {
    HostMatrix<T> nothing(m, 0);
    if (!condition) divide(nothing);
    answer = solve_by_glm(g, A, B, F, detail::rank_of_factor(F, *condition), options, &units);
  }
  detail::unscale_multipliers(units.exponents, answer->multipliers, answer->multiplier_exponents);
  return std::move(*answer);
}

/// Solves for an S near 1.
template <class T>
GeneralizedLeastSquares<T> by_covariance(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, HostMatrix<T> S,
                                         int exponent, const OlsOptions& options) {
  const index_t m = A.m();
  if (detail::structure_of(S) == detail::Structure::diagonal) {
    for (index_t i = 0; i < m; ++i) {
      const real_t<T> variance = real_part(S(i, i));
      if (variance < 0) throw detail::indefinite("gls_covariance", "pivot", i, -1, variance, exponent);
      S(i, i) = T(std::sqrt(variance));
    }
    return by_factor(g, A, B, std::move(S), options);
  }
  auto factor = detail::factor_covariance(g, "gls_covariance", std::move(S), exponent);
  if (!factor.triangular()) return solve_by_glm(g, A, B, factor.F, factor.F.cols(), options);  // S may be singular
  std::vector<int> sizes = detail::row_exponents_of(g, A);  // sizes of A's rows in units of their standard deviations
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != std::numeric_limits<int>::min()) sizes[i] -= factor.units[i];
  if (!detail::graded<T>(sizes)) {
    auto answer = solve_by_whitening(g, A, B, options, [&](HostMatrix<T>& X) {
      const bool divided = detail::well_conditioned<T>(std::max(m, A.n()), factor.condition, true);
      if (divided) detail::divide(g, factor, X);
      return std::pair(factor.condition, divided);
    });
    if (answer) return std::move(*answer);
  }
  HostMatrix<T> F = detail::written_out(std::move(factor));
  return solve_by_glm(g, A, B, F, m, options);
}

/// Converts the result for 2^-exponent F to the result for F.
template <class T>
GeneralizedLeastSquares<T> unscaled(GeneralizedLeastSquares<T> answer, int exponent) {
  for (real_t<T>& norm : answer.residual_norms) norm = std::ldexp(norm, -exponent);
  scale_all(answer.U, -exponent);
  scale_all(answer.triangle, -exponent);
  scale_all(answer.spread, exponent);
  for (int& of_column : answer.multiplier_exponents) of_column -= 2 * exponent;
  return answer;
}

template <class T>
OlsOptions resolved_options(const char* routine, const TileMatrix<T>& A, const TileMatrix<T>& B, const HostMatrix<T>& F,
                            const char* name, const OlsOptions& options) {
  detail::require_conforming(routine, A, B);
  require(F.rows() == A.m() && F.cols() == A.m(), routine, name, F.shape(), "; A has ", A.m(), " rows");
  OlsOptions result = options;
  result.rcond = detail::default_rcond<T>(routine, options, A.m(), A.n());
  return result;
}

}  // namespace

CovarianceError::CovarianceError(const char* routine, std::string before, index_t row, index_t column,
                                 std::string after)
    : ArgumentError(routine, "sigma", words(before, row, column, after, 1)),
      before_(std::move(before)),
      after_(std::move(after)),
      row_(row),
      column_(column) {}

std::string CovarianceError::words(const std::string& before, index_t row, index_t column, const std::string& after,
                                   index_t first) {
  const std::string number = std::to_string(row + first);
  return before + " " + (column < 0 ? number : "(" + number + ", " + std::to_string(column + first) + ")") + after;
}

const char* description(CovariancePath path) {
  switch (path) {
    case CovariancePath::rows: return "rows";
    case CovariancePath::whitened: return "whitened";
    case CovariancePath::model: return "model";
  }
  return "";
}

template <class T>
GeneralizedLeastSquares<T> gls_factor(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, HostMatrix<T> F,
                                      const OlsOptions& options) {
  const OlsOptions of_ols = resolved_options("gls_factor", A, B, F, "F", options);
  if (!all_finite(F)) return with(detail::not_finite<T>(B.n()), CovariancePath::whitened, 1, A.m());
  const int exponent = largest_exponent(F.size(), F.data());
  scale_all(F, -exponent);
  return unscaled(by_factor(g, A, B, std::move(F), of_ols), exponent);
}

template <class T>
GeneralizedLeastSquares<T> gls_covariance(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, HostMatrix<T> S,
                                          const OlsOptions& options) {
  const OlsOptions of_ols = resolved_options("gls_covariance", A, B, S, "sigma", options);
  const index_t m = A.m();
  if (!all_finite(S)) return with(detail::not_finite<T>(B.n()), CovariancePath::whitened, 1, m);
  int exponent = largest_exponent(S.size(), S.data());
  exponent -= exponent % 2 != 0 ? 1 : 0;  // an even exponent, whose root is a power of two
  scale_all(S, -exponent);
  detail::require_symmetric("gls_covariance", S, exponent);
  return unscaled(by_covariance(g, A, B, std::move(S), exponent, of_ols), exponent / 2);
}

template <class T>
GeneralizedLeastSquares<T> gls_factor(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, HostMatrix<T> F,
                                      const OlsOptions& options) {
  return detail::solve_in_tiles(runtime, a, b, options, [&](Graph& g, const auto& A, const auto& B, const auto& o) {
    return gls_factor(g, A, B, std::move(F), o);
  });
}

template <class T>
GeneralizedLeastSquares<T> gls_covariance(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, HostMatrix<T> S,
                                          const OlsOptions& options) {
  return detail::solve_in_tiles(runtime, a, b, options, [&](Graph& g, const auto& A, const auto& B, const auto& o) {
    return gls_covariance(g, A, B, std::move(S), o);
  });
}

#define TESELA_INSTANTIATE_SOLVER(T, SOLVER)                                                                    \
  template GeneralizedLeastSquares<T> SOLVER(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, HostMatrix<T>, \
                                             const OlsOptions&);                                                \
  template GeneralizedLeastSquares<T> SOLVER(Runtime&, MatrixView<T>, MatrixView<T>, HostMatrix<T>, const OlsOptions&);
#define TESELA_INSTANTIATE(T)              \
  TESELA_INSTANTIATE_SOLVER(T, gls_factor) \
  TESELA_INSTANTIATE_SOLVER(T, gls_covariance)
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
