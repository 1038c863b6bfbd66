#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/algorithms/least_squares/internal/equation_units.hpp>
#include <tesela/algorithms/least_squares/internal/glm_parts.hpp>
#include <tesela/algorithms/least_squares/internal/graded.hpp>
#include <tesela/algorithms/least_squares/internal/row_system.hpp>
#include <tesela/algorithms/least_squares/internal/seminormal_rows.hpp>
#include <tesela/algorithms/qr/generalized_qr.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
void require_conforming(const TileMatrix<T>& A, const TileMatrix<T>& other, const char* name) {
  require(other.m() == A.m() && (std::max(A.mt(), other.mt()) <= 1 || other.tile_shape().mb == A.tile_shape().mb),
          "glm", name, other.m(), " rows in tiles of ", other.tile_shape().mb, "; A has ", A.m(), " in tiles of ",
          A.tile_shape().mb);
  require(!other.shares_tiles(A), "glm", name, "shares tiles with A");
}

double default_rcond(const GlmOptions& options, index_t size, double epsilon) {
  require(options.rcond >= 0 && options.rcond < 1, "glm", "rcond", shortest(options.rcond), " is not in [0, 1)");
  return options.rcond > 0 ? options.rcond : static_cast<double>(size) * epsilon;
}

TileShape suitable_part_tile(const Runtime& runtime, GlmMethod method, index_t q, index_t p) {
  TileShape tile = qr_tile(runtime, std::max(q, p), std::min(q, p));
  if (method == GlmMethod::givens) tile.mb = std::max<index_t>({q, p, 1});
  return tile;
}

/// Exponents of the powers of two that divided A's columns, B and b's columns.
struct ModelUnits {
  std::vector<int> of_columns, of_sides;
  detail::Size of_b;
};

/// The rows of Q^H B below A's rank, and the solver for u.
template <class T, class Factor>
class RowsBelowRank {
 public:
  RowsBelowRank(Graph& g, const TileMatrix<T>& B, const detail::Size& size, bool tall, double rcond,
                const GlmOptions& options, const Factor& factor)
      : g_(g), b_(B), size_(size), tall_(tall), rcond_(rcond), options_(options), factor_(factor) {}

  /// Inserts the factorizations of the rows from `rank` on. `full`: whether `rank` is min(m, n).
  void begin(index_t rank, bool full) {
    all_.reset(), rest_.reset(), products_.reset();
    if (size_.graded()) return;
    if (options_.method == GlmMethod::gqr && tall_ && full)
      all_.emplace(rq(g_, b_, {options_.qr, tile(b_.m())}));
    else if (options_.method == GlmMethod::seminormal && !options_.keep_spread &&
             detail::SeminormalRows<T>::takes(b_, rank))
      products_.emplace(g_, b_, rank);
    else
      rest_.emplace(rest_of(rank));
  }

  /// Returns the u of least norm with B2 u = c2. Its `finite` is false if B2 is not finite.
  detail::LeastNorm<T> solve(const HostMatrix<T>& c2, index_t rank) {
    const auto multipliers = options_.multipliers;
    used = options_.method == GlmMethod::givens ? GlmMethod::givens : GlmMethod::tiles;
    if (size_.graded()) {
      HostMatrix<T> B2 = detail::rows_of(first_rows(b_, b_.m()).rows, rank, b_.m() - rank);
      if (!all_finite(B2)) {
        detail::LeastNorm<T> nothing;
        nothing.finite = false;
        return nothing;
      }
      return detail::graded_least_norm(std::move(B2), size_.of_columns, c2, rcond_, multipliers);
    }
    std::optional<detail::LeastNorm<T>> found;
    if (all_ && (found = detail::solve_by_rq(g_, *all_, c2, rcond_, size_.norm, multipliers))) used = GlmMethod::gqr;
    by_rq_ = found.has_value();
    if (products_ && (found = products_->solve(g_, c2, rcond_, size_.norm))) used = GlmMethod::seminormal;
    products_.reset();
    if (found) return std::move(*found);
    if (!rest_) rest_.emplace(rest_of(rank));
    return rest_->solve(g_, c2.clone(), rcond_, size_.norm, multipliers);
  }

  /// Returns the first n rows of Q^H B times orthonormal columns that span the null space of the other rows. `s` is the
  /// solution for the other rows.
  HostMatrix<T> beyond(index_t n, const detail::LeastNorm<T>& s) const {
    if (size_.graded()) return detail::graded_null_space_part(first_rows(b_, b_.m()).rows, n, size_.of_columns, rcond_);
    return by_rq_ ? detail::beyond(g_, *all_, n) : rest_->beyond(g_, b_, n, s);
  }

  GlmMethod used = GlmMethod::tiles;

 private:
  TileShape tile(index_t rows) const {
    const bool given = options_.tile.mb > 0 && options_.tile.nb > 0;
    return given ? options_.tile : suitable_part_tile(g_.runtime(), options_.method, rows, b_.n());
  }
  detail::RowSystem<T, Factor> rest_of(index_t rank) { return {g_, b_, rank, tile(b_.m() - rank), factor_}; }

  Graph& g_;
  const TileMatrix<T>& b_;
  const detail::Size& size_;
  bool tall_, by_rq_ = false;
  double rcond_;
  const GlmOptions& options_;
  const Factor& factor_;
  std::optional<detail::RowSystem<T, Factor>> rest_;
  std::optional<RqFactorization<T>> all_;
  std::optional<detail::SeminormalRows<T>> products_;
};

/// A = Q [R; 0] and Q^H b in host memory. B holds Q^H B.
template <class T>
struct Reduced {
  HostMatrix<T> c;  // Q^H b
  index_t rank = 0;
  double condition = 1, cut = 0;
  bool regular = true;  // whether R is n x n and of full rank
  HostMatrix<T> R;      // empty if R is kept in its tiles
  std::optional<detail::TileR<T>> kept = {};
  HostMatrix<T> turn = {};                           // transformation of the first rows if A's rank is deficient
  std::vector<int> row_exponents = {};               // exponents of R's rows if A's rows are graded
  std::vector<index_t> pivots = {};                  // order of R's columns if A's rows are graded
  int exponent_below = 0;                            // exponent of errors in the rows below if A's rows are graded
  std::function<void(HostMatrix<T>&)> apply_q = {};  // X = Q X

  bool graded() const { return !row_exponents.empty(); }
  index_t unknown(index_t j) const { return pivots.empty() ? j : pivots[static_cast<std::size_t>(j)]; }
};

template <class T>
detail::SolvedTriangle<T> solve_triangle(Graph& g, Reduced<T>& reduced, HostMatrix<T> right, double rcond) {
  if (reduced.kept) return detail::solve_triangle(g, *reduced.kept, std::move(right));
  return detail::solve_triangle(g, std::move(reduced.R), std::move(right), reduced.regular, rcond);
}

/// Solves the reduced model.
template <class T, class Factor>
Glm<T> solve(Graph& g, const TileMatrix<T>& B, Reduced<T> reduced, RowsBelowRank<T, Factor>& left,
             const GlmOptions& options, double rcond, const ModelUnits& units, index_t n) {
  const index_t m = B.m(), rank = reduced.rank, r = reduced.c.cols();
  Glm<T> answer;
  answer.rank = rank;
  answer.condition = reduced.condition;
  HostMatrix<T>& c = reduced.c;
  std::vector<int> of_c = scale_columns(c);
  for (std::size_t j = 0; j < of_c.size(); ++j) of_c[j] += units.of_sides[j];
  const detail::LeastNorm<T> s = left.solve(detail::rows_of(c, rank, m - rank), rank);
  answer.used = left.used;
  if (!s.finite || !all_finite(s.U)) return detail::glm_not_finite<T>(r);
  answer.rank_b = s.rank;
  answer.condition_b = s.condition;

  // e = c - B u: its first rows are R x, the others should vanish.
  HostMatrix<T> e = detail::minus_product(g, c, B, s);
  HostMatrix<T> right = detail::rows_of(e, 0, reduced.kept ? n : reduced.R.rows());
  if (reduced.turn.rows() > 0) detail::transform_first_rows(right, adjoint<T>, reduced.turn);
  detail::divide_rows(right, reduced.row_exponents);
  HostMatrix<T> triangle = options.keep_spread ? reduced.R.clone() : HostMatrix<T>();
  detail::SolvedTriangle<T> x = solve_triangle(g, reduced, std::move(right), rcond);
  if (!all_finite(x.X)) return detail::glm_not_finite<T>(r);
  const auto of_column = [&](index_t j) { return units.of_columns[static_cast<std::size_t>(reduced.unknown(j))]; };
  if (options.keep_spread && rank == n) {
    std::vector<int> of_columns;
    for (index_t j = 0; j < n; ++j) of_columns.push_back(of_column(j));
    HostMatrix<T> K = left.beyond(n, s);
    detail::divide_rows(K, reduced.row_exponents);
    answer.spread = detail::with_rows_at(
        detail::spread_of(g, std::move(triangle), std::move(K), units.of_b.exponent, of_columns), reduced.pivots);
  }
  answer.original_units = x.original_units && std::equal(units.of_columns.begin() + 1 * !units.of_columns.empty(),
                                                         units.of_columns.end(), units.of_columns.begin());
  detail::divide_rows(c, reduced.row_exponents);
  detail::judge(answer, s, x, c, e, {m, n}, units.of_b,
                {reduced.cut, options.rcond > 0, reduced.graded(), reduced.exponent_below});
  for (std::size_t j = 0; j < of_c.size(); ++j) {
    answer.distances[j] = std::ldexp(answer.distances[j], of_c[j]);
    answer.tolerances[j] = std::ldexp(answer.tolerances[j], of_c[j]);
  }
  if (options.multipliers) {
    answer.multipliers = HostMatrix<T>::zeros(m, r);
    for (index_t j = 0; j < r; ++j) {
      for (index_t i = rank; i < m; ++i) answer.multipliers(i, j) = s.L(i - rank, j);
      answer.multiplier_exponents.push_back(of_c[static_cast<std::size_t>(j)] - 2 * (s.exponent + units.of_b.exponent));
    }
    if (reduced.turn.rows() > 0) detail::transform_first_rows(answer.multipliers, adjoint<T>, reduced.turn);
    reduced.apply_q(answer.multipliers);
  }
  if (answer.status == SolveStatus::inconsistent) return answer;
  detail::unscale(x.X, of_c, [&](index_t j) { return x.exponents[static_cast<std::size_t>(j)] + of_column(j); });
  answer.X = detail::with_rows_at(std::move(x.X), reduced.pivots);
  answer.U = s.U.clone();
  detail::unscale(answer.U, of_c, [&](index_t) { return s.exponent + units.of_b.exponent; });
  if (!all_finite(answer.X) || !all_finite(answer.U)) return detail::glm_not_finite<T>(r);
  return answer;
}

/// Solves by a factorization of A in tiles.
template <class T, class Factor>
Glm<T> solve_by_tiles(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b,
                      const GlmOptions& options, double rcond, const ModelUnits& units, const Factor& factor) {
  const index_t m = A.m(), n = A.n(), k0 = std::min(m, n);
  const auto of_a = factor(A);
  of_a.apply(g, Side::left, adjoint<T>, B);
  of_a.apply(g, Side::left, adjoint<T>, b);
  RowsBelowRank<T, Factor> left(g, B, units.of_b, m >= n, rcond, options, factor);
  left.begin(k0, true);  // starts before the rank is decided

  Reduced<T> reduced;
  reduced.rank = k0;
  if (g.runtime().gpus() > 0 && m >= n && !options.keep_spread)
    reduced.kept = detail::resident_r_if_regular(g, of_a, rcond);
  const TileMatrix<T> nothing(g.runtime(), m, 0, A.tile_shape());
  reduced.c = first_rows(b, m).rows;
  if (!reduced.kept) reduced.R = extended_qr(g, of_a, A.tile_shape(), nothing).R;
  if (!all_finite(reduced.R) || !all_finite(reduced.c)) return detail::glm_not_finite<T>(b.n());
  if (reduced.kept)
    reduced.condition = reduced.kept->condition;
  else if (m >= n && n > 0)
    reduced.condition = triangle_condition(reduced.R, true);
  reduced.regular = reduced.kept || (m >= n && (n == 0 || detail::regular(reduced.R, reduced.condition, rcond)));
  if (!reduced.regular) {
    RankRows<T> rows = rows_of_rank(reduced.R.clone(), rcond);
    reduced.rank = rows.rank;
    reduced.condition = rows.condition;
    reduced.cut = rows.cut;
    if (rows.rank < k0) {
      detail::transform_first_rows(B, rows.turn);
      detail::transform_first_rows(reduced.c, Op::none, rows.turn);
      reduced.turn = std::move(rows.turn);
      left.begin(rows.rank, false);
    }
  }
  reduced.apply_q = [&](HostMatrix<T>& X) { detail::apply_q(g, of_a, A.tile_shape().mb, X); };
  return solve(g, B, std::move(reduced), left, options, rcond, units, n);
}

/// Solves on the host a model whose A has rows of these sizes, with errors relative to each row.
template <class T, class Factor>
Glm<T> solve_graded(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b,
                    const GlmOptions& options, double rcond, const ModelUnits& units, std::vector<int> sizes,
                    const Factor& factor) {
  const index_t m = A.m(), n = A.n();
  HostMatrix<T> a = first_rows(A, m).rows, f = first_rows(B, m).rows, c = first_rows(b, m).rows;
  if (!all_finite(a) || !all_finite(f) || !all_finite(c)) return detail::glm_not_finite<T>(b.n());
  // `sizes` belong to A before its columns were brought into range.
  const int shift = largest_exponent(a.size(), a.data()) - *std::ranges::max_element(sizes);
  for (int& size : sizes)
    if (size != std::numeric_limits<int>::min()) size += shift;
  const auto with_all_cores = [](const auto& work) {
    const blas::Threads threads(blas::all_cores());
    return work();
  };
  const detail::GradedRowsOfA<T> of_a =
      with_all_cores([&] { return detail::GradedRowsOfA<T>(std::move(a), sizes, rcond); });
  with_all_cores([&] { of_a.apply(adjoint<T>, f), of_a.apply(adjoint<T>, c); });
  B.copy_from(f.data(), f.ld());
  f = HostMatrix<T>();
  Reduced<T> reduced;
  reduced.c = std::move(c);
  const GradedQr<T>& qr = of_a.qr();
  reduced.rank = qr.rank();
  reduced.regular = reduced.rank == n;
  reduced.R = qr.R.clone();
  reduced.condition = reduced.regular                  ? triangle_condition(reduced.R, true)
                      : reduced.rank == std::min(m, n) ? rows_of_rank(reduced.R.clone(), rcond).condition
                                                       : std::numeric_limits<double>::infinity();
  reduced.row_exponents = qr.row_exponents;
  reduced.pivots = qr.pivots;
  reduced.exponent_below = qr.exponent_below;
  reduced.apply_q = [&](HostMatrix<T>& X) { of_a.apply(Op::none, X); };
  RowsBelowRank<T, Factor> left(g, B, units.of_b, m >= n, rcond, options, factor);
  left.begin(reduced.rank, reduced.regular);
  return solve(g, B, std::move(reduced), left, options, rcond, units, n);
}

}  // namespace

std::span<const Named<GlmMethod>> glm_methods() {
  static constexpr std::array<Named<GlmMethod>, 4> all{{
      {GlmMethod::seminormal, "seminormal", "QR of A, then corrected seminormal equations; else as tiles"},
      {GlmMethod::tiles, "tiles", "QR over tiles of A, then of the rows of Q'B below A's rank"},
      {GlmMethod::gqr, "gqr", "generalized QR, all of Q'BV: Ramiro Sánchez 2010, Algorithm 5.3"},
      {GlmMethod::givens, "givens", "as tiles, by plane rotations"},
  }};
  return all;
}

GlmTiles glm_tiles(const Runtime& runtime, GlmMethod method, Shape shape, index_t p) {
  const auto [m, n] = shape;
  TileShape a = qr_tile(runtime, m, n);
  const auto gpus = static_cast<index_t>(runtime.gpus());
  // SeminormalRows requires B in one tile row.
  const bool by_products = method == GlmMethod::seminormal && gpus == 0 && p >= m - n;
  if (method == GlmMethod::givens || by_products) a.mb = std::max<index_t>(m, 1);
  if (gpus == 0) return {a, {a.mb, qr_tile(runtime, m, p).nb}};
  // On a GPU B is only multiplied: a few wide tiles per GPU suffice.
  index_t nb = 256;
  while (nb < 2048 && 8 * nb * gpus <= p) nb *= 2;
  return {a, {a.mb, nb}};
}

template <class T>
Glm<T> detail::glm_scaled_equations(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b,
                                    const GlmOptions& options, const EquationUnits& equations) {
  const double rcond =
      tesela::default_rcond(options, std::max({A.m(), A.n(), B.n()}), std::numeric_limits<real_t<T>>::epsilon());
  const ModelUnits units{scale_columns_into_range(g, A), scale_columns_into_range(g, b), scale_into_range(g, B)};
  const auto by = [&](const auto& factor) {
    return equations.graded ? solve_graded(g, A, B, b, options, rcond, units, equations.sizes, factor)
                            : solve_by_tiles(g, A, B, b, options, rcond, units, factor);
  };
  if (options.method == GlmMethod::givens)
    return by([&](const TileMatrix<T>& matrix) {
      GivensOptions own = options.givens;
      if (&matrix == &A) own.ends = options.column_ends;
      return givens_qr(g, matrix, own);
    });
  return by([&](const TileMatrix<T>& matrix) {
    QrOptions own = options.qr;
    if (&matrix == &A) own.ends = options.column_ends;
    return qr(g, matrix, own);
  });
}

template <class T>
Glm<T> glm(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b,
           const GlmOptions& options) {
  require_conforming(A, B, "B");
  require_conforming(A, b, "b");
  require(!b.shares_tiles(B), "glm", "b", "shares tiles with B");
  default_rcond(options, 1, std::numeric_limits<real_t<T>>::epsilon());  // throws before a matrix is overwritten
  const detail::EquationUnits equations = detail::equilibrate_equations(g, A, B, b);
  Glm<T> answer = detail::glm_scaled_equations(g, A, B, b, options, equations);
  detail::unscale_multipliers(equations.exponents, answer.multipliers, answer.multiplier_exponents);
  return answer;
}

template <class T>
Glm<T> glm(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, MatrixView<T> y, const GlmOptions& options) {
  const GlmTiles tile = glm_tiles(runtime, options.method, a.shape(), b.cols);
  const auto A = a.in_tiles(runtime, tile.a, "A"), B = b.in_tiles(runtime, tile.b, "B"),
             Y = y.in_tiles(runtime, {tile.a.mb, std::max<index_t>(y.cols, 1)}, "y");
  Graph g(runtime);
  return glm(g, A, B, Y, options);
}

#define TESELA_INSTANTIATE(T)                                                                                       \
  template Glm<T> glm(Runtime&, MatrixView<T>, MatrixView<T>, MatrixView<T>, const GlmOptions&);                    \
  template Glm<T> glm(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, const TileMatrix<T>&, const GlmOptions&); \
  template Glm<T> detail::glm_scaled_equations(Graph&, const TileMatrix<T>&, const TileMatrix<T>&,                  \
                                               const TileMatrix<T>&, const GlmOptions&, const EquationUnits&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
