#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/least_squares/internal/glm_parts.hpp>
#include <tesela/algorithms/least_squares/internal/seminormal_rows.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr index_t vectors = 3;
constexpr int least_steps = 3, most_steps = 8;

/// Returns the tile shape of the factored matrix, measured on one GPU for smaller orders than cholesky's.
TileShape factored_tile(const Runtime& runtime, index_t q) {
  if (runtime.gpus() == 0) return cholesky_tile(runtime, q);
  const index_t nb = q < 8192 ? std::clamp<index_t>(q / 12 / 32 * 32, 128, 256) : 512;
  return {nb, std::max(q, nb)};
}

/// Returns the tile shape of the products: taller than the factored tiles. A single GPU computes all products in one
/// tile, which R then reuses.
TileShape gram_tile(const Runtime& runtime, index_t q) {
  if (runtime.gpus() == 1) return {q, q};
  return {std::min(q, std::clamp<index_t>(q / 4 / 256 * 256, 512, gram_strip)), q};
}

/// Inserts B2 B2^H: its upper triangle, in tiles of the same height that are square or as wide as the matrix.
template <class T>
void insert_gram(Graph& g, const TileMatrix<T>& B, index_t first, const TileMatrix<T>& G) {
  std::vector<Tile<T>> row;
  for (index_t k = 0; k < B.nt(); ++k) row.push_back(B(0, k));
  const auto [mb, width] = G.tile_shape();
  for (index_t i = 0; i < G.mt(); ++i)
    for (index_t j = 0; j < G.nt(); ++j) {
      if (j * width + G(i, j).cols() <= i * mb) {
        g.insert<Laset<T>>({}, G(i, j));
        continue;
      }
      const index_t column = std::max<index_t>(i * mb - j * width, 0);
      g.insert<RowGram<T>>(on_column(G.nt() == 1 ? i : j), {first + i * mb, first + j * width + column, column},
                           G(i, j), row);
    }
}

template <class T>
HostMatrix<T> joined_columns(const HostMatrix<T>& left, const HostMatrix<T>& right) {
  HostMatrix<T> both(left.rows(), left.cols() + right.cols());
  for (index_t j = 0; j < both.cols(); ++j)
    std::copy_n(j < left.cols() ? &left(0, j) : &right(0, j - left.cols()), left.rows(), &both(0, j));
  return both;
}

template <class T>
HostMatrix<T> part(const HostMatrix<T>& X, index_t row, index_t column, index_t columns) {
  HostMatrix<T> result(X.rows() - row, columns);
  for (index_t j = 0; j < columns; ++j) std::copy_n(&X(row, column + j), result.rows(), &result(0, j));
  return result;
}

}  // namespace

template <class T>
SeminormalRows<T>::SeminormalRows(Graph& g, const TileMatrix<T>& B, index_t first)
    : b_(B), first_(first), q_(B.m() - first), factored_(g.runtime(), q_, q_, factored_tile(g.runtime(), q_), "G") {
  if (g.runtime().gpus() == 0) {
    insert_gram(g, B, first, factored_);
    factor_.emplace(cholesky(g, factored_));
    return;
  }
  factor_in_place(g, B, first);
}

template <class T>
void SeminormalRows<T>::factor_in_place(Graph& g, const TileMatrix<T>& B, index_t first) {
  const auto forget = [&](const Tile<T>& tile, index_t, index_t) { g.forget(tile); };
  gram_.emplace(g.runtime(), q_, q_, gram_tile(g.runtime(), q_), "G");
  insert_gram(g, B, first, *gram_);
  rearrange(g, *gram_, {}, factored_);
  gram_->for_each_tile(forget);
  factor_.emplace(cholesky(g, factored_));
  const TileMatrix<T> R = gram_->mt() == 1 ? *gram_ : TileMatrix<T>(g.runtime(), q_, q_, {q_, q_}, "R");
  triangle_.emplace(ResidentTriangle<T>::of_tiles(g, factored_, R));
  factored_.for_each_tile(forget);
}

template <class T>
void SeminormalRows<T>::solve_normal(Graph& g, HostMatrix<T>& X) const {
  if (triangle_) return triangle_->solve_normal(g, X);
  const TileMatrix<T> x(g.runtime(), X.rows(), X.cols(), {factored_.tile_shape().mb, X.cols()}, "X");
  x.copy_from(X.data(), X.ld());
  factor_->solve(g, x);
  x.copy_to(X.data(), X.ld());
}

template <class T>
std::vector<real_t<T>> SeminormalRows<T>::norms(Graph& g) const {
  if (triangle_) return triangle_->norms(g);
  return norms_of_columns(g, factored_);
}

template <class T>
HostMatrix<T> SeminormalRows<T>::transposed_product(Graph& g, const HostMatrix<T>& X) const {
  HostMatrix<T> rows = HostMatrix<T>::zeros(b_.m(), X.cols());
  for (index_t j = 0; j < X.cols(); ++j) std::copy_n(&X(0, j), q_, &rows(first_, j));
  const TileMatrix<T> x(g.runtime(), rows.rows(), X.cols(), {rows.rows(), X.cols()}, "X"),
      y(g.runtime(), b_.n(), X.cols(), {b_.tile_shape().nb, X.cols()}, "Y");
  x.copy_from(rows.data(), rows.ld());
  gemm(g, adjoint<T>, Op::none, T(1), b_, x, T(0), y, {.kernel = GemmKernel::cublas});
  return y.to_host();
}

template <class T>
HostMatrix<T> SeminormalRows<T>::product(Graph& g, const HostMatrix<T>& X) const {
  const TileMatrix<T> x(g.runtime(), X.rows(), X.cols(), {b_.tile_shape().nb, X.cols()}, "X"),
      y(g.runtime(), b_.m(), X.cols(), {b_.m(), X.cols()}, "Y");
  x.copy_from(X.data(), X.ld());
  gemm(g, Op::none, Op::none, T(1), b_, x, T(0), y, {.kernel = GemmKernel::cublas});
  return y.to_host();
}

template <class T>
std::optional<LeastNorm<T>> SeminormalRows<T>::solve(Graph& g, const HostMatrix<T>& C2, double rcond,
                                                     double norm_b) const {
  constexpr double eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  const double largest_condition = std::min(3e3, 0.25 / std::sqrt(eps));
  // Rounding errors of sums with p terms, well below the bound of judge().
  const double rounding = std::max(4.0, std::sqrt(static_cast<double>(b_.n())) / 4) * eps;
  const index_t r = C2.cols();
  if (factor_->minor() != 0) return std::nullopt;
  LeastNorm<T> s;
  for (const real_t<T> norm : norms(g)) s.norm = std::hypot(s.norm, static_cast<double>(norm));
  s.rank = q_;
  s.distances.assign(static_cast<std::size_t>(r), 0.0);
  s.L = HostMatrix<T>::zeros(q_, r);
  const std::vector<real_t<T>> of_c = column_norms(C2);
  HostMatrix<T> rest = C2.clone(), wide = probes<T>(q_, vectors), narrow = wide.clone();
  for (int step = 0; step < most_steps; ++step) {
    HostMatrix<T> solved = joined_columns(rest, narrow);
    solve_normal(g, solved);
    for (index_t k = 0; k < s.L.size(); ++k) s.L.data()[k] += solved.data()[k];
    const HostMatrix<T> u = transposed_product(g, joined_columns(s.L, wide)), bu = product(g, u);
    s.U = part(u, 0, 0, r);
    s.BU = part(bu, 0, 0, r);
    for (index_t j = 0; j < r; ++j)
      for (index_t i = 0; i < q_; ++i) rest(i, j) = C2(i, j) - bu(first_ + i, j);
    narrow = part(solved, 0, r, vectors);
    wide = part(bu, first_, r, vectors);
    s.condition = std::sqrt(normalize_columns(narrow)) * std::sqrt(normalize_columns(wide));
    if (!(s.condition <= largest_condition)) return std::nullopt;
    if (step + 1 < least_steps) continue;
    const std::vector<real_t<T>> left = column_norms(rest), of_u = column_norms(s.U);
    bool done = regular_by_spectrum(2 * s.condition, relative_rcond(s, rcond, norm_b));
    for (std::size_t j = 0; j < left.size(); ++j)
      done = done && static_cast<double>(left[j]) <=
                         rounding * (s.norm * static_cast<double>(of_u[j]) + static_cast<double>(of_c[j]));
    if (done) return s;
  }
  return std::nullopt;
}

template <class T>
auto SeminormalRows<T>::step(Graph& g, const HostMatrix<T>& C2) const -> Step {
  HostMatrix<T> l = C2.clone();
  solve_normal(g, l);
  HostMatrix<T> u = transposed_product(g, l);
  return {std::move(u), std::move(l)};
}

TESELA_CLASSES_FOR_NUMBERS(SeminormalRows)

}  // namespace tesela::detail
