#include <tesela/algorithms/dense/direct_solve.hpp>
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/range_scaling.hpp>
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
namespace {

constexpr index_t samples = 4;

/// Powers of two, one for each row or column.
using Exponents = std::vector<int>;

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// Largest |e| of a scaling by 2^e that leaves room for sums.
template <class T>
constexpr int most = std::numeric_limits<T>::max_exponent - 24;

/// Returns the exponent of `size`: 0 for zero, the largest for an infinite size.
template <class T>
int exponent_of(T size) {
  if (size == T(0)) return 0;
  return std::isfinite(size) ? std::clamp(std::ilogb(size), -most<T>, most<T>) : most<T>;
}

/// Returns n x samples independent numbers, uniform in [-1, 1).
template <class T>
HostMatrix<T> random_columns(index_t n, std::uint64_t seed) {
  const Generator<T> random{.pattern = Pattern::uniform, .seed = seed};
  HostMatrix<T> w(n, samples);
  for (index_t j = 0; j < samples; ++j)
    for (index_t i = 0; i < n; ++i) w(i, j) = random(i, j);
  return w;
}

/// Sets x(i) *= 2^(sign exponents(i) + shift).
template <class T>
void scale(T* x, const Exponents& exponents, int sign, int shift) {
  for (std::size_t i = 0; i < exponents.size(); ++i) x[i] = std::ldexp(x[i], sign * exponents[i] + shift);
}

/// Returns op(A) X. If A is one tile and there is no GPU, multiplies on the calling thread.
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
  gemm(g, op, Op::none, T(1), A, x, T(0), y, {.bring_home = true});
  g.wait();
  y.bring_home();
  return Y;
}

/// Returns the exponent of the largest element of each row.
template <class T>
Exponents sizes_of_rows(const HostMatrix<T>& a) {
  Exponents sizes;
  for (index_t i = 0; i < a.rows(); ++i) {
    T size = 0;
    for (index_t j = 0; j < a.cols(); ++j) size = std::abs(a(i, j)) <= size ? size : std::abs(a(i, j));
    sizes.push_back(exponent_of(size));
  }
  return sizes;
}

/// Returns an exponent that leaves room for D^-1 w, E w and A E w, and for solutions 1 / eps times as large.
template <class T>
int shift_for(const Exponents& rows, const Exponents& columns) {
  const auto largest = [](const Exponents& e, int sign) {
    int found = 0;
    for (const int x : e) found = std::max(found, sign * x);
    return found;
  };
  const int digits = std::numeric_limits<T>::digits;
  return -std::max({0, largest(rows, 1) + 8 - most<T>, largest(columns, -1) + digits - most<T>});
}

double length(const std::vector<double>& x) { return blas::nrm2<double>(static_cast<index_t>(x.size()), x.data()); }

/// Returns the largest ||E^-1 x 2^-shift - w|| / ||w|| of all columns, or without `subtract` ||E^-1 x 2^-shift|| /
/// ||w||.
template <class T>
double largest_ratio(const HostMatrix<T>& x, index_t first, const Exponents& columns, int shift, const HostMatrix<T>& w,
                     bool subtract) {
  double worst = 0;
  for (index_t k = 0; k < samples; ++k) {
    std::vector<double> difference, known;
    for (index_t i = 0; i < x.rows(); ++i) {
      known.push_back(static_cast<double>(w(i, k)));
      const double found = std::ldexp(static_cast<double>(x(i, first + k)), columns[at(i)] - shift);
      difference.push_back(found - (subtract ? known.back() : 0));
    }
    const double ratio = length(difference) / length(known);
    if (!(ratio <= worst)) worst = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
  }
  return worst;
}

/// Returns the status of a finite solution from its condition and error.
template <class T>
DirectStatus status_of(const DirectSolve& solve) {
  const double loss = solve.condition * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (!(loss <= 1)) return DirectStatus::singular;
  if (!(solve.error <= 0.1)) return DirectStatus::inaccurate;
  return loss <= 0.01 && solve.error <= 0.01 ? DirectStatus::ok : DirectStatus::doubtful;
}

/// Returns max |D' U E|, D' the scaling of the rows of P A. If elements grew in the elimination, the condition is
/// meaningless.
template <class T>
double growth(const TileMatrix<T>& factors, const std::vector<index_t>& order, const Exponents& rows,
              const Exponents& columns) {
  double most_yet = 0;
  factors.for_each_tile([&](const Tile<T>& tile, index_t, index_t first) {
    const auto u = tile.read();
    for (index_t j = 0; j < u.cols; ++j)
      for (index_t i = 0; i <= first + j; ++i) {
        const int exponent = rows[at(order[at(i)])] + columns[at(first + j)];
        const double size = std::abs(std::ldexp(static_cast<double>(u(i, j)), -exponent));
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
    for (index_t k = 0; k < across.cols(); ++k) zero = zero && across(j, k) == 0;
    range.vanished = range.vanished || zero;
  }
  B.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { range.add_right_hand_sides<T>(tile.read()); });
  return range.leaves<T>();
}

/// Runs lu_solve; `may_scale` allows it to scale the system first.
template <class T>
DirectSolve lu_solve(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, bool may_scale) {
  const index_t n = A.n();
  DirectSolve result;
  const bool square = n > 0 && A.m() == n && A.mt() == 1;  // lu() throws for other shapes
  Exponents rows, columns;
  HostMatrix<T> probes(n, 2 * samples), w = random_columns<T>(n, 1);
  double size = 0;
  int shift = 0;
  if (square) {
    rows = sizes_of_rows(product(g, Op::none, A, w));
    HostMatrix<T> scaled = random_columns<T>(n, 2);
    for (index_t k = 0; k < samples; ++k) scale(&scaled(0, k), rows, -1, 0);
    const HostMatrix<T> across = product(g, Op::transpose, A, scaled);
    columns = sizes_of_rows(across);
    if (may_scale && B.m() == n && B.mt() <= 1 && exceeds_range(B, rows, columns, across)) return solve_scaled(g, A, B);
    for (index_t k = 0; k < samples; ++k)
      for (index_t j = 0; j < n; ++j)
        size = std::hypot(size, std::ldexp(static_cast<double>(across(j, k)), -columns[at(j)]));
    size *= std::sqrt(3.0 / samples);  // uniform numbers have the variance 1/3
    shift = shift_for<T>(rows, columns);
    HostMatrix<T> known = w.clone();
    for (index_t k = 0; k < samples; ++k) {
      scale(&known(0, k), columns, -1, shift);
      std::copy_n(&w(0, k), n, &probes(0, samples + k));
      scale(&probes(0, samples + k), rows, 1, shift);
    }
    const HostMatrix<T> right = product(g, Op::none, A, known);
    std::copy_n(right.data(), right.size(), probes.data());
  }
  const LuFactorization<T> factors = lu(g, A);
  if (const index_t zero = factors.zero_pivot(); zero > 0) {
    g.wait();
    result.status = DirectStatus::zero_pivot;
    result.place = zero;
  } else {
    solve(g, factors, B, probes, std::max<index_t>(n, 1), result);
  }
  result.rows = factors.rows();
  if (!square || result.place > 0) return result;
  result.error = std::sqrt(static_cast<double>(n)) * largest_ratio(probes, 0, columns, shift, w, true);
  result.condition =
      size * std::sqrt(static_cast<double>(n)) * largest_ratio(probes, samples, columns, shift, w, false);
  result.status = status_of<T>(result);
  if (result.status == DirectStatus::singular &&
      !(growth(A, result.rows, rows, columns) * static_cast<double>(std::numeric_limits<T>::epsilon()) <= 0.01))
    result.status = DirectStatus::inaccurate;
  return result;
}

template <class T>
DirectSolve solve_scaled(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B) {
  const index_t n = A.n();
  HostMatrix<T> a(n, n), b(n, B.n());
  A.copy_to(a.data(), a.ld());
  B.copy_to(b.data(), b.ld());
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
    if (!std::all_of(&b(0, j), &b(0, j) + n, [](T x) { return std::isfinite(x); })) {
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
  if (solve.status == DirectStatus::doubtful)
    text << "ill-conditioned: the reciprocal condition number is about " << reciprocal
         << ", and errors of the elimination may be " << solve.error << " of x";
  return text.str();
}

template <class T>
DirectSolve cholesky_solve(Graph& g, const TileMatrix<T>& A, std::span<const T> diagonal, const TileMatrix<T>& B) {
  const index_t n = A.n();
  require(static_cast<index_t>(diagonal.size()) == n, "cholesky_solve", "diagonal", diagonal.size(), " numbers, not ",
          n);
  DirectSolve result;
  Exponents units;
  for (const T a : diagonal) units.push_back(exponent_of(a) / 2);
  const int shift = shift_for<T>(units, units);
  const HostMatrix<T> w = random_columns<T>(n, 1);
  HostMatrix<T> probes = w.clone();
  for (index_t k = 0; n > 0 && k < samples; ++k) scale(&probes(0, k), units, 1, shift);
  const CholeskyFactorization<T> factor = cholesky(g, A);
  if (const index_t minor = factor.minor(); minor > 0) {
    g.wait();
    result.status = DirectStatus::not_positive;
    result.place = minor;
    return result;
  }
  solve(g, factor, B, probes, A.tile_shape().mb, result);
  if (n == 0 || result.place > 0) return result;
  // ||C||_F is at least sqrt(n), and ||C^-1||_F about sqrt(n) ||C^-1 w|| / ||w||.
  result.condition = static_cast<double>(n) * largest_ratio(probes, 0, units, shift, w, false);
  result.status = status_of<T>(result);
  return result;
}

namespace {

constexpr index_t columns_of_b = 128;  // in a tile

/// Copies the diagonal to the host.
template <class T>
std::vector<T> diagonal_of(const MatrixView<T>& a) {
  std::vector<T> diagonal(at(a.rows));
  if (a.device >= 0 && a.rows > 0)
    copy_columns(a.device, {diagonal.data(), 1}, {a.data, a.ld + 1}, {1, a.rows}, sizeof(T));
  for (index_t i = 0; a.device < 0 && i < a.rows; ++i) diagonal[at(i)] = a.data[i + i * a.ld];
  return diagonal;
}

}  // namespace

template <class T>
DirectSolve lu_solve(Runtime& runtime, MatrixView<T> a, std::type_identity_t<MatrixView<T>> b) {
  const TileShape tile = lu_tile(runtime, a.cols);
  const auto A = a.in_tiles(runtime, tile, "A"), B = b.in_tiles(runtime, {tile.mb, columns_of_b}, "B");
  Graph g(runtime);
  DirectSolve solved = lu_solve(g, A, B);
  A.bring_home();
  B.bring_home();
  return solved;
}

template <class T>
DirectSolve cholesky_solve(Runtime& runtime, MatrixView<T> a, std::type_identity_t<MatrixView<T>> b) {
  const std::vector<T> diagonal = diagonal_of(a);
  const TileShape tile = cholesky_tile(runtime, a.cols);
  const auto A = a.in_tiles(runtime, tile, "A"), B = b.in_tiles(runtime, {tile.mb, columns_of_b}, "B");
  Graph g(runtime);
  DirectSolve solved = cholesky_solve<T>(g, A, diagonal, B);
  A.bring_home();
  B.bring_home();
  return solved;
}

template <class T>
DirectSolve cholesky(Runtime& runtime, MatrixView<T> a, TileShape tile) {
  const auto A = a.in_tiles(runtime, tile.mb > 0 ? tile : cholesky_tile(runtime, a.cols), "A");
  Graph g(runtime);
  DirectSolve factored;
  factored.place = cholesky(g, A).minor();
  if (factored.place > 0) factored.status = DirectStatus::not_positive;
  g.wait();
  A.bring_home();
  return factored;
}

#define TESELA_INSTANTIATE(T)                                                                                  \
  template DirectSolve lu_solve(Graph&, const TileMatrix<T>&, const TileMatrix<T>&);                           \
  template DirectSolve lu_solve(Runtime&, MatrixView<T>, MatrixView<T>);                                       \
  template DirectSolve cholesky_solve(Graph&, const TileMatrix<T>&, std::span<const T>, const TileMatrix<T>&); \
  template DirectSolve cholesky_solve(Runtime&, MatrixView<T>, MatrixView<T>);                                 \
  template DirectSolve cholesky(Runtime&, MatrixView<T>, TileShape);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela
