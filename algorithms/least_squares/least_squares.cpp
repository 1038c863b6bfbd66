#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/dense/transpose.hpp>
#include <tesela/codelets/dense/trsm.hpp>
#include <tesela/codelets/least_squares/minimum_norm.hpp>
#include <tesela/codelets/least_squares/r_factor.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace tesela {

using namespace kernels;
namespace {

/// What a QR factorization of [A | B] leaves.
template <class T>
struct Extended {
  HostMatrix<T> R;           // min(m, n) x n
  HostMatrix<T> C;           // Q^T B, as many rows
  std::vector<T> residuals;  // norms of what is below C
};

std::string text(index_t rows, index_t cols) { return std::to_string(rows) + " x " + std::to_string(cols); }

template <class T>
void require_conforming(const TileMatrix<T>& A, const TileMatrix<T>& B) {
  if (B.m() != A.m() || (std::max(A.mt(), B.mt()) > 1 && B.tile_shape().mb != A.tile_shape().mb))
    throw ArgumentError("ols", "B",
                        std::to_string(B.m()) + " rows in tiles of " + std::to_string(B.tile_shape().mb) + "; A has " +
                            std::to_string(A.m()) + " in tiles of " + std::to_string(A.tile_shape().mb));
  if (B.shares_tiles(A)) throw ArgumentError("ols", "B", "shares tiles with A");
}

/// Splits B, m x r, into its first rows and the norms of the others.
template <class T>
void split(const TileMatrix<T>& B, Extended<T>& e) {
  const index_t k = e.C.rows();
  e.residuals.assign(static_cast<std::size_t>(B.n()), T(0));
  B.for_each_tile([&](Tile<T> tile, index_t row, index_t col) {
    const auto block = tile.read();
    const index_t above = std::clamp<index_t>(k - row, 0, block.rows);
    for (index_t j = 0; j < block.cols; ++j) {
      const T* column = block.data + j * block.ld;
      if (above > 0) std::copy_n(column, above, &e.C(row, col + j));
      T& norm = e.residuals[static_cast<std::size_t>(col + j)];
      if (above < block.rows) norm = std::hypot(norm, euclidean_norm(block.rows - above, column + above));
    }
  });
}

/// Inserts A's factorization by the method, and calls use() with it.
template <class T, class F>
void with_factors(Graph& g, const TileMatrix<T>& A, const OlsOptions& options, F use) {
  if (options.method == OlsMethod::givens)
    use(givens_qr(g, A, options.givens));
  else
    use(qr(g, A, options.qr));
}

template <class T>
HostMatrix<T> gathered_r(Graph& g, const auto& factors, const TileMatrix<T>& A) {
  HostMatrix<T> r(std::min(A.m(), A.n()), A.n());
  const auto R = TileMatrix<T>::map(g.runtime(), r.data(), r.rows(), r.cols(), r.ld(), A.tile_shape(), "R");
  factors.extract_r(g, R);
  R.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.bring_home(tile); });
  g.wait();
  R.bring_home();
  return r;
}

/// With B already Q^T B.
template <class T>
Extended<T> extended_qr(Graph& g, const auto& factors, const TileMatrix<T>& A, const TileMatrix<T>& B) {
  Extended<T> e{gathered_r(g, factors, A), HostMatrix<T>(std::min(A.m(), A.n()), B.n()), {}};
  split(B, e);
  return e;
}

/// From the updater's triangle [R C; 0 S].
template <class T>
Extended<T> extended_qr(Graph& g, const QrUpdater<T>& updater) {
  g.wait();
  const index_t n = updater.n(), r = updater.r();
  Extended<T> e{HostMatrix<T>::zeros(n, n), HostMatrix<T>::zeros(n, r), updater.residual_norms()};
  if (updater.rows() == 0) return e;
  const auto triangle = updater.triangle()(0, 0).read();
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) e.R(i, j) = triangle(i, j);
    for (index_t j = 0; j < r; ++j) e.C(i, j) = triangle(i, n + j);
  }
  return e;
}

template <class T>
bool finite(const Extended<T>& e) {
  return all_finite(e.R) && all_finite(e.C) &&
         std::all_of(e.residuals.begin(), e.residuals.end(), [](T norm) { return std::isfinite(norm); });
}

template <class T>
LeastSquares<T> not_finite(index_t r) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  LeastSquares<T> answer;
  answer.status = OlsStatus::not_finite;
  answer.condition = answer.backward_error.error = nan;
  answer.residual_norms.assign(static_cast<std::size_t>(r), nan);
  return answer;
}

/// Measures X against op(R) X = C, m x n being A's shape, and lets the status follow.
template <class T>
void judge(LeastSquares<T>& answer, const HostMatrix<T>& op_r, const HostMatrix<T>& X, const HostMatrix<T>& C,
           Shape a) {
  NormalResidual<T> sums(X);
  sums.add(op_r.rows(), op_r.data(), op_r.ld(), C.data(), C.ld());
  answer.backward_error = ols_error<T>(sums.result(), a, answer.rank, answer.cut);
  if (!answer.backward_error.good()) answer.status = OlsStatus::inaccurate;
}

/// Whether a triangle of this condition is of full rank beyond doubt: the estimate may be several times too small, and
/// it is in another norm than the pivoted factorization's.
bool clearly_regular(double condition, double rcond) { return 10 * rcond * condition < 1; }

/// X = op(R)^-1 X, its columns divided among the workers.
template <class T>
void solve_triangle(Graph& g, Op op, const HostMatrix<T>& R, HostMatrix<T>& X) {
  if (X.size() == 0) return;
  constexpr index_t columns = 64;
  const auto r = TileMatrix<T>::map(g.runtime(), R.data(), R.rows(), R.cols(), R.ld(), {R.rows(), R.cols()}, "R");
  const auto x = TileMatrix<T>::map(g.runtime(), X.data(), X.rows(), X.cols(), X.ld(), {X.rows(), columns}, "X");
  for (index_t j = 0; j < x.nt(); ++j) g.insert<Trsm<T>>({op}, r(0, 0), x(0, j));
  g.wait();
  x.bring_home();
}

/// X = 2^e X, column by column, where e is what the right-hand sides were scaled by and R was.
template <class T>
void unscale(HostMatrix<T>& X, const std::vector<int>& of_c, const auto& of_row) {
  for (index_t k = 0; k < X.cols(); ++k)
    for (index_t j = 0; j < X.rows(); ++j) X(j, k) = std::ldexp(X(j, k), of_c[static_cast<std::size_t>(k)] - of_row(j));
}

/// The pivoted way: any rank.
template <class T>
LeastSquares<T> solve_any_rank(Extended<T> e, Shape a, double rcond) {
  const index_t full_rank = std::min(a.rows, a.cols);
  MinimumNorm<T> s = minimum_norm(e.R.clone(), e.C.clone(), rcond);
  if (!all_finite(s.X)) return not_finite<T>(s.X.cols());
  LeastSquares<T> answer;
  answer.status = s.rank < full_rank ? OlsStatus::rank_deficient : OlsStatus::ok;
  answer.rank = s.rank;
  const double smallest = s.singular_values[static_cast<std::size_t>(full_rank) - 1];
  answer.condition = smallest > 0 ? s.singular_values[0] / smallest : std::numeric_limits<double>::infinity();
  answer.cut = s.rank < full_rank ? s.cut : 0;
  for (std::size_t k = 0; k < e.residuals.size(); ++k) e.residuals[k] = std::hypot(e.residuals[k], s.residual_norms[k]);
  answer.residual_norms = std::move(e.residuals);
  answer.original_units = s.original_units;
  judge(answer, e.R, s.X, e.C, a);
  answer.X = std::move(s.X);
  return answer;
}

/// From R and Q^T B, R n x n.
template <class T>
LeastSquares<T> solve(Graph& g, Extended<T> e, Shape a, double rcond) {
  if (!finite(e)) return not_finite<T>(e.C.cols());
  LeastSquares<T> answer;
  answer.condition = triangle_condition(e.R, true);
  if (!clearly_regular(answer.condition, rcond)) return solve_any_rank(std::move(e), a, rcond);
  answer.rank = std::min(a.rows, a.cols);
  const std::vector<int> of_r = scale_columns(e.R), of_c = scale_columns(e.C);
  HostMatrix<T> X = e.C.clone();
  solve_triangle(g, Op::none, e.R, X);
  judge(answer, e.R, X, e.C, a);
  unscale(X, of_c, [&](index_t j) { return of_r[static_cast<std::size_t>(j)]; });
  if (!all_finite(X)) return not_finite<T>(e.C.cols());
  answer.X = std::move(X);
  answer.residual_norms = std::move(e.residuals);
  return answer;
}

/// The largest R that stays where it was made: its condition there takes an inverse.
constexpr index_t largest_kept_r = 4096;

/// ||C - R X|| / (||R||_F ||X|| + ||C||) of the worst column, from the norms of R's columns and those of X, C and C - R
/// X.
template <class T>
Measured triangle_error(Shape a, const TileMatrix<T>& r_norms, const TileMatrix<T>& norms) {
  typename NormalResidual<T>::Result errors;
  double of_r = 0;
  const auto columns = r_norms(0, 0).read();
  for (index_t j = 0; j < columns.rows; ++j) of_r = std::hypot(of_r, static_cast<double>(columns(j, 0)));
  const auto x = norms(0, 0).read(), c = norms(1, 0).read(), residual = norms(2, 0).read();
  for (index_t k = 0; k < x.rows; ++k) {
    const double size = of_r * static_cast<double>(x(k, 0)) + static_cast<double>(c(k, 0)),
                 error = static_cast<double>(residual(k, 0)) / size;
    if (size != 0 && !(error <= errors.column_error)) errors.column_error = error;
    if (std::isnan(error) && size != 0) break;
  }
  return ols_error<T>(errors, a, a.cols, 0);
}

/// With GPUs, of an R that lies in one row of tiles: condition, X and residual norms without bringing R or B home.
/// Nothing where that does not apply or R is not clearly regular; B then still holds Q^T B.
template <class T>
std::optional<LeastSquares<T>> solve_in_place(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, double rcond) {
  const index_t n = A.n(), r = B.n();
  if (g.runtime().gpus() == 0 || n > largest_kept_r || std::min(A.m(), A.tile_shape().mb) < n || B.nt() != 1)
    return std::nullopt;
  const TileMatrix<T> R(g.runtime(), n, n, {n, n}, "R"), C(g.runtime(), n, r, {n, r}, "C"),
      X(g.runtime(), n, r, {n, r}, "X"), norms(g.runtime(), r * B.mt(), 1, {r, 1}, "norms"),
      r_norms(g.runtime(), n, 1, {n, 1}, "norms"), measured(g.runtime(), 3 * r, 1, {r, 1}, "norms");
  const TileMatrix<double> condition(g.runtime(), 1, 1, {1, 1}, "condition");
  std::vector<Tile<T>> row;
  for (index_t j = 0; j < A.nt(); ++j) row.push_back(A(0, j));
  g.insert<GatherUpper<T>>({}, R(0, 0), row);
  g.insert<UnitCondition<T>>({}, R(0, 0), condition(0, 0), g.scratch<T>(n, 2 * n + 2));
  g.insert<Lacpy<T>>({}, B(0, 0), C(0, 0));
  g.insert<Lacpy<T>>({}, C(0, 0), X(0, 0));
  g.insert<Trsm<T>>({}, R(0, 0), X(0, 0));
  g.insert<ColumnNorms<T>>({}, R(0, 0), r_norms(0, 0));
  g.insert<ColumnNorms<T>>({}, X(0, 0), measured(0, 0));
  g.insert<ColumnNorms<T>>({}, C(0, 0), measured(1, 0));
  g.insert<Gemm<T>>({Op::none, Op::none, T(-1), T(1)}, R(0, 0), X(0, 0), C(0, 0));  // C - R X
  g.insert<ColumnNorms<T>>({}, C(0, 0), measured(2, 0));
  for (index_t i = 0; i < B.mt(); ++i) g.insert<ColumnNorms<T>>({i == 0 ? n : 0}, B(i, 0), norms(i, 0));
  g.wait();

  LeastSquares<T> result;
  result.condition = condition(0, 0).read()(0, 0);
  if (!clearly_regular(result.condition, rcond)) return std::nullopt;
  result.rank = n;
  result.X = HostMatrix<T>(n, r);
  X.copy_to(result.X.data(), result.X.ld());
  result.residual_norms.assign(static_cast<std::size_t>(r), T(0));
  norms.for_each_tile([&](Tile<T> tile, index_t, index_t) {
    const auto part = tile.read();
    for (index_t j = 0; j < r; ++j) {
      T& norm = result.residual_norms[static_cast<std::size_t>(j)];
      norm = std::hypot(norm, part(j, 0));
    }
  });
  result.backward_error = triangle_error<T>({A.m(), n}, r_norms, measured);
  // At home R is scaled before it is used, and what cannot be solved there is judged.
  if (!result.backward_error.good() || !all_finite(result.X)) return std::nullopt;
  return result;
}

/// m >= n.
template <class T>
LeastSquares<T> solve_tall(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options,
                           double rcond) {
  LeastSquares<T> result;
  with_factors(g, A, options, [&](const auto& factors) {
    factors.apply(g, Side::left, Op::transpose, B);
    if (options.method != OlsMethod::givens)
      if (auto solved = solve_in_place(g, A, B, rcond)) {
        result = std::move(*solved);
        return;
      }
    result = solve(g, extended_qr(g, factors, A, B), {A.m(), A.n()}, rcond);
  });
  return result;
}

/// m < n: A^T = Q R, X = Q [R^-T B; 0].
template <class T>
LeastSquares<T> solve_wide(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options,
                           double rcond) {
  const index_t m = A.m(), n = A.n(), r = B.n();
  const TileShape cut{A.tile_shape().nb, A.tile_shape().mb};  // of A^T
  const TileMatrix<T> transposed(g.runtime(), n, m, cut, "At");
  for (index_t i = 0; i < A.mt(); ++i)
    for (index_t j = 0; j < A.nt(); ++j) g.insert<Transpose<T>>({}, A(i, j), transposed(j, i));
  LeastSquares<T> result;
  bool regular = false;
  with_factors(g, transposed, options, [&](const auto& factors) {
    Extended<T> e = extended_qr(g, factors, transposed, B);
    if (!finite(e)) {
      result = not_finite<T>(r);
      return;
    }
    // Rows are not scaled here. A well conditioned A has columns that are as well conditioned when scaled, to a factor
    // of sqrt(n): so this agrees with the rank of scaled columns, which is looked at when this one is in doubt.
    result.condition = triangle_condition(e.R, false);
    regular = clearly_regular(result.condition * std::sqrt(static_cast<double>(n)), rcond);
    if (!regular) return;
    result.rank = m;
    const int of_r = largest_exponent(e.R.size(), e.R.data());
    scale_by_power_of_two(std::span(e.R.data(), static_cast<std::size_t>(e.R.size())), -of_r);
    const std::vector<int> of_c = scale_columns(e.C);
    HostMatrix<T> y = e.C.clone(), lower = HostMatrix<T>::zeros(m, m);
    solve_triangle(g, Op::transpose, e.R, y);
    for (index_t j = 0; j < m; ++j)
      for (index_t i = 0; i <= j; ++i) lower(j, i) = e.R(i, j);
    judge(result, lower, y, e.C, {m, n});
    result.X = HostMatrix<T>::zeros(n, r);
    for (index_t j = 0; j < r; ++j)
      for (index_t i = 0; i < m; ++i) result.X(i, j) = y(i, j);
    if (r > 0) {
      const auto X = TileMatrix<T>::map(g.runtime(), result.X.data(), n, r, n, {cut.mb, B.tile_shape().nb}, "X");
      factors.apply(g, Side::left, Op::none, X);
      g.wait();
      X.bring_home();
    }
    unscale(result.X, of_c, [&](index_t) { return of_r; });
    result.residual_norms = std::move(e.residuals);
    if (!all_finite(result.X)) result = not_finite<T>(r);
  });
  if (regular || result.status == OlsStatus::not_finite) return result;
  const auto factors = qr(g, A, options.qr);
  factors.apply(g, Side::left, Op::transpose, B);
  Extended<T> e = extended_qr(g, factors, A, B);
  if (!finite(e)) return not_finite<T>(r);
  return solve_any_rank(std::move(e), {m, n}, rcond);
}

/// A without rows or columns: X is zero.
template <class T>
LeastSquares<T> solve_empty(const TileMatrix<T>& B, index_t n) {
  Extended<T> e;
  e.C = HostMatrix<T>(0, B.n());
  split(B, e);
  if (!finite(e)) return not_finite<T>(B.n());
  LeastSquares<T> answer;
  answer.X = HostMatrix<T>::zeros(n, B.n());
  answer.residual_norms = std::move(e.residuals);
  return answer;
}

double settled_rcond(const OlsOptions& options, index_t m, index_t n, double epsilon) {
  if (!(options.rcond >= 0 && options.rcond < 1))
    throw ArgumentError("ols", "rcond", std::to_string(options.rcond) + " is not in [0, 1)");
  return options.rcond > 0 ? options.rcond : static_cast<double>(std::max(m, n)) * epsilon;
}

}  // namespace

const char* description(OlsStatus status) {
  switch (status) {
    case OlsStatus::ok:
      return "ok";
    case OlsStatus::rank_deficient:
      return "rank deficient";
    case OlsStatus::not_finite:
      return "not finite";
    case OlsStatus::inaccurate:
      return "inaccurate";
  }
  return "";
}

template <class T>
Measured ols_error(const typename NormalResidual<T>::Result& errors, Shape a, index_t rank, double cut) {
  // See docs/least-squares.md for where this comes from.
  const double rounding = 10 * std::sqrt(static_cast<double>(std::max<index_t>({a.rows, a.cols, 1}))) *
                          static_cast<double>(std::numeric_limits<T>::epsilon());
  if (rank == a.cols) return {errors.column_error, rounding};
  if (rank == a.rows) return {errors.equation_error, rounding};
  return {errors.backward_error, rounding + 2 * cut};
}

std::span<const Named<OlsMethod>> ols_methods() {
  static constexpr std::array<Named<OlsMethod>, 4> all{{
      {OlsMethod::automatic, "auto", "by shape"},
      {OlsMethod::tiles, "tiles", "QR over tiles"},
      {OlsMethod::tall_skinny, "tall-skinny", "one pass; a .npy file of A is streamed"},
      {OlsMethod::givens, "givens", "plane rotations in sequence"},
  }};
  return all;
}

TileShape possible_ols_tile(OlsMethod method, TileShape wanted, index_t m, index_t n) {
  if (method == OlsMethod::givens) (m < n ? wanted.nb : wanted.mb) = std::max<index_t>(m < n ? n : m, 1);
  return wanted;
}

OlsMethod suitable_ols_method(index_t m, index_t n, index_t r) {
  return n + r <= 32 && m / 16 >= n + r ? OlsMethod::tall_skinny : OlsMethod::tiles;
}

TileShape suitable_ols_tile(const Runtime& runtime, OlsMethod method, index_t m, index_t n) {
  const auto workers = static_cast<index_t>(std::max<std::size_t>(runtime.workers().size(), 1));
  if (method == OlsMethod::tall_skinny)
    return {std::clamp<index_t>(ceil_div(m, 4 * workers), 1024, index_t{1} << 20), std::max<index_t>(n, 1)};
  TileShape tile = suitable_qr_tile(runtime, std::max(m, n), std::min(m, n));
  if (method == OlsMethod::givens) return possible_ols_tile(method, {tile.nb, tile.nb}, m, n);
  // Few and tall ones, where there are rows enough: fewer rows of tiles are joined.
  if (runtime.gpus() == 0 && std::max(m, n) >= 16 * std::min(m, n))
    tile = {std::clamp<index_t>(std::max(m, n) / (4 * workers), tile.nb, 2048), std::min<index_t>(tile.nb, 128)};
  return m < n ? TileShape{tile.nb, tile.mb} : tile;
}

template <class T>
LeastSquares<T> ols(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options) {
  require_conforming(A, B);
  const index_t m = A.m(), n = A.n(), r = B.n();
  const double rcond = settled_rcond(options, m, n, std::numeric_limits<T>::epsilon());
  if (m == 0 || n == 0) return solve_empty(B, n);
  OlsOptions settled = options;
  if (settled.method == OlsMethod::automatic) settled.method = suitable_ols_method(m, n, r);
  if (settled.method == OlsMethod::tall_skinny) {
    QrUpdater<T> updater(g.runtime(), n, r);
    updater.append(g, A, B);
    return solve(g, extended_qr(g, updater), {m, n}, rcond);
  }
  if (m < n) return solve_wide(g, A, B, settled, rcond);
  return solve_tall(g, A, B, settled, rcond);
}

template <class T>
LeastSquares<T> ols(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const OlsOptions& options) {
  const index_t m = A.m(), n = A.n(), r = B.cols();
  if (B.rows() != m) throw ArgumentError("ols", "B", text(B.rows(), r) + "; A has " + std::to_string(m) + " rows");
  const double rcond = settled_rcond(options, m, n, std::numeric_limits<T>::epsilon());
  if (options.rows < 0) throw ArgumentError("ols", "rows", std::to_string(options.rows) + " is negative");
  const index_t suitable = (index_t{16} << 20) / (std::max<index_t>(n, 1) * index_t{sizeof(T)});
  const index_t rows = options.rows > 0 ? options.rows : std::max<index_t>(suitable, 1024);
  const auto b = TileMatrix<T>::map(g.runtime(), B.data(), m, r, B.ld(), {rows, std::max<index_t>(r, 1)}, "B");
  if (m == 0 || n == 0) return solve_empty(b, n);

  QrUpdater<T> updater(g.runtime(), n, r);
  // A group of tiles for all workers is read while they are busy with the other one; writing to a tile waits for the
  // task that reads it.
  const auto together = static_cast<index_t>(g.runtime().workers().size());
  std::vector<TileMatrix<T>> groups;
  for (index_t group = 0; group * together < b.mt(); ++group) {
    const index_t first = group * together * rows, count = std::min(rows * together, m - first);
    if (group < 2 || count < rows * together)
      groups.emplace_back(g.runtime(), count, n, TileShape{rows, n}, "rows");
    else
      std::swap(groups.front(), groups.back());
    const TileMatrix<T>& block = groups.back();
    block.for_each_tile([&](const Tile<T>& tile, index_t row, index_t) { A.read(first + row, tile.write()); });
    updater.append(g, block, b.view(group * together, 0, block.mt(), b.nt()));
  }
  return solve(g, extended_qr(g, updater), {m, n}, rcond);
}

template Measured ols_error<float>(const NormalResidual<float>::Result&, Shape, index_t, double);
template Measured ols_error<double>(const NormalResidual<double>::Result&, Shape, index_t, double);
template LeastSquares<float> ols(Graph&, const TileMatrix<float>&, const TileMatrix<float>&, const OlsOptions&);
template LeastSquares<double> ols(Graph&, const TileMatrix<double>&, const TileMatrix<double>&, const OlsOptions&);
template LeastSquares<float> ols(Graph&, const MatrixRows<float>&, const HostMatrix<float>&, const OlsOptions&);
template LeastSquares<double> ols(Graph&, const MatrixRows<double>&, const HostMatrix<double>&, const OlsOptions&);

}  // namespace tesela
