#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/rank_revealing.hpp>

#include <cmath>
#include <utility>

namespace tesela::detail {

using namespace kernels;
namespace {

/// Measures R X - C, which is A X - B in the rows of R. Sets the backward error, and the status if the error is too
/// large. Returns the norms of the columns.
template <class T>
std::vector<double> judge(LeastSquares<T>& answer, const HostMatrix<T>& op_r, const HostMatrix<T>& X,
                          const HostMatrix<T>& C, Shape a) {
  NormalResidual<T> sums(X);
  sums.add(op_r.rows(), op_r.data(), op_r.ld(), C.data(), C.ld());
  answer.backward_error = ols_error<T>(sums.result(), a, answer.rank, answer.cut);
  if (!answer.backward_error.good()) answer.status = SolveStatus::inaccurate;
  return sums.residual_norms();
}

}  // namespace

template <class T>
LeastSquares<T> not_finite(index_t r) {
  constexpr real_t<T> nan = std::numeric_limits<real_t<T>>::quiet_NaN();
  LeastSquares<T> answer;
  answer.status = SolveStatus::not_finite;
  answer.condition = answer.backward_error.error = nan;
  answer.residual_norms.assign(static_cast<std::size_t>(r), nan);
  return answer;
}

template <class T>
LeastSquares<T> ols_any_rank(ExtendedQr<T> e, Shape a, double rcond) {
  const index_t full_rank = std::min(a.rows, a.cols);
  MinimumNorm<T> s = minimum_norm(e.R.clone(), e.C.clone(), rcond);
  if (!all_finite(s.X)) return not_finite<T>(s.X.cols());
  LeastSquares<T> answer;
  answer.status = s.rank < full_rank ? SolveStatus::rank_deficient : SolveStatus::ok;
  answer.rank = s.rank;
  const double smallest = s.singular_values[static_cast<std::size_t>(full_rank) - 1];
  answer.condition = smallest > 0 ? s.singular_values[0] / smallest : std::numeric_limits<double>::infinity();
  answer.cut = s.rank < full_rank ? s.cut : 0;
  answer.original_units = s.original_units;
  // Measured, because X may leave a residual in the rows of a badly conditioned R, not only in the rows below its rank.
  const std::vector<double> left = judge(answer, e.R, s.X, e.C, a);
  for (std::size_t k = 0; k < left.size(); ++k)
    e.residual_norms[k] = std::hypot(e.residual_norms[k], static_cast<real_t<T>>(left[k]));
  answer.residual_norms = std::move(e.residual_norms);
  answer.X = std::move(s.X);
  return answer;
}

template <class T>
bool regular(const HostMatrix<T>& R, double condition, double rcond) {
  if (clearly_regular(condition, rcond)) return true;
  if (R.rows() != R.cols() || !std::isfinite(condition)) return false;
  return regular_by_spectrum(spectral_condition_of_unit_columns(R.clone()), rcond);
}

template <class T>
LeastSquares<T> ols_from_r(Graph& g, ExtendedQr<T> e, Shape a, const OlsOptions& options) {
  if (!all_finite(e)) return not_finite<T>(e.C.cols());
  LeastSquares<T> answer;
  HostMatrix<T> triangle;
  if (options.keep_triangle) triangle = e.R.clone();
  answer.condition = triangle_condition(e.R, true);
  if (!regular(e.R, answer.condition, options.rcond)) {
    answer = ols_any_rank(std::move(e), a, options.rcond);
    answer.degrees_of_freedom = a.rows - answer.rank;
    if (answer.rank == a.cols) answer.triangle = std::move(triangle);
    return answer;
  }
  answer.rank = std::min(a.rows, a.cols);
  answer.degrees_of_freedom = a.rows - answer.rank;
  answer.triangle = std::move(triangle);
  const std::vector<int> of_r = scale_columns(e.R), of_c = scale_columns(e.C);
  HostMatrix<T> X = e.C.clone();
  triangular_solve(g, Op::none, e.R, X);
  static_cast<void>(judge(answer, e.R, X, e.C, a));
  unscale(X, of_c, [&](index_t j) { return of_r[static_cast<std::size_t>(j)]; });
  if (!all_finite(X)) return not_finite<T>(e.C.cols());
  answer.X = std::move(X);
  answer.residual_norms = std::move(e.residual_norms);
  return answer;
}

template <class T>
ExtendedQr<T> reduce_here(const MatrixView<T>& a, const MatrixView<T>& b) {
  const index_t m = a.rows, n = a.cols, r = b.cols, k = std::min(m, n);
  std::vector<T> tau(static_cast<std::size_t>(k));
  lapack::geqrf(m, n, a.data, a.ld, tau.data());
  lapack::ormqr(adjoint<T>, m, r, k, a.data, a.ld, tau.data(), b.data, b.ld);
  ExtendedQr<T> e{HostMatrix<T>::zeros(k, n), HostMatrix<T>(k, r), {}};
  for (index_t j = 0; j < n; ++j) std::copy_n(a.data + j * a.ld, std::min(j + 1, k), e.R.data() + j * k);
  for (index_t j = 0; j < r; ++j) {
    std::copy_n(b.data + j * b.ld, k, e.C.data() + j * k);
    e.residual_norms.push_back(euclidean_norm(m - k, b.data + k + j * b.ld));
  }
  return e;
}

TESELA_FUNCTIONS_FOR_NUMBERS(reduce_here, not_finite, ols_any_rank, regular, ols_from_r)

}  // namespace tesela::detail
