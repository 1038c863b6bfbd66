#include <tesela/algorithms/dense/triangular_solve.hpp>
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/algorithms/least_squares/internal/constraints.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/codelets/least_squares/minimum_norm.hpp>
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

constexpr int none = std::numeric_limits<int>::min() / 4;  // the exponent of zeros

template <class T>
int exponent_of(index_t n, const T* x) {
  return std::any_of(x, x + n, [](T value) { return value != T(0); }) ? largest_exponent(n, x) : none;
}

template <class T>
void scale(HostMatrix<T>& a, index_t column, int e) {
  scale_by_power_of_two(std::span(a.data() + column * a.ld(), static_cast<std::size_t>(a.rows())), e);
}

/// The size of each row of C as an exponent, `none` for rows of zeros.
template <class T>
std::vector<int> row_exponents(const HostMatrix<T>& C) {
  std::vector<int> exponents(static_cast<std::size_t>(C.rows()), none);
  for (index_t j = 0; j < C.cols(); ++j)
    for (index_t i = 0; i < C.rows(); ++i)
      exponents[static_cast<std::size_t>(i)] =
          std::max(exponents[static_cast<std::size_t>(i)], exponent_of(1, &C(i, j)));
  return exponents;
}

/// Exponents of the unknowns' units: how small a column is in A and in C, its rows of one size. Where the two disagree
/// the larger one counts, so that no column of either grows beyond the others.
template <class T>
std::vector<int> unknown_units(const HostMatrix<T>& R, const HostMatrix<T>& C) {
  const int of_r = exponent_of(R.size(), R.data());
  const std::vector<int> of_rows = row_exponents(C);
  std::vector<int> units(static_cast<std::size_t>(R.cols()));
  for (index_t j = 0; j < R.cols(); ++j) {
    int unit = exponent_of(R.rows(), R.data() + j * R.ld());
    if (unit != none) unit -= of_r;
    for (index_t i = 0; i < C.rows(); ++i)
      if (C(i, j) != T(0)) unit = std::max(unit, exponent_of(1, &C(i, j)) - of_rows[static_cast<std::size_t>(i)]);
    units[static_cast<std::size_t>(j)] = unit == none ? 0 : unit;
  }
  return units;
}

/// B -= A X.
template <class T>
void subtract_product(const HostMatrix<T>& a, index_t column, index_t columns, const HostMatrix<T>& x, index_t row,
                      HostMatrix<T>& b) {
  if (b.size() == 0 || columns == 0) return;
  blas::gemm(Op::none, Op::none, b.rows(), b.cols(), columns, T(-1), a.data() + column * a.ld(), a.ld(), x.data() + row,
             x.ld(), T(1), b.data(), b.ld());
}

template <class T>
ConstrainedLeastSquares<T> without_x(LseStatus status, index_t r) {
  ConstrainedLeastSquares<T> answer;
  answer.status = status;
  answer.distances.assign(static_cast<std::size_t>(r), 0);
  answer.residual_norms.assign(static_cast<std::size_t>(r), std::numeric_limits<T>::quiet_NaN());
  answer.constraint_error.error = std::numeric_limits<double>::quiet_NaN();
  if (status == LseStatus::not_finite) answer.condition = answer.constraint_condition = answer.constraint_error.error;
  return answer;
}

/// One solution, in units of the unknowns.
template <class T>
class Solve {
 public:
  Solve(Graph& g, const ExtendedQr<T>& e, const HostMatrix<T>& C, const HostMatrix<T>& D, OlsOptions options)
      : g_(g), e_(e), c_(C.clone()), d_(D.clone()), options_(std::move(options)) {}

  ConstrainedLeastSquares<T> run(const std::vector<int>& units) {
    const index_t n = e_.R.cols(), r = e_.C.cols();
    HostMatrix<T> M = e_.R.clone();
    for (index_t j = 0; j < n; ++j) {
      scale(M, j, -units[static_cast<std::size_t>(j)]);
      scale(c_, j, -units[static_cast<std::size_t>(j)]);
    }
    const int of_a = largest_exponent(M.size(), M.data());
    scale_by_power_of_two(std::span(M.data(), static_cast<std::size_t>(M.size())), -of_a);
    const std::vector<int> of_rows = scale_rows();
    const detail::Constraints<T> constraints(g_, c_, options_.rcond);
    const index_t rank = constraints.rank(), free = n - rank;

    HostMatrix<T> b = e_.C.clone();
    const std::vector<int> of_x = scale_sides(b, of_a);
    HostMatrix<T> y = HostMatrix<T>::zeros(n, r), y1 = constraints.solve(g_, d_);
    for (index_t k = 0; k < r; ++k)
      for (index_t i = 0; i < rank; ++i) y(i, k) = y1(i, k);
    constraints.multiply_right(g_, M);
    subtract_product(M, 0, rank, y, 0, b);

    ConstrainedLeastSquares<T> answer;
    const LeastSquares<T> inner = solve_free(M, b, rank);
    if (inner.status == OlsStatus::not_finite) return without_x<T>(LseStatus::not_finite, r);
    for (index_t k = 0; k < r; ++k)
      for (index_t i = 0; i < free; ++i) y(rank + i, k) = inner.X(i, k);
    subtract_product(M, rank, free, y, rank, b);  // the residual
    answer.multipliers = constraints.multipliers(g_, M, b);
    constraints.multiply(g_, y);

    answer.constraint_rank = rank;
    answer.dropped_rows = constraints.dropped();
    answer.constraint_condition = constraints.condition();
    answer.rank = inner.rank;
    answer.condition = inner.condition;
    answer.residual_norms = e_.residual_norms;
    for (index_t k = 0; k < r; ++k) {
      T& norm = answer.residual_norms[static_cast<std::size_t>(k)];
      const int e = of_x[static_cast<std::size_t>(k)];
      norm = std::hypot(norm, std::ldexp(euclidean_norm(b.rows(), b.data() + k * b.ld()), e + of_a));
      for (index_t i = 0; i < answer.multipliers.rows(); ++i)
        answer.multipliers(i, k) =
            std::ldexp(answer.multipliers(i, k), 2 * of_a + e - of_rows[static_cast<std::size_t>(i)]);
    }
    judge(answer, y, constraints);
    if (answer.status == LseStatus::ok && inner.status == OlsStatus::inaccurate) answer.status = LseStatus::inaccurate;
    if (answer.status == LseStatus::ok && inner.rank < free) answer.status = LseStatus::rank_deficient;
    for (index_t k = 0; k < r; ++k)
      for (index_t j = 0; j < n; ++j)
        y(j, k) = std::ldexp(y(j, k), of_x[static_cast<std::size_t>(k)] - units[static_cast<std::size_t>(j)]);
    if (!all_finite(y)) return without_x<T>(LseStatus::not_finite, r);
    answer.X = std::move(y);
    return answer;
  }

 private:
  /// Brings each row of C, and D with it, to size 1.
  std::vector<int> scale_rows() {
    std::vector<int> exponents(static_cast<std::size_t>(c_.rows()), 0);
    for (index_t i = 0; i < c_.rows(); ++i) {
      int e = none;
      for (index_t j = 0; j < c_.cols(); ++j) e = std::max(e, exponent_of(1, &c_(i, j)));
      if (e == none) continue;
      exponents[static_cast<std::size_t>(i)] = e;
      for (index_t j = 0; j < c_.cols(); ++j) c_(i, j) = std::ldexp(c_(i, j), -e);
      for (index_t k = 0; k < d_.cols(); ++k) d_(i, k) = std::ldexp(d_(i, k), -e);
    }
    return exponents;
  }

  /// Brings what x will be to size 1, for each right-hand side, by D and by B over A.
  std::vector<int> scale_sides(HostMatrix<T>& b, int of_a) {
    std::vector<int> exponents(static_cast<std::size_t>(b.cols()));
    for (index_t k = 0; k < b.cols(); ++k) {
      const int of_d = exponent_of(d_.rows(), d_.data() + k * d_.ld()),
                of_b = exponent_of(b.rows(), b.data() + k * b.ld());
      const int e = std::max(of_d, of_b == none ? none : of_b - of_a);
      if (e == none) continue;
      exponents[static_cast<std::size_t>(k)] = e;
      scale(d_, k, -e);
      scale(b, k, -e - of_a);
    }
    return exponents;
  }

  /// min ||M_2 y - b||_2 over the columns of M from `rank` on; M and b stay.
  LeastSquares<T> solve_free(const HostMatrix<T>& M, const HostMatrix<T>& b, index_t rank) {
    const index_t rows = M.rows(), free = M.cols() - rank;
    HostMatrix<T> a(rows, free), rhs = b.clone();
    for (index_t j = 0; j < free; ++j) std::copy_n(M.data() + (rank + j) * M.ld(), rows, a.data() + j * a.ld());
    const TileShape tile = suitable_ols_tile(g_.runtime(), OlsMethod::tiles, rows, free);
    const auto A = TileMatrix<T>::map(g_.runtime(), a.data(), rows, free, a.ld(), tile, "A");
    const auto B = TileMatrix<T>::map(g_.runtime(), rhs.data(), rows, b.cols(), rhs.ld(),
                                      {tile.mb, std::max<index_t>(b.cols(), 1)}, "B");
    OlsOptions options;
    options.method = OlsMethod::tiles;
    options.rcond = options_.rcond;
    return ols(g_, A, B, options);
  }

  /// Measures C y - d, and which columns do not agree with the rows that were dropped.
  void judge(ConstrainedLeastSquares<T>& answer, const HostMatrix<T>& y, const detail::Constraints<T>& constraints) {
    const index_t p = c_.rows(), n = c_.cols(), r = y.cols();
    const auto epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
    const double size = static_cast<double>(std::max({n, p, index_t{1}}));
    answer.constraint_error.bound = 10 * size * epsilon;
    answer.distances.assign(static_cast<std::size_t>(r), 0);
    HostMatrix<T> left = d_.clone();
    subtract_product(c_, 0, n, y, 0, left);
    std::vector<double> rows(static_cast<std::size_t>(p));
    double whole = 0;
    for (index_t i = 0; i < p; ++i) {
      double& norm = rows[static_cast<std::size_t>(i)];
      for (index_t j = 0; j < n; ++j) norm = std::hypot(norm, static_cast<double>(c_(i, j)));
      whole = std::hypot(whole, norm);
    }
    for (index_t k = 0; k < r; ++k) {
      const double x = static_cast<double>(euclidean_norm(n, y.data() + k * y.ld()));
      double error = 0, d = 0;
      for (index_t i = 0; i < p; ++i) {
        const double off = std::abs(static_cast<double>(left(i, k))), of_d = std::abs(static_cast<double>(d_(i, k)));
        const double data = rows[static_cast<std::size_t>(i)] * x + of_d;
        if (constraints.is_dropped(i)) {
          if (off > answer.constraint_error.bound * data) answer.distances[static_cast<std::size_t>(k)] = off;
        } else {
          error = std::hypot(error, off), d = std::hypot(d, of_d);
        }
      }
      if (const double data = whole * x + d; data > 0)
        answer.constraint_error.error = std::max(answer.constraint_error.error, error / data);
      if (answer.distances[static_cast<std::size_t>(k)] > 0) answer.status = LseStatus::inconsistent;
    }
    if (answer.status == LseStatus::ok && !answer.constraint_error.good()) answer.status = LseStatus::inaccurate;
  }

  Graph& g_;
  const ExtendedQr<T>& e_;
  HostMatrix<T> c_, d_;
  OlsOptions options_;
};

/// min ||C x - d_k||_2 of the columns that are inconsistent.
template <class T>
void measure_distances(Graph& g, const HostMatrix<T>& C, const HostMatrix<T>& D, std::vector<double>& distances) {
  HostMatrix<T> c = C.clone(), d = D.clone();
  const TileShape tile = suitable_ols_tile(g.runtime(), OlsMethod::tiles, c.rows(), c.cols());
  const auto A = TileMatrix<T>::map(g.runtime(), c.data(), c.rows(), c.cols(), c.ld(), tile, "C");
  const auto B = TileMatrix<T>::map(g.runtime(), d.data(), d.rows(), d.cols(), d.ld(), tile, "D");
  OlsOptions options;
  options.method = OlsMethod::tiles;
  const LeastSquares<T> nearest = ols(g, A, B, options);
  for (std::size_t k = 0; k < distances.size(); ++k)
    if (distances[k] > 0) distances[k] = static_cast<double>(nearest.residual_norms[k]);
}

template <class T>
void require_shapes(index_t n, index_t r, const HostMatrix<T>& C, const HostMatrix<T>& D) {
  if (C.cols() != n)
    throw ArgumentError("lse", "C", to_string(C.shape()) + "; A has " + std::to_string(n) + " columns");
  if (D.rows() != C.rows() || D.cols() != r)
    throw ArgumentError(
        "lse", "D",
        to_string(D.shape()) + "; C has " + std::to_string(C.rows()) + " rows and B " + std::to_string(r) + " columns");
}

}  // namespace

const char* description(LseStatus status) {
  switch (status) {
    case LseStatus::ok:
      return "ok";
    case LseStatus::rank_deficient:
      return "rank deficient";
    case LseStatus::inconsistent:
      return "inconsistent";
    case LseStatus::not_finite:
      return "not finite";
    case LseStatus::inaccurate:
      return "inaccurate";
  }
  return "";
}

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
  if (B.rows() != A.m())
    throw ArgumentError("triangle_of", "B", to_string(B.shape()) + "; A has " + std::to_string(A.m()) + " rows");
  if (A.m() == 0 || A.n() == 0) return {HostMatrix<T>(0, A.n()), HostMatrix<T>(0, B.cols()), column_norms(B)};
  return std::move(detail::reduce(g, A, B, HostMatrix<T>(), options.rows).front());
}

template <class T>
ConstrainedLeastSquares<T> lse(Graph& g, const ExtendedQr<T>& triangle, const HostMatrix<T>& C, const HostMatrix<T>& D,
                               const OlsOptions& options) {
  const index_t n = triangle.R.cols(), r = triangle.C.cols();
  require_shapes(n, r, C, D);
  OlsOptions settled = options;
  settled.rcond = detail::settled_rcond<T>("lse", options, std::max(C.rows(), triangle.R.rows()), n);
  if (!all_finite(triangle) || !all_finite(C) || !all_finite(D)) return without_x<T>(LseStatus::not_finite, r);
  std::vector<int> units = unknown_units(triangle.R, C);
  ConstrainedLeastSquares<T> answer = Solve<T>(g, triangle, C, D, settled).run(units);
  // Of several solutions the one of least norm, in the units of the unknowns as they are.
  if (answer.status == LseStatus::rank_deficient &&
      std::any_of(units.begin(), units.end(), [&](int e) { return e != units.front(); }))
    answer = Solve<T>(g, triangle, C, D, settled).run(std::vector<int>(units.size(), units.front()));
  if (answer.status == LseStatus::inconsistent) {
    measure_distances(g, C, D, answer.distances);
    answer.X = HostMatrix<T>();
    answer.multipliers = HostMatrix<T>();
    std::fill(answer.residual_norms.begin(), answer.residual_norms.end(), std::numeric_limits<T>::quiet_NaN());
  }
  return answer;
}

template <class T>
ConstrainedLeastSquares<T> lse(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const HostMatrix<T>& C,
                               const HostMatrix<T>& D, const OlsOptions& options) {
  require_shapes(A.n(), B.n(), C, D);
  return lse(g, triangle_of(g, A, B, options), C, D, options);
}

template ExtendedQr<float> triangle_of(Graph&, const TileMatrix<float>&, const TileMatrix<float>&, const OlsOptions&);
template ExtendedQr<double> triangle_of(Graph&, const TileMatrix<double>&, const TileMatrix<double>&,
                                        const OlsOptions&);
template ExtendedQr<float> triangle_of(Graph&, const MatrixRows<float>&, const HostMatrix<float>&, const OlsOptions&);
template ExtendedQr<double> triangle_of(Graph&, const MatrixRows<double>&, const HostMatrix<double>&,
                                        const OlsOptions&);
template ConstrainedLeastSquares<float> lse(Graph&, const ExtendedQr<float>&, const HostMatrix<float>&,
                                            const HostMatrix<float>&, const OlsOptions&);
template ConstrainedLeastSquares<double> lse(Graph&, const ExtendedQr<double>&, const HostMatrix<double>&,
                                             const HostMatrix<double>&, const OlsOptions&);
template ConstrainedLeastSquares<float> lse(Graph&, const TileMatrix<float>&, const TileMatrix<float>&,
                                            const HostMatrix<float>&, const HostMatrix<float>&, const OlsOptions&);
template ConstrainedLeastSquares<double> lse(Graph&, const TileMatrix<double>&, const TileMatrix<double>&,
                                             const HostMatrix<double>&, const HostMatrix<double>&, const OlsOptions&);

}  // namespace tesela
