#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/algorithms/least_squares/internal/equation_units.hpp>
#include <tesela/algorithms/least_squares/internal/glm_parts.hpp>
#include <tesela/algorithms/least_squares/internal/graded_least_norm.hpp>
#include <tesela/algorithms/least_squares/internal/row_system.hpp>
#include <tesela/algorithms/least_squares/internal/seminormal_rows.hpp>
#include <tesela/algorithms/qr/generalized_qr.hpp>
#include <tesela/runtime/shortest.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <string>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
void require_conforming(const TileMatrix<T>& A, const TileMatrix<T>& other, const char* name) {
  if (other.m() != A.m() || (std::max(A.mt(), other.mt()) > 1 && other.tile_shape().mb != A.tile_shape().mb))
    throw ArgumentError("glm", name,
                        std::to_string(other.m()) + " rows in tiles of " + std::to_string(other.tile_shape().mb) +
                            "; A has " + std::to_string(A.m()) + " in tiles of " + std::to_string(A.tile_shape().mb));
  if (other.shares_tiles(A)) throw ArgumentError("glm", name, "shares tiles with A");
}

double settled_rcond(const GlmOptions& options, index_t size, double epsilon) {
  if (!(options.rcond >= 0 && options.rcond < 1))
    throw ArgumentError("glm", "rcond", shortest(options.rcond) + " is not in [0, 1)");
  return options.rcond > 0 ? options.rcond : static_cast<double>(size) * epsilon;
}

TileShape suitable_part_tile(const Runtime& runtime, GlmMethod method, index_t q, index_t p) {
  TileShape tile = suitable_qr_tile(runtime, std::max(q, p), std::min(q, p));
  if (method == GlmMethod::givens) tile.mb = std::max<index_t>({q, p, 1});
  return tile;
}

/// The model after A = Q [R; 0], once B and b hold Q^T B and Q^T b.
template <class T, class Factor>
Glm<T> solve(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b,
             const GlmOptions& options, double rcond, const Factor& factor) {
  const index_t m = A.m(), n = A.n(), p = B.n(), r = b.n(), k0 = std::min(m, n);
  const std::vector<int> of_columns = detail::bring_columns_into_range(g, A),
                         of_sides = detail::bring_columns_into_range(g, b);
  const detail::Size b_size = detail::bring_into_range(g, B);
  const auto of_a = factor(A);
  of_a.apply(g, Side::left, Op::transpose, B);
  of_a.apply(g, Side::left, Op::transpose, b);
  const bool given = options.tile.mb > 0 && options.tile.nb > 0;
  const auto rest_of = [&](index_t rank) {
    return detail::RowSystem(
        g, B, rank, given ? options.tile : suitable_part_tile(g.runtime(), options.method, m - rank, p), factor);
  };
  // For the rank that A has most often: nothing waits for the decision.
  std::optional<detail::RowSystem<T, Factor>> rest;
  std::optional<RqFactorization<T>> all;
  std::optional<detail::SeminormalRows<T>> products;
  const auto by_products = [&](index_t rank) {
    return options.method == GlmMethod::seminormal && !options.keep_spread && !b_size.graded() &&
           detail::SeminormalRows<T>::takes(B, rank);
  };
  if (b_size.graded()) {
    // The rank has to be known first.
  } else if (options.method == GlmMethod::gqr && m >= n)
    all.emplace(rq(g, B, {options.qr, given ? options.tile : suitable_part_tile(g.runtime(), options.method, m, p)}));
  else if (by_products(k0))
    products.emplace(g, B, k0);
  else
    rest.emplace(rest_of(k0));

  Glm<T> answer;
  answer.rank = k0;
  const bool in_place = g.runtime().gpus() > 0 && m >= n && !options.keep_spread;
  const auto kept = in_place ? detail::kept_if_regular(g, of_a, rcond) : std::nullopt;
  const TileMatrix<T> nothing(g.runtime(), m, 0, A.tile_shape());
  HostMatrix<T> R, c = first_rows(b, m).rows;
  if (!kept) R = extended_qr(g, of_a, A.tile_shape(), nothing).R;
  if (!all_finite(R) || !all_finite(c)) return detail::glm_not_finite<T>(r);
  if (kept)
    answer.condition = kept->condition;
  else if (m >= n && n > 0)
    answer.condition = triangle_condition(R, true);
  RankRows<T> rows;
  const bool regular = kept || (m >= n && (n == 0 || detail::regular(R, answer.condition, rcond)));
  if (!regular) {
    rows = rows_of_rank(R.clone(), rcond);
    answer.rank = rows.rank;
    answer.condition = rows.condition;
    if (rows.rank < k0) {
      detail::turn_first_rows(B, rows.turn);
      detail::turn_first_rows(c, Op::none, rows.turn);
      all.reset();
      if (rest) rest.emplace(rest_of(rows.rank));
      if (products) products.reset();
      if (!rest && by_products(rows.rank)) products.emplace(g, B, rows.rank);
    }
  }
  const bool turned = answer.rank < k0;
  std::vector<int> of_c = scale_columns(c);
  for (std::size_t j = 0; j < of_c.size(); ++j) of_c[j] += of_sides[j];
  const HostMatrix<T> c2 = detail::rows_of(c, answer.rank, m - answer.rank);
  std::optional<detail::LeastNorm<T>> published;
  if (b_size.graded()) {
    HostMatrix<T> B2 = detail::rows_of(first_rows(B, m).rows, answer.rank, m - answer.rank);
    if (!all_finite(B2)) return detail::glm_not_finite<T>(r);
    published = detail::graded_least_norm(std::move(B2), b_size.of_columns, c2, rcond, options.multipliers);
  }
  if (all) published = detail::solve_by_rq(g, *all, c2, rcond, b_size.norm, options.multipliers);
  answer.used = options.method == GlmMethod::givens ? GlmMethod::givens
                : published && all                  ? GlmMethod::gqr
                                                    : GlmMethod::tiles;
  if (products && (published = products->solve(g, c2, rcond, b_size.norm))) answer.used = GlmMethod::seminormal;
  products.reset();
  if (!published && !rest) rest.emplace(rest_of(answer.rank));
  const detail::LeastNorm<T> s =
      published ? std::move(*published) : rest->solve(g, c2.clone(), rcond, b_size.norm, options.multipliers);
  if (!s.finite || !all_finite(s.U)) return detail::glm_not_finite<T>(r);
  answer.rank_b = s.rank;
  answer.condition_b = s.condition;

  // c - B u, of which the first rows are R x and the others should vanish.
  HostMatrix<T> e = detail::minus_product(g, c, B, s);
  HostMatrix<T> right = detail::rows_of(e, 0, k0);
  if (turned) detail::turn_first_rows(right, Op::transpose, rows.turn);
  HostMatrix<T> triangle = options.keep_spread ? R.clone() : HostMatrix<T>();
  detail::SolvedTriangle<T> x = kept ? detail::solve_triangle(g, *kept, std::move(right))
                                     : detail::solve_triangle(g, std::move(R), std::move(right), regular, rcond);
  if (!all_finite(x.X)) return detail::glm_not_finite<T>(r);
  if (options.keep_spread && answer.rank == n && s.rank == m - n) {
    const auto beyond = [&] {
      if (b_size.graded()) return detail::graded_beyond(first_rows(B, m).rows, n, b_size.of_columns);
      if (all && published) return detail::beyond(g, *all, n);
      if (!rest) rest.emplace(rest_of(answer.rank));
      return rest->beyond(g, B, n);
    };
    answer.spread = detail::spread_of(g, std::move(triangle), beyond(), b_size.exponent, of_columns);
  }
  answer.original_units = x.original_units && std::equal(of_columns.begin() + 1 * !of_columns.empty(), of_columns.end(),
                                                         of_columns.begin());
  detail::judge(answer, s, x, c, e, {m, n}, b_size, rows.cut, options.rcond > 0);
  for (std::size_t j = 0; j < of_c.size(); ++j) {
    answer.distances[j] = std::ldexp(answer.distances[j], of_c[j]);
    answer.tolerances[j] = std::ldexp(answer.tolerances[j], of_c[j]);
  }
  if (options.multipliers) {
    answer.multipliers = HostMatrix<T>::zeros(m, r);
    for (index_t j = 0; j < r; ++j) {
      for (index_t i = answer.rank; i < m; ++i) answer.multipliers(i, j) = s.L(i - answer.rank, j);
      answer.multiplier_exponents.push_back(of_c[static_cast<std::size_t>(j)] - 2 * (s.exponent + b_size.exponent));
    }
    if (turned) detail::turn_first_rows(answer.multipliers, Op::transpose, rows.turn);
    detail::apply_q(g, of_a, A.tile_shape().mb, answer.multipliers);
  }
  if (answer.status == GlmStatus::inconsistent) return answer;
  detail::unscale(x.X, of_c, [&](index_t j) {
    return x.exponents[static_cast<std::size_t>(j)] + of_columns[static_cast<std::size_t>(j)];
  });
  answer.X = std::move(x.X);
  answer.U = s.U.clone();
  detail::unscale(answer.U, of_c, [&](index_t) { return s.exponent + b_size.exponent; });
  if (!all_finite(answer.X) || !all_finite(answer.U)) return detail::glm_not_finite<T>(r);
  return answer;
}

}  // namespace

const char* description(GlmStatus status) {
  switch (status) {
    case GlmStatus::ok:
      return "ok";
    case GlmStatus::rank_deficient:
      return "rank deficient";
    case GlmStatus::inconsistent:
      return "inconsistent";
    case GlmStatus::not_finite:
      return "not finite";
    case GlmStatus::inaccurate:
      return "inaccurate";
  }
  return "";
}

std::span<const Named<GlmMethod>> glm_methods() {
  static constexpr std::array<Named<GlmMethod>, 4> all{{
      {GlmMethod::seminormal, "seminormal", "QR of A; products of what it leaves of B, corrected; else as tiles"},
      {GlmMethod::tiles, "tiles", "QR over tiles of A, then of the rows of Q'B that A leaves"},
      {GlmMethod::gqr, "gqr", "the published way: generalized QR, all of Q'BV"},
      {GlmMethod::givens, "givens", "as tiles, by plane rotations"},
  }};
  return all;
}

GlmTiles suitable_glm_tiles(const Runtime& runtime, GlmMethod method, index_t m, index_t n, index_t p) {
  TileShape a = suitable_qr_tile(runtime, m, n);
  const auto gpus = static_cast<index_t>(runtime.gpus());
  // Products take rows of B that stand in one tile a column.
  const bool by_products = method == GlmMethod::seminormal && gpus == 0 && p >= m - n;
  if (method == GlmMethod::givens || by_products) a.mb = std::max<index_t>(m, 1);
  if (gpus == 0) return {a, {a.mb, suitable_qr_tile(runtime, m, p).nb}};
  // On a GPU B is only multiplied: a few wide tiles for each.
  index_t nb = 256;
  while (nb < 2048 && 8 * nb * gpus <= p) nb *= 2;
  return {a, {a.mb, nb}};
}

template <class T>
Glm<T> glm(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& b,
           const GlmOptions& options) {
  require_conforming(A, B, "B");
  require_conforming(A, b, "b");
  if (b.shares_tiles(B)) throw ArgumentError("glm", "b", "shares tiles with B");
  const double rcond = settled_rcond(options, std::max({A.m(), A.n(), B.n()}), std::numeric_limits<T>::epsilon());
  const std::vector<int> of_rows = detail::bring_equations_to_one_size(g, A, B, b);
  Glm<T> answer;
  if (options.method == GlmMethod::givens)
    answer = solve(g, A, B, b, options, rcond, [&](const TileMatrix<T>& matrix) {
      GivensOptions own = options.givens;
      if (&matrix == &A) own.ends = options.column_ends;
      return givens_qr(g, matrix, own);
    });
  else
    answer = solve(g, A, B, b, options, rcond, [&](const TileMatrix<T>& matrix) {
      QrOptions own = options.qr;
      if (&matrix == &A) own.ends = options.column_ends;
      return qr(g, matrix, own);
    });
  detail::in_units_of_equations(of_rows, answer.multipliers, answer.multiplier_exponents);
  return answer;
}

template Glm<float> glm(Graph&, const TileMatrix<float>&, const TileMatrix<float>&, const TileMatrix<float>&,
                        const GlmOptions&);
template Glm<double> glm(Graph&, const TileMatrix<double>&, const TileMatrix<double>&, const TileMatrix<double>&,
                         const GlmOptions&);

}  // namespace tesela
