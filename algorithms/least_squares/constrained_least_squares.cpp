#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/algorithms/least_squares/internal/lse_parts.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/least_squares/internal/row_system.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/normal_residual.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

/// Computes B -= A X on blocks.
template <class T>
void subtract_product(const HostMatrix<T>& a, index_t column, index_t columns, const HostMatrix<T>& x, index_t row,
                      HostMatrix<T>& b) {
  if (b.size() == 0 || columns == 0) return;
  blas::gemm(Op::none, Op::none, b.rows(), b.cols(), columns, T(-1), a.data() + column * a.ld(), a.ld(), x.data() + row,
             x.ld(), T(1), b.data(), b.ld());
}

template <class T>
ConstrainedLeastSquares<T> without_x(SolveStatus status, index_t r) {
  ConstrainedLeastSquares<T> answer;
  answer.status = status;
  answer.distances.assign(static_cast<std::size_t>(r), 0);
  answer.residual_norms.assign(static_cast<std::size_t>(r), std::numeric_limits<real_t<T>>::quiet_NaN());
  answer.constraint_error.error = std::numeric_limits<double>::quiet_NaN();
  if (status == SolveStatus::not_finite) answer.condition = answer.constraint_condition = answer.constraint_error.error;
  return answer;
}

/// Computes one solution, in units of the unknowns.
template <class T>
class Solve {
 public:
  Solve(Graph& g, const ExtendedQr<T>& e, const HostMatrix<T>& C, const HostMatrix<T>& D, double rcond)
      : g_(g), e_(e), c_(C), d_(D), rcond_(rcond) {}

  ConstrainedLeastSquares<T> run(std::vector<int> units) {
    detail::ScaledProblem<T> s = detail::scaled_problem(e_, c_, d_, std::move(units));
    const index_t n = c_.cols(), r = d_.cols();
    const detail::Constraints<T> constraints(g_, s.C, detail::equilibrated(c_), rcond_);
    const index_t rank = constraints.rank(), free = n - rank;
    const double norm_a = static_cast<double>(euclidean_norm(s.M.size(), s.M.data()));

    HostMatrix<T> y = HostMatrix<T>::zeros(n, r);
    constraints.multiply_right(g_, s.M);  // M Q, so that x = Q y
    const HostMatrix<T> of_d = constraints.solve(g_, s.d);
    for (index_t k = 0; k < r; ++k)
      for (index_t i = 0; i < rank; ++i) y(i, k) = of_d(i, k);
    subtract_product(s.M, 0, rank, of_d, 0, s.b);
    ConstrainedLeastSquares<T> answer;
    const Free inner = solve_free(s.M, s.b, rank, norm_a);
    if (!inner.finite) return without_x<T>(SolveStatus::not_finite, r);
    for (index_t k = 0; k < r; ++k)
      for (index_t i = 0; i < free; ++i) y(rank + i, k) = inner.Y(i, k);
    subtract_product(s.M, rank, free, y, rank, s.b);  // the residual
    HostMatrix<T> x = y.clone();
    constraints.multiply(g_, x);
    // Rounding errors of large unknowns remain in constraints on small ones. Two corrections, whose errors are relative
    // to their own size, suffice.
    const auto correct = [&](index_t first, const HostMatrix<T>& by) {
      HostMatrix<T> change = HostMatrix<T>::zeros(n, r);
      for (index_t k = 0; k < r; ++k)
        for (index_t i = 0; i < by.rows(); ++i) change(first + i, k) = by(i, k);
      subtract_product(s.M, first, by.rows(), change, first, s.b);
      constraints.multiply(g_, change);
      for (index_t e = 0; e < x.size(); ++e) x.data()[e] += change.data()[e];
    };
    double moved = 0;
    for (int sweep = 0; sweep < 2 && rank > 0 && all_finite(x); ++sweep) {
      HostMatrix<T> left = s.d.clone();
      subtract_product(s.C, 0, n, x, 0, left);
      const HostMatrix<T> by = constraints.solve(g_, left);
      moved = std::max(moved, static_cast<double>(euclidean_norm(by.size(), by.data())));
      correct(0, by);
    }
    const double little = 100 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
    if (free > 0 && moved > little * static_cast<double>(euclidean_norm(x.size(), x.data())))
      if (const Free again = solve_free(s.M, s.b, rank, norm_a); again.finite) correct(rank, again.Y);

    answer.constraint_rank = rank;
    answer.dropped_rows = constraints.dropped();
    answer.constraint_condition = constraints.condition();
    answer.rank = inner.rank;
    answer.condition = inner.condition;
    answer.cut = std::max(inner.cut, constraints.cut());
    answer.residual_norms = e_.residual_norms;
    for (index_t k = 0; k < r; ++k) {
      real_t<T>& norm = answer.residual_norms[static_cast<std::size_t>(k)];
      norm = std::hypot(norm, std::ldexp(euclidean_norm(s.b.rows(), s.b.data() + k * s.b.ld()), s.of_x[at(k)]));
    }
    answer.multipliers = constraints.multipliers(g_, s.M, s.b);
    answer.multiplier_exponents = s.of_x;
    for (const int e : s.of_rows) answer.multiplier_row_exponents.push_back(-e);
    judge(answer, s, x, constraints);
    if (answer.status == SolveStatus::ok && !inner.good) answer.status = SolveStatus::inaccurate;
    if (answer.status == SolveStatus::ok && inner.rank < free) answer.status = SolveStatus::rank_deficient;
    for (index_t k = 0; k < r; ++k)
      for (index_t j = 0; j < n; ++j)
        y(s.order[at(j)], k) = times_power_of_two(x(j, k), s.of_x[at(k)] - s.units[at(j)]);
    if (!all_finite(y)) return without_x<T>(SolveStatus::not_finite, r);
    answer.X = std::move(y);
    return answer;
  }

 private:
  struct Free {
    HostMatrix<T> Y;
    bool finite = true, good = true;
    index_t rank = 0;
    double condition = 1, cut = 0;
  };

  /// Solves min ||M_2 y - b||_2 over the columns of M from `rank` on, with least norm. Parts of M_2 below rcond norm_a
  /// may be rounding errors of A, and count as zero.
  Free solve_free(const HostMatrix<T>& M, const HostMatrix<T>& b, index_t rank, double norm_a) {
    const index_t rows = M.rows(), free = M.cols() - rank, r = b.cols();
    Free answer{HostMatrix<T>::zeros(free, r)};
    if (rows == 0 || free == 0) return answer;
    const TileShape tile = qr_tile(g_.runtime(), std::max(rows, free), std::min(rows, free));
    const T* const m2 = M.data() + rank * M.ld();
    const auto A = TileMatrix<T>::map(g_.runtime(), m2, rows, free, M.ld(), tile, "A");
    const auto factor = [&](const TileMatrix<T>& matrix) { return qr(g_, matrix); };
    const detail::RowSystem<T, decltype(factor)> system(g_, A, 0, tile, factor);
    HostMatrix<T> right = b.clone();
    const std::vector<int> of_right = scale_columns(right);
    const detail::LeastNorm<T> s = system.solve(g_, right.clone(), rcond_, norm_a, false);
    answer.finite = s.finite && all_finite(s.U);
    if (!answer.finite) return answer;
    answer.rank = s.rank;
    answer.condition = s.condition;
    answer.cut = norm_a > 0 ? std::ldexp(s.cut, s.exponent) / norm_a : 0;
    answer.Y = s.U.clone();
    for (T& y : std::span(answer.Y.data(), at(answer.Y.size()))) y = times_power_of_two(y, -s.exponent);
    NormalResidual<T> sums(answer.Y);
    sums.add(rows, m2, M.ld(), right.data(), right.ld());
    const double error = sums.result().backward_error, size = static_cast<double>(std::max(M.rows(), M.cols()));
    answer.good = error <= 10 * std::sqrt(size) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) *
                                   std::max(1.0, s.norm > 0 ? std::ldexp(norm_a, -s.exponent) / s.norm : 1.0) +
                               2 * s.cut / std::max(s.norm, std::numeric_limits<double>::min());
    detail::unscale(answer.Y, of_right, [](index_t) { return 0; });
    return answer;
  }

  /// Measures C x - d, and finds columns that disagree with the dropped rows.
  void judge(ConstrainedLeastSquares<T>& answer, const detail::ScaledProblem<T>& s, const HostMatrix<T>& x,
             const detail::Constraints<T>& constraints) {
    const index_t p = s.C.rows(), n = s.C.cols(), r = x.cols();
    const double size = static_cast<double>(std::max({n, p, index_t{1}})),
                 rounding = 10 * size * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
    answer.constraint_error.bound = std::min(rounding, useful_bound);
    answer.distances.assign(at(r), 0);
    HostMatrix<T> left = s.d.clone();
    subtract_product(s.C, 0, n, x, 0, left);
    for (index_t k = 0; k < r; ++k) {
      const double norm_x = static_cast<double>(euclidean_norm(n, x.data() + k * x.ld()));
      // Sizes of the terms of each row's sum. A dropped row includes the sizes of the rows that imply it.
      std::vector<double> sums(at(p)), norms(at(p));
      double most = 0;
      for (index_t i = 0; i < p; ++i) {
        double norm = 0, sum = magnitude(s.d(i, k));
        for (index_t j = 0; j < n; ++j) {
          sum += magnitude(s.C(i, j)) * magnitude(x(j, k));
          norm = std::hypot(norm, magnitude(s.C(i, j)));
        }
        sums[at(i)] = sum;
        norms[at(i)] = norm;
        if (constraints.is_dropped(i)) continue;
        most = std::max(most, sum);
        const double data = norm * norm_x + magnitude(s.d(i, k));
        if (data > 0)
          answer.constraint_error.error = std::max(answer.constraint_error.error, magnitude(left(i, k)) / data);
      }
      for (index_t i = 0; i < p; ++i) {
        const double off = magnitude(left(i, k));
        const double tolerance =
            norms[at(i)] == 0 ? 0 : rounding * (sums[at(i)] + most) + 2 * constraints.cut() * norm_x;
        if (constraints.is_dropped(i) && off > tolerance) answer.distances[at(k)] = off;
      }
      if (answer.distances[at(k)] > 0) answer.status = SolveStatus::inconsistent;
    }
    if (answer.status == SolveStatus::ok && !answer.constraint_error.good()) answer.status = SolveStatus::inaccurate;
  }

  Graph& g_;
  const ExtendedQr<T>& e_;
  const HostMatrix<T>&c_, &d_;
  double rcond_;
};

/// Computes min ||C x - d_k||_2 of inconsistent columns.
template <class T>
void measure_distances(Graph& g, const HostMatrix<T>& C, const HostMatrix<T>& D, std::vector<double>& distances) {
  HostMatrix<T> c = C.clone(), d = D.clone();
  const TileShape tile = ols_tile(g.runtime(), OlsMethod::tiles, c.shape());
  const auto A = TileMatrix<T>::map(g.runtime(), c.data(), c.rows(), c.cols(), c.ld(), tile, "C");
  const auto B = TileMatrix<T>::map(g.runtime(), d.data(), d.rows(), d.cols(), d.ld(), tile, "D");
  OlsOptions options;
  options.method = OlsMethod::tiles;
  const LeastSquares<T> nearest = ols(g, A, B, options);
  for (std::size_t k = 0; k < distances.size(); ++k)
    if (distances[k] > 0 && nearest.residual_norms[k] > 0)  // 0: the distance is below rounding
      distances[k] = static_cast<double>(nearest.residual_norms[k]);
}

template <class T>
void require_shapes(index_t n, index_t r, const HostMatrix<T>& C, const HostMatrix<T>& D) {
  require(C.cols() == n, "lse", "C", C.shape(), "; A has ", n, " columns");
  require(D.rows() == C.rows() && D.cols() == r, "lse", "D", D.shape(), "; C has ", C.rows(), " rows and B ", r,
          " columns");
}

}  // namespace

template <class T>
ExtendedQr<T> triangle_of(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options) {
  detail::require_conforming("triangle_of", A, B);
  if (A.m() == 0 || A.n() == 0) {
    FirstRows<T> b = first_rows(B, 0);
    return {HostMatrix<T>(0, A.n()), HostMatrix<T>(0, B.n()), std::move(b.norms_below)};
  }
  return detail::reduce(g, A, B, options);
}

template <class T>
ExtendedQr<T> triangle_of(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const OlsOptions& options) {
  require(B.rows() == A.m(), "triangle_of", "B", B.shape(), "; A has ", A.m(), " rows");
  if (A.m() == 0 || A.n() == 0) return {HostMatrix<T>(0, A.n()), HostMatrix<T>(0, B.cols()), column_norms(B)};
  return std::move(detail::reduce(g, A, B, HostMatrix<T>(), options.rows).front());
}

template <class T>
ConstrainedLeastSquares<T> lse(Graph& g, const ExtendedQr<T>& triangle, const HostMatrix<T>& C, const HostMatrix<T>& D,
                               const OlsOptions& options) {
  const index_t n = triangle.R.cols(), r = triangle.C.cols();
  require_shapes(n, r, C, D);
  OlsOptions settled = options;
  settled.rcond = detail::default_rcond<T>("lse", options, std::max(C.rows(), triangle.R.rows()), n);
  if (!all_finite(triangle) || !all_finite(C) || !all_finite(D)) return without_x<T>(SolveStatus::not_finite, r);
  const std::vector<int> units = detail::unknown_units(triangle.R, C);
  Solve<T> solve(g, triangle, C, D, settled.rcond);
  ConstrainedLeastSquares<T> answer = solve.run(units);
  // If X is not unique, it has the least norm in the unknowns' own units, unless these differ so much that rounding
  // errors of large columns hide small ones (eps^(-1/2), as for ols).
  if (const auto [least, most] = std::minmax_element(units.begin(), units.end());
      answer.status == SolveStatus::rank_deficient && *most > *least) {
    ConstrainedLeastSquares<T> own;
    if (2 * (*most - *least) <= std::numeric_limits<real_t<T>>::digits)
      own = solve.run(std::vector<int>(units.size(), *most));
    if (own.status == SolveStatus::rank_deficient && own.rank == answer.rank &&
        own.dropped_rows.size() == answer.dropped_rows.size())
      answer = std::move(own);
    else
      answer.original_units = false;
  }
  if (answer.status == SolveStatus::inconsistent) {
    measure_distances(g, C, D, answer.distances);
    answer.X = HostMatrix<T>();
    answer.multipliers = HostMatrix<T>();
    answer.multiplier_exponents.clear();
    answer.multiplier_row_exponents.clear();
    std::fill(answer.residual_norms.begin(), answer.residual_norms.end(), std::numeric_limits<real_t<T>>::quiet_NaN());
  }
  return answer;
}

template <class T>
ConstrainedLeastSquares<T> lse(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const HostMatrix<T>& C,
                               const HostMatrix<T>& D, const OlsOptions& options) {
  require_shapes(A.n(), B.n(), C, D);
  detail::require_conforming("lse", A, B);
  if (ols_method<T>(options.method, {A.m(), A.n()}, B.n()) == OlsMethod::tiles && g.runtime().gpus() > 0 &&
      A.m() >= A.n() && A.n() > 0) {
    const double rcond = detail::default_rcond<T>("lse", options, std::max(C.rows(), A.n()), A.n());
    const QrFactorization<T> factors = qr(g, A, options.qr);
    factors.apply(g, Side::left, adjoint<T>, B);
    if (all_finite(C) && all_finite(D))
      if (auto answer = detail::lse_on_device(g, factors, B, C, D, rcond)) return std::move(*answer);
    return lse(g, extended_qr(g, factors, A.tile_shape(), B), C, D, options);
  }
  return lse(g, triangle_of(g, A, B, options), C, D, options);
}

template <class T>
ConstrainedLeastSquares<T> lse(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, const HostMatrix<T>& C,
                               const HostMatrix<T>& D, const OlsOptions& options) {
  return detail::solve_in_tiles(runtime, a, b, options, [&](Graph& g, const auto& A, const auto& B, const auto& o) {
    return lse(g, A, B, C, D, o);
  });
}

#define TESELA_INSTANTIATE(T)                                                                                       \
  template ExtendedQr<T> triangle_of(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, const OlsOptions&);        \
  template ConstrainedLeastSquares<T> lse(Graph&, const ExtendedQr<T>&, const HostMatrix<T>&, const HostMatrix<T>&, \
                                          const OlsOptions&);                                                       \
  template ConstrainedLeastSquares<T> lse(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, const HostMatrix<T>&, \
                                          const HostMatrix<T>&, const OlsOptions&);                                 \
  template ConstrainedLeastSquares<T> lse(Runtime&, MatrixView<T>, MatrixView<T>, const HostMatrix<T>&,             \
                                          const HostMatrix<T>&, const OlsOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
template ExtendedQr<float> triangle_of(Graph&, const MatrixRows<float>&, const HostMatrix<float>&, const OlsOptions&);
template ExtendedQr<double> triangle_of(Graph&, const MatrixRows<double>&, const HostMatrix<double>&,
                                        const OlsOptions&);

}  // namespace tesela
