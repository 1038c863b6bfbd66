#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/least_squares/internal/scaled_rows.hpp>
#include <tesela/codelets/least_squares/row_scaling.hpp>
#include <tesela/host/graded_rows.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela::detail {

using namespace kernels;
namespace {

/// Inserts A = diag(d) A.
template <class T>
void scale_rows(Graph& g, const TileMatrix<real_t<T>>& D, const TileMatrix<T>& A) {
  for (index_t j = 0; j < A.nt(); ++j)
    for (index_t i = 0; i < A.mt(); ++i) g.insert<ScaleRows<T>>({}, D(i, 0), A(i, j));
  g.wait();
}

template <class T>
LeastSquares<T> in_units_of(LeastSquares<T> answer, int exponent, index_t counted) {
  for (real_t<T>& norm : answer.residual_norms) norm = std::ldexp(norm, exponent);
  for (index_t k = 0; k < answer.triangle.size(); ++k)
    answer.triangle.data()[k] = times_power_of_two(answer.triangle.data()[k], exponent);
  answer.degrees_of_freedom = counted - answer.rank;
  return answer;
}

/// Solves from the triangles of the classes.
template <class T>
LeastSquares<T> join(Graph& g, std::vector<ExtendedQr<T>> triangles, const RowClasses<real_t<T>>& d,
                     const OlsOptions& options) {
  for (const ExtendedQr<T>& e : triangles)
    if (!all_finite(e)) return not_finite<T>(e.C.cols());
  const Shape a{d.counted, triangles.front().R.cols()};
  if (triangles.size() == 1 && triangles.front().R.rows() == a.cols)
    return in_units_of(ols_from_r(g, std::move(triangles.front()), a, options), d.exponents.front(), d.counted);
  std::vector<RowClass<T>> classes;
  std::vector<std::vector<real_t<T>>> rests;
  for (std::size_t k = 0; k < triangles.size(); ++k) {
    classes.push_back({d.exponents[k], std::move(triangles[k].R), std::move(triangles[k].C)});
    rests.push_back(std::move(triangles[k].residual_norms));
  }
  GradedTriangle<T> graded = join_graded_rows(std::move(classes), options.rcond);
  ExtendedQr<T> joined{std::move(graded.R), std::move(graded.C), std::vector<real_t<T>>(rests.front().size())};
  LeastSquares<T> answer = ols_from_r(g, std::move(joined), a, options);
  if (answer.status == SolveStatus::not_finite) return answer;
  HostMatrix<T> X(answer.X.rows(), answer.X.cols());
  for (index_t j = 0; j < X.rows(); ++j)
    for (index_t c = 0; c < X.cols(); ++c) X(graded.pivots[static_cast<std::size_t>(j)], c) = answer.X(j, c);
  answer.X = std::move(X);
  answer.residual_norms = std::move(graded.residual_norms);
  for (std::size_t k = 0; k < rests.size(); ++k)
    for (std::size_t c = 0; c < rests[k].size(); ++c)
      answer.residual_norms[c] = std::hypot(answer.residual_norms[c], std::ldexp(rests[k][c], d.exponents[k]));
  for (index_t j = 0; j < answer.triangle.cols(); ++j)
    for (index_t i = 0; i <= j; ++i)
      answer.triangle(i, j) =
          times_power_of_two(answer.triangle(i, j), graded.row_exponents[static_cast<std::size_t>(i)]);
  answer.pivots = std::move(graded.pivots);
  answer.degrees_of_freedom = d.counted - answer.rank;
  return answer;
}

/// Returns the result if none of the m rows counts: all unknowns are undetermined.
template <class T>
LeastSquares<T> all_rows_ignored(index_t m, index_t n, index_t r) {
  LeastSquares<T> answer;
  if (std::min(m, n) > 0) {
    answer.status = SolveStatus::rank_deficient;
    answer.condition = std::numeric_limits<double>::infinity();
  }
  answer.X = HostMatrix<T>::zeros(n, r);
  answer.residual_norms.assign(static_cast<std::size_t>(r), 0);
  return answer;
}

/// Returns the rows of class k, each times its factor.
template <class T>
HostMatrix<T> rows_of(const TileMatrix<T>& A, const RowClasses<real_t<T>>& d, index_t k) {
  std::vector<index_t> place(static_cast<std::size_t>(A.m()), -1);
  index_t rows = 0;
  for (index_t i = 0; i < A.m(); ++i)
    if (d.factors(i, k) != 0) place[static_cast<std::size_t>(i)] = rows++;
  HostMatrix<T> part(rows, A.n());
  A.read_each_tile([&](const auto& block, index_t row, index_t column) {
    for (index_t i = 0; i < block.rows; ++i)
      if (const index_t to = place[static_cast<std::size_t>(row + i)]; to >= 0)
        for (index_t j = 0; j < block.cols; ++j) part(to, column + j) = d.factors(row + i, k) * block(i, j);
  });
  return part;
}

/// Solves without unknowns: the residual is the weighted B.
template <class T>
LeastSquares<T> no_unknowns(const TileMatrix<T>& b, const RowClasses<real_t<T>>& d) {
  LeastSquares<T> answer;
  answer.X = HostMatrix<T>::zeros(0, b.n());
  answer.residual_norms.assign(static_cast<std::size_t>(b.n()), 0);
  for (index_t k = 0; k < d.classes(); ++k) {
    const std::vector<real_t<T>> norms = column_norms(rows_of(b, d, k));
    for (std::size_t c = 0; c < norms.size(); ++c)
      answer.residual_norms[c] =
          std::hypot(answer.residual_norms[c], std::ldexp(norms[c], d.exponents[static_cast<std::size_t>(k)]));
  }
  for (const real_t<T> norm : answer.residual_norms)
    if (!std::isfinite(norm)) return not_finite<T>(b.n());
  answer.degrees_of_freedom = d.counted;
  return answer;
}

/// Returns a triangle or trapezoid for each class, from copies of its rows.
template <class T>
std::vector<ExtendedQr<T>> reduce_classes(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                          const RowClasses<real_t<T>>& d, OlsOptions options) {
  std::vector<ExtendedQr<T>> triangles;
  for (index_t k = 0; k < d.classes(); ++k) {
    HostMatrix<T> a_k = rows_of(A, d, k), b_k = rows_of(B, d, k);
    options.method = OlsMethod::tiles;
    options.qr = {};
    const TileShape tile = ols_tile(g.runtime(), options.method, a_k.shape());
    const auto part = TileMatrix<T>::map(g.runtime(), a_k.data(), a_k.rows(), a_k.cols(), a_k.ld(), tile, "A");
    const auto rhs = TileMatrix<T>::map(g.runtime(), b_k.data(), b_k.rows(), b_k.cols(), b_k.ld(), tile, "B");
    triangles.push_back(reduce(g, part, rhs, options));
  }
  return triangles;
}

/// Range of all weights.
struct Range {
  /// NaN (first) if a weight is invalid
  double largest = 0, smallest = std::numeric_limits<double>::infinity(), counted = 0;

  template <class T>
  bool tame() const {
    return counted > 0 && std::ilogb(std::sqrt(largest)) - std::ilogb(std::sqrt(smallest)) < class_width<T>;
  }
};

Range range_of(const TileMatrix<double>& ranges) {
  Range all;
  ranges.read_each_tile([&](const auto& columns, index_t, index_t) {
    for (index_t k = 0; k < columns.cols; ++k) {
      if (std::isnan(columns(0, k))) all.counted = -std::numeric_limits<double>::infinity();
      all.largest = std::max(all.largest, columns(0, k));
      all.smallest = std::min(all.smallest, columns(1, k));
      all.counted += columns(2, k);
    }
  });
  return all;
}

}  // namespace

template <class T>
LeastSquares<T> solve_scaled_rows(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                  const RowClasses<real_t<T>>& d, const OlsOptions& options) {
  const index_t m = A.m(), n = A.n(), r = B.n();
  if (d.counted == 0) return all_rows_ignored<T>(m, n, r);
  if (n == 0) return no_unknowns(B, d);
  OlsOptions settled = options;
  settled.method = ols_method<T>(settled.method, {m, n}, r);
  if constexpr (!is_complex<T>)
    if (settled.method == OlsMethod::tall_skinny) {
      const auto D = TileMatrix<T>::map(g.runtime(), d.factors.data(), m, d.classes(), d.factors.ld(),
                                        {A.tile_shape().mb, 1}, "D");
      std::vector<QrUpdater<T>> updaters;
      for (index_t k = 0; k < d.classes(); ++k) {
        updaters.emplace_back(g.runtime(), n, r);
        updaters.back().append_scaled(g, A, B, D.view(0, k, D.mt(), 1));
      }
      std::vector<ExtendedQr<T>> triangles;
      triangles.reserve(updaters.size());
      for (const QrUpdater<T>& updater : updaters) triangles.push_back(extended_qr(g, updater));
      return join(g, std::move(triangles), d, settled);
    }
  if (d.classes() > 1) return join(g, reduce_classes(g, A, B, d, settled), d, settled);
  const auto D = TileMatrix<real_t<T>>::map(g.runtime(), d.factors.data(), m, 1, m, {A.tile_shape().mb, 1}, "D");
  scale_rows(g, D, A);
  scale_rows(g, D, B);
  return in_units_of(ols(g, A, B, settled), d.exponents.front(), d.counted);
}

template <class T>
LeastSquares<T> solve_scaled_rows(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                  const RowClasses<real_t<T>>& d, const OlsOptions& options) {
  if (d.counted == 0) return all_rows_ignored<T>(A.m(), A.n(), B.cols());
  if (A.n() == 0)
    return no_unknowns(TileMatrix<T>::map(g.runtime(), B.data(), B.rows(), B.cols(), B.ld(), {4096, 256}, "B"), d);
  return join(g, reduce(g, A, B, d.factors, options.rows), d, options);
}

template <class T>
std::optional<LeastSquares<T>> solve_one_weight_class(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                                      const TileMatrix<real_t<T>>& weights, const OlsOptions& options) {
  const index_t m = A.m(), n = A.n(), r = B.n();
  if (m == 0 || n == 0) return std::nullopt;
  OlsOptions settled = options;
  settled.method = ols_method<T>(settled.method, {m, n}, r);
  constexpr index_t parts = 128;  // parts of a tile, which a GPU examines in parallel
  const TileMatrix<real_t<T>> D(g.runtime(), m, 1, weights.tile_shape(), "D");
  const TileMatrix<double> ranges(g.runtime(), 3 * D.mt(), parts, {3, parts}, "ranges");
  for (index_t i = 0; i < D.mt(); ++i) g.insert<WeightRoots<real_t<T>>>({}, weights(i, 0), D(i, 0), ranges(i, 0));
  if constexpr (!is_complex<T>)
    if (settled.method == OlsMethod::tall_skinny) {
      // The pass starts before the decision: A and B are only read.
      QrUpdater<T> updater(g.runtime(), n, r);
      updater.append_scaled(g, A, B, D);
      ExtendedQr<T> e = extended_qr(g, updater);
      const Range range = range_of(ranges);
      if (!range.tame<T>() || !all_finite(e)) return std::nullopt;
      const auto counted = static_cast<index_t>(range.counted);
      return in_units_of(ols_from_r(g, std::move(e), {counted, n}, settled), 0, counted);
    }
  const Range range = range_of(ranges);
  if (!range.tame<T>()) return std::nullopt;
  scale_rows(g, D, A);
  scale_rows(g, D, B);
  return in_units_of(ols(g, A, B, settled), 0, static_cast<index_t>(range.counted));
}

TESELA_FUNCTIONS_FOR_NUMBERS(solve_one_weight_class)
#define TESELA_INSTANTIATE(T)                                                                    \
  template LeastSquares<T> solve_scaled_rows(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, \
                                             const RowClasses<real_t<T>>&, const OlsOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
template LeastSquares<float> solve_scaled_rows(Graph&, const MatrixRows<float>&, const HostMatrix<float>&,
                                               const RowClasses<float>&, const OlsOptions&);
template LeastSquares<double> solve_scaled_rows(Graph&, const MatrixRows<double>&, const HostMatrix<double>&,
                                                const RowClasses<double>&, const OlsOptions&);

}  // namespace tesela::detail
