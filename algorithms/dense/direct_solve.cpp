#include <tesela/algorithms/dense/direct_solve.hpp>
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/internal/direct_estimates.hpp>
#include <tesela/algorithms/dense/internal/small_solve.hpp>
#include <tesela/algorithms/dense/range_scaling.hpp>
#include <tesela/algorithms/support/internal/real_diagonal.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace tesela {

using namespace detail;
namespace {

/// Returns op(A) X. If A is one tile and there is no GPU, multiplies on the calling thread. Products by residues are
/// exact relative to norms of rows and columns only, which residuals of badly scaled systems do not allow.
template <class T>
HostMatrix<T> product(Graph& g, Op op, const TileMatrix<T>& A, const HostMatrix<T>& X) {
  const index_t n = A.n(), k = X.cols(), nb = A.tile_shape().nb;
  HostMatrix<T> Y(n, k);
  if (A.nt() == 1 && g.runtime().gpus() == 0) {
    const auto a = A(0, 0).read();
    blas::gemm(op, Op::none, n, k, n, T(1), a.data, a.ld, X.data(), X.ld(), T(0), Y.data(), Y.ld());
    return Y;
  }
  const TileShape whole{std::max<index_t>(n, 1), k}, cut{nb, k};
  const auto x = TileMatrix<T>::map(g.runtime(), X.data(), n, k, X.ld(), op == Op::none ? cut : whole, "W");
  const auto y = TileMatrix<T>::map(g.runtime(), Y.data(), n, k, Y.ld(), op == Op::none ? whole : cut, "A W");
  gemm(g, op, Op::none, T(1), A, x, T(0), y, {.kernel = GemmKernel::cublas, .bring_home = true});
  g.wait();
  y.bring_home();
  return Y;
}

/// Returns max |D' U E|, D' the scaling of the rows of P A. If elements grew in the elimination, the condition is
/// meaningless.
template <class T>
double growth(const TileMatrix<T>& factors, const std::vector<index_t>& order, const Exponents& rows,
              const Exponents& columns) {
  double most_yet = 0;
  factors.read_each_tile([&](const auto& u, index_t, index_t first) {
    for (index_t j = 0; j < u.cols; ++j)
      for (index_t i = 0; i <= first + j; ++i) {
        const int exponent = rows[at(order[at(i)])] + columns[at(first + j)];
        const double size = std::abs(times_power_of_two(with_parts<T, double>(u(i, j)), -exponent));
        if (!(size <= most_yet)) most_yet = size;
      }
  });
  return most_yet;
}

/// Solves for B and for the columns of `probes`, in place.
template <class T, class Factors>
void solve(Graph& g, const Factors& factors, const TileMatrix<T>& B, HostMatrix<T>& probes, index_t rows_of_tile,
           DirectSolve& result) {
  const auto P = TileMatrix<T>::map(g.runtime(), probes.data(), probes.rows(), probes.cols(), probes.ld(),
                                    {rows_of_tile, probes.cols()}, "probes");
  factors.solve(g, B);
  const Status status = g.wait();
  if (!status.ok()) {
    result.status = DirectStatus::not_finite;
    result.place = status.info;
  }
  factors.solve(g, P);
  g.wait();  // NaN counts as infinite
  P.bring_home();
}

/// Solves the system scaled by RangeScaling. A nevertheless receives the unscaled L and U.
template <class T>
DirectSolve solve_scaled(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B);

/// Returns whether the elimination of A or a substitution for B may leave the range. `rows` and `columns` are the
/// exponents of A; `across` has zero rows for zero columns of A.
template <class T>
bool exceeds_range(const TileMatrix<T>& B, const Exponents& rows, const Exponents& columns,
                   const HostMatrix<T>& across) {
  SystemRange range{.rows = rows, .columns = columns};
  for (index_t j = 0; j < across.rows(); ++j) {
    bool zero = true;
    for (index_t k = 0; k < across.cols(); ++k) zero = zero && across(j, k) == T(0);
    range.vanished = range.vanished || zero;
  }
  B.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { range.add_right_hand_sides<T>(tile.read()); });
  return range.leaves<T>();
}

/// The system in tiles.
template <class T>
struct TileSystem {
  Graph& g;
  const TileMatrix<T>&A, &B;
  std::optional<LuFactorization<T>> factors = {};

  index_t n() const { return A.n(); }
  HostMatrix<T> product(Op op, const HostMatrix<T>& X) { return tesela::product(g, op, A, X); }
  template <class F>
  void visit(const F& f) const {
    A.read_each_tile([&](const auto& a, index_t row, index_t column) {
      for (index_t j = 0; j < a.cols; ++j)
        for (index_t i = 0; i < a.rows; ++i) f(row + i, column + j, largest_part(a(i, j)));
    });
  }
  bool leaves_range(const Exponents& rows, const Exponents& columns, const HostMatrix<T>& across) const {
    return B.m() == n() && B.mt() <= 1 && exceeds_range(B, rows, columns, across);
  }
  /// Returns whether the rows' sizes differ enough for scaling on the host, which reads A several times.
  bool may_scale_rows(const Exponents& sizes_of_rows) const {
    return g.runtime().gpus() == 0 && g.runtime().ranks() == 1 && B.mt() <= 1 &&
           spread(sizes_of_rows) > std::numeric_limits<real_t<T>>::digits / 2;
  }
  template <class F>
  void scale_matrix(const F& exponent) const {
    A.for_each_tile([&](const Tile<T>& tile, index_t row, index_t column) {
      const auto a = tile.update();
      for (index_t j = 0; j < a.cols; ++j)
        for (index_t i = 0; i < a.rows; ++i) a(i, j) = times_power_of_two(a(i, j), exponent(row + i, column + j));
    });
  }
  void scale_right_hand_sides(const Exponents& exponents) const {
    B.for_each_tile([&](const Tile<T>& tile, index_t row, index_t) {
      const auto b = tile.update();
      for (index_t j = 0; j < b.cols; ++j)
        for (index_t i = 0; i < b.rows; ++i) b(i, j) = times_power_of_two(b(i, j), -exponents[at(row + i)]);
    });
  }
  void check_solution(DirectSolve& result) const {
    B.read_each_tile([&](const auto& x, index_t, index_t first) {
      for (index_t j = 0; j < x.cols && result.has_solution(); ++j)
        if (!std::all_of(&x(0, j), &x(0, j) + x.rows, [](T e) { return is_finite(e); })) {
          result.status = DirectStatus::not_finite;
          result.place = 1 + first + j;
        }
    });
  }
  index_t factor() {
    factors.emplace(lu(g, A));
    const index_t zero = factors->zero_pivot();
    if (zero > 0) g.wait();
    return zero;
  }
  void solve(HostMatrix<T>& probes, DirectSolve& result) {
    tesela::solve(g, *factors, B, probes, std::max<index_t>(n(), 1), result);
  }
  std::vector<index_t> rows() const { return factors->rows(); }
  double growth(const Exponents& rows, const Exponents& columns) const {
    return tesela::growth(A, factors->rows(), rows, columns);
  }
};

/// The same for Cholesky.
template <class T>
struct PositiveTileSystem {
  Graph& g;
  const TileMatrix<T>&A, &B;
  std::optional<CholeskyFactorization<T>> factors = {};

  index_t factor() {
    factors.emplace(cholesky(g, A));
    const index_t minor = factors->minor();
    if (minor > 0) g.wait();
    return minor;
  }
  void solve(HostMatrix<T>& probes, DirectSolve& result) {
    tesela::solve(g, *factors, B, probes, A.tile_shape().mb, result);
  }
};

/// Runs lu_solve; `may_scale` allows it to scale the system first.
template <class T>
DirectSolve lu_solve(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, bool may_scale) {
  if (A.n() == 0 || A.m() != A.n() || A.mt() != 1) {  // lu() throws for other shapes than 0 x 0
    lu(g, A).solve(g, B);
    g.wait();
    return {};
  }
  TileSystem<T> system{g, A, B};
  std::optional<DirectSolve> solved = solve_with_estimates<T>(system, may_scale);
  return solved ? std::move(*solved) : solve_scaled(g, A, B);
}

template <class T>
DirectSolve solve_scaled(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B) {
  const index_t n = A.n();
  HostMatrix<T> a = A.to_host(), b = B.to_host();
  RangeScaling<T> scaling(a);
  a = scaling.matrix(std::move(a));
  b = scaling.right_hand_sides(std::move(b));
  const TileMatrix<T> scaled(g.runtime(), n, n, A.tile_shape(), "D A E");
  scaled.copy_from(a.data(), a.ld());
  B.copy_from(b.data(), b.ld());
  DirectSolve result = lu_solve(g, scaled, B, false);
  B.copy_to(b.data(), b.ld());
  b = scaling.solution(std::move(b));
  B.copy_from(b.data(), b.ld());
  for (index_t j = 0; j < b.cols() && result.has_solution(); ++j)
    if (!std::all_of(&b(0, j), &b(0, j) + n, [](T x) { return is_finite(x); })) {
      result.status = DirectStatus::not_finite;
      result.place = 1 + j;
    }
  result.rows = lu(g, A).rows();
  g.wait();
  return result;
}

}  // namespace

template <class T>
DirectSolve lu_solve(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B) {
  return lu_solve(g, A, B, true);
}

std::string description(const DirectSolve& solve) {
  std::ostringstream text;
  text.precision(2);
  const double reciprocal = 1 / solve.condition;
  if (solve.status == DirectStatus::singular)
    text << "singular to working precision: the reciprocal condition number is about " << reciprocal;
  if (solve.status == DirectStatus::inaccurate)
    text << "inaccurate: elements grew in the elimination, and its errors may be " << solve.error << " of x";
  if (solve.status == DirectStatus::doubtful) {
    text << "ill-conditioned: the reciprocal condition number is about " << reciprocal;
    if (solve.error > 0) text << ", and errors of the elimination may be " << solve.error << " of x";
  }
  return text.str();
}

template <class T>
DirectSolve cholesky_solve(Graph& g, const TileMatrix<T>& A, std::span<const T> diagonal, const TileMatrix<T>& B) {
  require(static_cast<index_t>(diagonal.size()) == A.n(), "cholesky_solve", "diagonal", diagonal.size(),
          " numbers, not ", A.n());
  PositiveTileSystem<T> system{g, A, B};
  return solve_positive_with_estimates<T>(system, diagonal);
}

namespace {

constexpr index_t columns_of_b = 128;  // in a tile

DirectSolve not_positive_at(index_t minor) {
  DirectSolve result;
  result.status = DirectStatus::not_positive;
  result.place = minor;
  return result;
}

}  // namespace

template <class T>
DirectSolve lu_solve(Runtime& runtime, MatrixView<T> a, std::type_identity_t<MatrixView<T>> b) {
  if (on_calling_thread(runtime, a, b))
    if (std::optional<DirectSolve> solved = lu_solve_here<T>(a, b)) return std::move(*solved);
  const TileShape tile = lu_tile(runtime, a.cols, is_complex<T>);
  const auto A = a.in_tiles(runtime, tile, "A"), B = b.in_tiles(runtime, {tile.mb, columns_of_b}, "B");
  Graph g(runtime);
  DirectSolve solved = lu_solve(g, A, B);
  A.bring_home();
  B.bring_home();
  return solved;
}

template <class T>
DirectSolve cholesky_solve(Runtime& runtime, MatrixView<T> a, std::type_identity_t<MatrixView<T>> b) {
  const std::vector<T> diagonal = detail::diagonal_of(a);
  detail::require_real("cholesky_solve", diagonal);
  if (const index_t place = detail::nan_imaginary_part(diagonal); place > 0) return not_positive_at(place);
  if (on_calling_thread(runtime, a, b)) return cholesky_solve_here<T>(a, diagonal, b);
  const TileShape tile = cholesky_tile(runtime, a.cols, a.device < 0, is_complex<T>);
  const auto A = a.in_tiles(runtime, tile, "A"), B = b.in_tiles(runtime, {tile.mb, columns_of_b}, "B");
  Graph g(runtime);
  DirectSolve solved = cholesky_solve<T>(g, A, diagonal, B);
  A.bring_home();
  B.bring_home();
  return solved;
}

template <class T>
DirectSolve cholesky(Runtime& runtime, MatrixView<T> a, TileShape tile) {
  if constexpr (is_complex<T>) {
    const std::vector<T> diagonal = detail::diagonal_of(a);
    detail::require_real("cholesky", diagonal);
    if (const index_t place = detail::nan_imaginary_part(diagonal); place > 0) return not_positive_at(place);
  }
  if (on_calling_thread(runtime, a, a)) return cholesky_here<T>(a);
  const auto A =
      a.in_tiles(runtime, tile.mb > 0 ? tile : cholesky_tile(runtime, a.cols, a.device < 0, is_complex<T>), "A");
  Graph g(runtime);
  const index_t minor = cholesky(g, A).minor();
  g.wait();
  A.bring_home();
  return minor > 0 ? not_positive_at(minor) : DirectSolve();
}

#define TESELA_INSTANTIATE(T)                                                                                  \
  template DirectSolve lu_solve(Graph&, const TileMatrix<T>&, const TileMatrix<T>&);                           \
  template DirectSolve lu_solve(Runtime&, MatrixView<T>, MatrixView<T>);                                       \
  template DirectSolve cholesky_solve(Graph&, const TileMatrix<T>&, std::span<const T>, const TileMatrix<T>&); \
  template DirectSolve cholesky_solve(Runtime&, MatrixView<T>, MatrixView<T>);                                 \
  template DirectSolve cholesky(Runtime&, MatrixView<T>, TileShape);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
