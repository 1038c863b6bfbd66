#include <tesela/algorithms/least_squares/internal/filtered_values.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/least_squares/regularized_least_squares.hpp>
#include <tesela/algorithms/support/calling_thread.hpp>
#include <tesela/algorithms/support/centred.hpp>
#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/filled.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

constexpr const char* routine = "regularized_least_squares";

void check(const RegularizedOptions& o, Shape a, Shape b) {
  require(b.rows == a.rows, routine, "B", b, "; A has ", a.rows, " rows");
  const double given = o.parameter.value_or(0);
  require(given >= 0 && std::isfinite(given), routine, "parameter", shortest(given), " is not a number from 0 on");
  require(o.kind == Regularization::ridge || given == std::floor(given), routine, "parameter", shortest(given),
          " is not a whole number");
  const index_t values = std::min(a.rows, a.cols);
  require(o.kind == Regularization::ridge || given <= static_cast<double>(values), routine, "parameter",
          shortest(given), "; A has ", values, " singular values");
}

/// The problem in the triangle's rows, in double precision, whatever the precision of the data.
struct Reduced {
  HostMatrix<double> R, C;
  std::vector<double> rest;  ///< norms of the columns of B below C
  Shape a;
  double rcond, bound;  ///< of the rank, and of the backward error
};

template <class T>
HostMatrix<double> in_double(const HostMatrix<T>& a) {
  return filled<double>(a.shape(), [&](index_t i, index_t j) { return static_cast<double>(a(i, j)); });
}

template <class T>
Regularized<T> without_solution(index_t r) {
  Regularized<T> answer;
  answer.status = SolveStatus::not_finite;
  answer.fits.resize(at(r));
  answer.backward_error.error = std::numeric_limits<double>::quiet_NaN();
  return answer;
}

/// Returns the measured error of column j of X: of the gradient of the ridge's objective, or of the problem with A_k.
double column_error(const Reduced& p, const Regularized<double>& answer, const RegularizedFit& fit, Regularization kind,
                    index_t j) {
  const index_t k = p.R.rows(), n = p.R.cols(), r = 1;
  const auto x = filled<double>({n, r}, [&](index_t i, index_t) { return answer.X(i, j); });
  if (kind == Regularization::ridge) {
    NormalResidual<double> sums(x);
    sums.add(k, p.R.data(), p.R.ld(), &p.C(0, j), p.C.ld());
    const auto penalty = filled<double>({n, n}, [&](index_t i, index_t c) { return i == c ? fit.root : 0; });
    const auto zero = HostMatrix<double>::zeros(n, r);
    if (fit.root > 0) sums.add(n, penalty.data(), penalty.ld(), zero.data(), zero.ld());
    return sums.result().backward_error;
  }
  // X lies in the span of the first columns of V, and A V_k y = b has no better y.
  const auto used = static_cast<index_t>(fit.parameter);
  if (used == 0) return euclidean_norm(n, x.data()) == 0 ? 0 : 1;
  HostMatrix<double> y(used, r), projected(k, used), outside = x.clone();
  const double* const v = answer.V.data();
  blas::gemm<double>(Op::transpose, Op::none, used, r, n, 1, v, n, x.data(), n, 0, y.data(), used);
  blas::gemm<double>(Op::none, Op::none, n, r, used, -1, v, n, y.data(), used, 1, outside.data(), n);
  blas::gemm<double>(Op::none, Op::none, k, used, n, 1, p.R.data(), p.R.ld(), v, n, 0, projected.data(), k);
  NormalResidual<double> sums(y);
  sums.add(k, projected.data(), projected.ld(), &p.C(0, j), p.C.ld());
  const double size = euclidean_norm(n, x.data()), distance = euclidean_norm(n, outside.data());
  return std::max(sums.result().backward_error, size > 0 ? distance / size : 0);
}

/// Sets the rank, the cut and V from the decomposition of R.
void set_rank(const Reduced& p, const Svd<double>& found, Regularized<double>& answer) {
  answer.values = found.values;
  double all = 0, cut = 0;
  for (const double s : found.values) {
    const double ratio = found.norm > 0 ? s / found.norm : 0;
    const bool counts = ratio > p.rcond;
    answer.rank += counts ? 1 : 0;
    all += ratio * ratio;
    cut += counts ? 0 : ratio * ratio;
  }
  answer.cut = all > 0 ? std::sqrt(cut / all) : 0;
  answer.V = filled<double>({p.a.cols, answer.rank}, [&](index_t i, index_t j) { return (*found.v)(i, j); });
}

/// Returns the solution of min ||c - R x||^2 + root^2 ||x||^2 by the rows of R above root I. Its errors do not depend
/// on the units of the columns, while errors of singular values are relative to the largest one. Returns nothing if the
/// rows have no clearly full rank.
std::optional<HostMatrix<double>> ridge_by_rows(Graph& g, const HostMatrix<double>& R, const double* c, double root) {
  const index_t k = R.rows(), n = R.cols();
  auto rows = filled<double>({k + n, n}, [&](index_t i, index_t j) { return i < k ? R(i, j) : i - k == j ? root : 0; });
  auto right = filled<double>({k + n, 1}, [&](index_t i, index_t) { return i < k ? c[i] : 0; });
  LeastSquares<double> solved = ols(g.runtime(), MatrixView<double>(rows), MatrixView<double>(right));
  if (solved.status != SolveStatus::ok) return {};
  return std::move(solved.X);
}

/// Solves the problem that is reduced to R.
Regularized<double> solve(Graph& g, const Reduced& p, const RegularizedOptions& o) {
  const index_t k = p.R.rows(), n = p.a.cols, r = p.C.cols();
  Regularized<double> answer;
  const auto tiles = TileMatrix<double>::map(g.runtime(), p.R.data(), k, n, p.R.ld(),
                                             {std::max<index_t>(k, 1), std::max<index_t>(n, 1)}, "R");
  const Svd<double> found = svd(g, tiles, {});
  if (!found.status.ok()) return without_solution<double>(r);
  set_rank(p, found, answer);
  const index_t rank = answer.rank;
  const bool ridge = o.kind == Regularization::ridge;
  // The values and the root of lambda are at most 2 in this unit; lambda itself may leave the range in others.
  const double root = ridge ? std::sqrt(o.parameter.value_or(0)) : 0, largest = std::max(found.norm, root);
  const int unit = largest > 0 ? std::ilogb(largest) : 0;
  std::vector<double> s;
  for (index_t i = 0; i < rank; ++i) s.push_back(std::ldexp(answer.values[at(i)], -unit));
  HostMatrix<double> c = p.C.clone(), weighted(rank, r);
  std::vector<int> units(at(r));  // of the columns of B
  for (index_t j = 0; j < r; ++j) {
    double most = p.rest[at(j)];
    for (index_t i = 0; i < k; ++i) most = std::max(most, std::abs(c(i, j)));
    units[at(j)] = most > 0 ? std::ilogb(most) : 0;
    for (index_t i = 0; i < k; ++i) c(i, j) = std::ldexp(c(i, j), -units[at(j)]);
  }
  HostMatrix<double> z = c.clone();
  if (k > 0 && n > 0 && r > 0)  // U is square, because k <= n
    blas::gemm<double>(Op::transpose, Op::none, k, r, k, 1, found.u->data(), found.u->ld(), c.data(), c.ld(), 0,
                       z.data(), z.ld());
  for (index_t j = 0; j < r; ++j) {
    const double* const of_b = z.data() + j * k;
    const std::vector<double> coefficients(of_b, of_b + rank);
    const double rest = std::hypot(std::ldexp(p.rest[at(j)], -units[at(j)]), euclidean_norm(k - rank, of_b + rank));
    const detail::FilteredValues values(o.kind, s, coefficients, rest, p.a.rows, o.intercept ? 1 : 0);
    RegularizedFit& fit = answer.fits.emplace_back();
    if (!o.parameter)
      values.minimize(fit);
    else
      fit.parameter = ridge ? std::pow(std::ldexp(root, -unit), 2) : std::min(*o.parameter, static_cast<double>(rank));
    for (index_t i = 0; i < rank; ++i) weighted(i, j) = values.weight(i, fit.parameter) * z(i, j);
    fit.gcv = std::ldexp(values.gcv(fit.parameter), 2 * units[at(j)]);
    fit.effective_df = values.effective_df(fit.parameter);
    fit.residual_norm = std::ldexp(values.residual_norm(fit.parameter), units[at(j)]);
    fit.root = !ridge ? 0 : o.parameter ? root : std::ldexp(std::sqrt(fit.parameter), unit);
    if (ridge && fit.root == 0 && rank < n) answer.status = SolveStatus::rank_deficient;
    const auto in_data = [&](double parameter) { return ridge ? std::ldexp(parameter, 2 * unit) : parameter; };
    fit.parameter = o.parameter && ridge ? *o.parameter : in_data(fit.parameter);
    for (GcvPoint& point : fit.curve) point = {in_data(point.parameter), std::ldexp(point.gcv, 2 * units[at(j)])};
  }
  answer.X = HostMatrix<double>::zeros(n, r);
  if (rank > 0 && r > 0)
    blas::gemm<double>(Op::none, Op::none, n, r, rank, 1, answer.V.data(), answer.V.ld(), weighted.data(),
                       weighted.ld(), 0, answer.X.data(), answer.X.ld());
  // Values of this size or larger, with lambda, give X with at least eight digits.
  const double least = k < n || found.values.empty() ? 0 : found.values.back(),
               exact = 1e8 * static_cast<double>(n) * std::numeric_limits<double>::epsilon() * found.norm;
  for (index_t j = 0; j < r; ++j) {
    for (index_t i = 0; i < n; ++i) answer.X(i, j) = std::ldexp(answer.X(i, j), units[at(j)] - unit);
    RegularizedFit& fit = answer.fits[at(j)];
    if (fit.root == 0 || o.reduction.rcond > 0 || std::hypot(least, fit.root) > exact) continue;
    const double* const right = c.data() + j * k;
    const auto x = ridge_by_rows(g, p.R, right, fit.root);
    if (!x) continue;
    for (index_t i = 0; i < n; ++i) answer.X(i, j) = std::ldexp((*x)(i, 0), units[at(j)]);
    std::vector<double> residual(right, right + k);
    blas::gemm<double>(Op::none, Op::none, k, 1, n, -1, p.R.data(), p.R.ld(), x->data(), n, 1, residual.data(), k);
    fit.residual_norm = std::hypot(p.rest[at(j)], std::ldexp(euclidean_norm(k, residual.data()), units[at(j)]));
  }
  if (!all_finite(answer.X)) return without_solution<double>(r);
  answer.backward_error = {0, p.bound, 2 * answer.cut};
  if (k == 0 || n == 0) return answer;
  for (index_t j = 0; j < r; ++j) {
    const double error = column_error(p, answer, answer.fits[at(j)], o.kind, j);
    answer.backward_error.error = std::isnan(error) ? error : std::max(answer.backward_error.error, error);
  }
  if (!answer.backward_error.good()) answer.status = SolveStatus::inaccurate;
  return answer;
}

/// Solves the problem of the parts; `means` has the means of A's and then of B's columns, if they were subtracted.
template <class T>
Regularized<T> finish(Graph& g, ExtendedQr<T> e, Shape a, const std::vector<double>& means,
                      const RegularizedOptions& o) {
  const index_t r = e.C.cols();
  if (!all_finite(e)) return without_solution<T>(r);
  const Reduced p{in_double(e.R),
                  in_double(e.C),
                  {e.residual_norms.begin(), e.residual_norms.end()},
                  a,
                  detail::default_rcond<T>(routine, o.reduction, a.rows, a.cols),
                  rounding_bound<T>(std::max(a.rows, a.cols))};
  Regularized<double> found = solve(g, p, o);
  Regularized<T> answer;
  answer.X = filled<T>(found.X.shape(), [&](index_t i, index_t j) { return static_cast<T>(found.X(i, j)); });
  if (!all_finite(answer.X)) return without_solution<T>(r);
  answer.status = found.status;
  answer.rank = found.rank;
  answer.values = std::move(found.values);
  answer.fits = std::move(found.fits);
  answer.V = std::move(found.V);
  answer.cut = found.cut;
  answer.backward_error = found.backward_error;
  if (!o.intercept || answer.status == SolveStatus::not_finite) return answer;
  for (index_t j = 0; j < r; ++j) {
    double& constant = answer.fits[at(j)].intercept = means[at(a.cols + j)];
    for (index_t i = 0; i < a.cols; ++i) constant -= means[at(i)] * static_cast<double>(answer.X(i, j));
    if (!std::isfinite(constant)) return without_solution<T>(r);
  }
  return answer;
}

}  // namespace

template <class T>
Regularized<T> regularized_least_squares(Graph& g, MatrixView<T> a, MatrixView<T> b, const RegularizedOptions& o) {
  check(o, a.shape(), b.shape());
  const auto [m, n] = a.shape();
  static_cast<void>(detail::default_rcond<T>(routine, o.reduction, m, n));
  Runtime& runtime = g.runtime();
  HostMatrix<T> work_a = copy_of<T>(runtime, a), work_b = copy_of<T>(runtime, b);
  std::vector<double> means;
  if (o.intercept) {
    means = centre(work_a);
    for (const double mean : centre(work_b)) means.push_back(mean);
  }
  if (m < n || n == 0) {  // svd reduces it; without columns, all of B is left
    ExtendedQr<T> e{std::move(work_a), std::move(work_b), std::vector<T>(at(b.cols))};
    return finish(g, std::move(e), {m, n}, means, o);
  }
  const MatrixView<T> of_a(work_a), of_b(work_b);
  const double products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(n + b.cols);
  if (o.reduction.method == OlsMethod::automatic && runs_here(runtime, products, largest_factored_here, of_a, of_b) &&
      has_moderate_size(of_a) && has_moderate_size(of_b))
    return finish(g, detail::reduce_here(of_a, of_b), {m, n}, means, o);
  OlsOptions reduction = o.reduction;
  reduction.method = ols_method<T>(reduction.method, {m, n}, b.cols);
  const TileShape tile = ols_tile(runtime, reduction.method, {m, n});
  ExtendedQr<T> e = detail::reduce(g, of_a.in_tiles(runtime, tile, "A"), of_b.in_tiles(runtime, tile, "B"), reduction);
  return finish(g, std::move(e), {m, n}, means, o);
}

template <class T>
Regularized<T> regularized_least_squares(Runtime& runtime, MatrixView<T> a, MatrixView<T> b,
                                         const RegularizedOptions& o) {
  Graph g(runtime);
  return regularized_least_squares(g, a, b, o);
}

template <class T>
Regularized<T> regularized_least_squares(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                         const RegularizedOptions& o) {
  check(o, {A.m(), A.n()}, B.shape());
  require(!o.intercept, routine, "intercept", "needs A in memory");
  require(A.m() > 0 && A.n() > 0, routine, "A", "a file without numbers");
  auto triangles = detail::reduce(g, A, B, HostMatrix<T>(), o.reduction.rows);
  return finish(g, std::move(triangles.front()), {A.m(), A.n()}, {}, o);
}

#define TESELA_INSTANTIATE(T)                                                                                         \
  template Regularized<T> regularized_least_squares(Runtime&, MatrixView<T>, MatrixView<T>,                           \
                                                    const RegularizedOptions&);                                       \
  template Regularized<T> regularized_least_squares(Graph&, MatrixView<T>, MatrixView<T>, const RegularizedOptions&); \
  template Regularized<T> regularized_least_squares(Graph&, const MatrixRows<T>&, const HostMatrix<T>&,               \
                                                    const RegularizedOptions&);
TESELA_FOR_REALS(TESELA_INSTANTIATE)

}  // namespace tesela
