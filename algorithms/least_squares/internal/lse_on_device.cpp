#include <tesela/algorithms/least_squares/internal/glm_parts.hpp>
#include <tesela/algorithms/least_squares/internal/lse_parts.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/least_squares/internal/seminormal_rows.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/codelets/least_squares/r_factor.hpp>
#include <tesela/codelets/least_squares/row_scaling.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr double largest_condition = 3e3, largest_condition_of_k = 300;

template <class T>
void add(HostMatrix<T>& x, const HostMatrix<T>& change, T factor = 1) {
  for (index_t k = 0; k < x.size(); ++k) x.data()[k] += factor * change.data()[k];
}

/// Returns c of B = [c; .], and the norms of the rows below.
template <class T>
FirstRows<T> first_rows_in_place(Graph& g, const TileMatrix<T>& B, index_t n) {
  const index_t r = B.n();
  FirstRows<T> parts{HostMatrix<T>(n, r), std::vector<real_t<T>>(at(r))};
  const TileMatrix<T> c(g.runtime(), n, r, {n, r}, "c");
  const TileMatrix<real_t<T>> norms(g.runtime(), r * B.mt(), 1, {r, 1}, "norms");
  g.insert<Lacpy<T>>(on_gpu, {}, B(0, 0), c(0, 0));
  for (index_t i = 0; i < B.mt(); ++i) g.insert<ColumnNorms<T>>(on_gpu, {i == 0 ? n : 0}, B(i, 0), norms(i, 0));
  c.copy_to(parts.rows.data(), parts.rows.ld());
  norms.read_each_tile([&](const auto& part, index_t, index_t) {
    for (index_t k = 0; k < r; ++k) parts.norms_below[at(k)] = std::hypot(parts.norms_below[at(k)], part(k, 0));
  });
  return parts;
}

/// Returns the exponents of b and d, in units of the rows of C.
template <class T>
std::vector<int> sizes(const HostMatrix<T>& c, const HostMatrix<T>& D, const std::vector<int>& of_rows) {
  std::vector<int> result(at(c.cols()), 0);
  for (index_t k = 0; k < c.cols(); ++k) {
    int most = std::numeric_limits<int>::min();
    for (index_t j = 0; j < c.rows(); ++j)
      if (c(j, k) != T(0)) most = std::max(most, std::ilogb(largest_part(c(j, k))));
    for (index_t i = 0; i < D.rows(); ++i)
      if (D(i, k) != T(0)) most = std::max(most, std::ilogb(largest_part(D(i, k))) - of_rows[at(i)]);
    if (most != std::numeric_limits<int>::min()) result[at(k)] = most;
  }
  return result;
}

/// Returns the exponent of the largest |c_ij| / norms_j of each row.
template <class T>
std::vector<int> sizes_of_rows(const HostMatrix<T>& C, const std::vector<real_t<T>>& norms) {
  std::vector<real_t<T>> most(at(C.rows()));
  for (index_t j = 0; j < C.cols(); ++j) {
    const real_t<T> factor = 1 / norms[at(j)];
    for (index_t i = 0; i < C.rows(); ++i) most[at(i)] = std::max(most[at(i)], largest_part(C(i, j)) * factor);
  }
  std::vector<int> result;
  for (const real_t<T> size : most)
    result.push_back(std::ilogb(size));  // the exponent of a zero row is far out of range
  return result;
}

bool moderate(const std::vector<int>& exponents, int most) {
  return std::all_of(exponents.begin(), exponents.end(), [&](int e) { return -most <= e && e <= most; });
}

}  // namespace

template <class T>
std::optional<ConstrainedLeastSquares<T>> lse_on_device(Graph& g, const QrFactorization<T>& of_a,
                                                        const TileMatrix<T>& B, const HostMatrix<T>& C,
                                                        const HostMatrix<T>& D, double rcond) {
  using Real = real_t<T>;
  constexpr double eps = static_cast<double>(std::numeric_limits<Real>::epsilon());
  constexpr int range = std::numeric_limits<Real>::max_exponent / 8;
  const index_t n = C.cols(), p = C.rows(), r = D.cols();
  if (n == 0 || p == 0 || p > n || r == 0 || B.nt() != 1) return std::nullopt;
  // These transfers overlap with the factorization of A.
  const TileMatrix<T> rows = one_tile(g, C, "C"), Ct(g.runtime(), n, p, {n, p}, "C'"),
                      K(g.runtime(), n, p, {n, p}, "K");
  const std::optional<TileR<T>> R = resident_r_if_regular(g, of_a, rcond);
  if (!R || !(R->condition <= largest_condition)) return std::nullopt;
  std::vector<int> units;
  for (const Real norm : R->norms) units.push_back(std::ilogb(norm));
  const std::vector<int> of_rows = sizes_of_rows(C, R->norms);
  if (!moderate(units, range) || !moderate(of_rows, range)) return std::nullopt;

  // Scale C^H, c and d to sizes near 1.
  HostMatrix<Real> factors(p, 1);
  HostMatrix<T> c(n, r), d(p, r);
  for (index_t i = 0; i < p; ++i) factors(i, 0) = std::ldexp(Real(1), -of_rows[at(i)]);
  const TileMatrix<Real> row_factors = one_tile(g, factors, "factors");
  g.insert<ScaleRows<T>>(on_gpu, {}, row_factors(0, 0), rows(0, 0));
  rearrange(g, rows, {.op = adjoint<T>}, Ct);
  g.insert<Lacpy<T>>(on_gpu, {}, Ct(0, 0), K(0, 0));
  R->triangle.insert_solve(g, adjoint<T>, K(0, 0));
  rearrange(g, K, {.op = adjoint<T>}, rows);
  const SeminormalRows<T> system(g, rows, 0);

  const FirstRows<T> b = first_rows_in_place(g, B, n);
  const std::vector<int> of_x = sizes(b.rows, D, of_rows);
  for (index_t k = 0; k < r; ++k) {
    for (index_t j = 0; j < n; ++j) c(j, k) = times_power_of_two(b.rows(j, k), -of_x[at(k)]);
    for (index_t i = 0; i < p; ++i) d(i, k) = times_power_of_two(D(i, k), -of_x[at(k)] - of_rows[at(i)]);
  }
  HostMatrix<T> left = tile_product(g, Op::none, rows, c);
  for (index_t k = 0; k < left.size(); ++k) left.data()[k] = d.data()[k] - left.data()[k];
  std::optional<LeastNorm<T>> w = system.solve(g, left, rcond, 0);
  if (!w || !(w->condition <= largest_condition_of_k)) return std::nullopt;
  HostMatrix<T> x = w->U.clone();
  add(x, c);
  R->triangle.solve(g, Op::none, x);
  // Rounding errors of a large R^-1 c remain in constraints on a small x. The errors of corrections are relative to
  // their own size.
  const auto what_is_left = [&] {
    left = tile_product(g, adjoint<T>, Ct, x);
    for (index_t k = 0; k < left.size(); ++k) left.data()[k] = d.data()[k] - left.data()[k];
  };
  what_is_left();
  for (int sweep = 0; sweep < 2; ++sweep) {
    auto change = system.step(g, left);
    add(w->L, change.L);
    R->triangle.solve(g, Op::none, change.U);
    add(x, change.U);
    what_is_left();
  }

  // R^H (c - R x) = C^H lambda, and C x = d.
  HostMatrix<T> rest = R->triangle.product(g, Op::none, x);
  for (index_t k = 0; k < rest.size(); ++k) rest.data()[k] = c.data()[k] - rest.data()[k];
  HostMatrix<T> gradient = R->triangle.product(g, adjoint<T>, rest);
  add(gradient, tile_product(g, Op::none, Ct, w->L));
  ConstrainedLeastSquares<T> answer;
  const double most = static_cast<double>(std::max(n, p)), rounding = 10 * most * eps;
  answer.constraint_error.bound = std::min(rounding, useful_bound);
  for (index_t k = 0; k < r; ++k) {
    double size = 0, of_c = 0, of_x_k = 0;
    for (index_t j = 0; j < n; ++j) {
      const double unknown = static_cast<double>(R->norms[at(j)]) * static_cast<double>(std::abs(x(j, k)));
      size += unknown;
      of_x_k = std::hypot(of_x_k, unknown);
      of_c = std::hypot(of_c, static_cast<double>(std::abs(c(j, k))));
    }
    for (index_t j = 0; j < n; ++j)
      if (!(static_cast<double>(std::abs(gradient(j, k))) <=
            10 * std::sqrt(most) * eps * static_cast<double>(R->norms[at(j)]) * (size + of_c)))
        return std::nullopt;
    for (index_t i = 0; i < p; ++i) {
      const double data = of_x_k + static_cast<double>(std::abs(d(i, k))),
                   off = static_cast<double>(std::abs(left(i, k)));
      if (!(off <= rounding * data)) return std::nullopt;
      if (data > 0) answer.constraint_error.error = std::max(answer.constraint_error.error, off / data);
    }
    answer.residual_norms.push_back(
        std::hypot(b.norms_below[at(k)], std::ldexp(euclidean_norm(n, &rest(0, k)), of_x[at(k)])));
  }
  answer.constraint_rank = p;
  answer.rank = n - p;
  answer.constraint_condition = w->condition;
  answer.condition = R->condition;
  answer.distances.assign(at(r), 0);
  for (index_t k = 0; k < r; ++k)
    for (index_t j = 0; j < n; ++j) x(j, k) = times_power_of_two(x(j, k), of_x[at(k)]);
  if (!all_finite(x)) return std::nullopt;
  answer.X = std::move(x);
  answer.multipliers = HostMatrix<T>::zeros(p, r);
  add(answer.multipliers, w->L, T(-1));
  answer.multiplier_exponents = of_x;
  for (const int e : of_rows) answer.multiplier_row_exponents.push_back(-e);
  return answer;
}

TESELA_FUNCTIONS_FOR_NUMBERS(lse_on_device)

}  // namespace tesela::detail
