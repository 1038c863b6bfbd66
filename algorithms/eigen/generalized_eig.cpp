#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/algorithms/eigen/internal/scan.hpp>
#include <tesela/algorithms/eigen/internal/selection.hpp>
#include <tesela/algorithms/eigen/internal/square_pair.hpp>
#include <tesela/algorithms/support/internal/real_diagonal.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/eigen/symmetric_scan.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tesela {

using namespace kernels;
namespace {

using Verdict = SymmetricEigStatus::Verdict;

constexpr std::array kinds{
    Named<GeneralizedKind>{GeneralizedKind::ax_lambda_bx, "1", "A x = lambda B x"},
    Named<GeneralizedKind>{GeneralizedKind::abx_lambda_x, "2", "A B x = lambda x"},
    Named<GeneralizedKind>{GeneralizedKind::bax_lambda_x, "3", "B A x = lambda x"},
};

/// Inserts B = A^H for two tiles.
template <class T>
void insert_adjoint(Graph& g, const Priority& where, const Tile<T>& a, const Tile<T>& b) {
  if constexpr (is_complex<T>)
    g.insert<CopyBlock<T, Out>>(where, {.rows = b.rows(), .columns = b.cols(), .op = Op::conjugate}, a, b);
  else
    g.insert<Transpose<T>>(where, {}, a, b);
}

/// Inserts the full matrix 2^exponent A from its lower triangle.
template <class T>
void complete(Graph& g, int exponent, const TileMatrix<T>& A) {
  for (index_t j = 0; j < A.nt(); ++j)
    for (index_t i = j; i < A.nt(); ++i) {
      if (exponent != 0) g.insert<ScalePowerOfTwo<T>>(on_column(j), {exponent}, A(i, j));
      if (i == j)
        g.insert<MirrorTile<T>>(on_column(i), {}, A(i, i));
      else
        insert_adjoint(g, on_column(i), A(i, j), A(j, i));
    }
}

/// Inserts X = R^-H X; `upper`: only the tiles of X on and above the diagonal.
template <class T>
void solve_adjoint(Graph& g, const CholeskyFactorization<T>& factor, const TileMatrix<T>& X, bool upper) {
  const TileMatrix<T>& R = factor.r();
  for (index_t k = 0; k < R.nt(); ++k)
    for (index_t j = upper ? k : 0; j < X.nt(); ++j) {
      factor.solve_diagonal(g, on_column(j), adjoint<T>, k, X(k, j));
      for (index_t i = k + 1; i < (upper ? j + 1 : R.nt()); ++i)
        g.insert<Gemm<T>>(on_column(j), {adjoint<T>, Op::none, T(-1), T(1)}, R(k, i), X(k, j), X(i, j));
    }
}

/// Inserts one term of a product for a tile of column j; the first term overwrites the tile.
template <class T>
void add_product(Graph& g, index_t j, bool first, Op op_a, Op op_b, const Tile<T>& a, const Tile<T>& b,
                 const Tile<T>& c) {
  if (first)
    g.insert<Gemm<T, Out>>(on_column(j), {op_a, op_b, T(1), T(0)}, a, b, c);
  else
    g.insert<Gemm<T>>(on_column(j), {op_a, op_b, T(1), T(1)}, a, b, c);
}

template <class T>
void forget(Graph& g, const TileMatrix<T>& A) {
  A.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.forget(tile); });
}

/// Inserts C = R^-H A R^-1 or R A R^H, only the tiles on and above the diagonal, in A or W; returns the matrix that
/// holds C. 4/3 n^3 flops.
template <class T>
const TileMatrix<T>& congruent(Graph& g, GeneralizedKind kind, const TileMatrix<T>& A,
                               const CholeskyFactorization<T>& factor, const TileMatrix<T>& W) {
  const index_t nt = A.nt();
  const TileMatrix<T>& R = factor.r();
  if (kind == GeneralizedKind::ax_lambda_bx) {
    solve_adjoint(g, factor, A, false);
    for (index_t j = 0; j < nt; ++j)
      for (index_t i = 0; i <= j; ++i) insert_adjoint(g, on_column(j), A(j, i), W(i, j));
    forget(g, A);
    solve_adjoint(g, factor, W, true);
    return W;
  }
  for (index_t j = 0; j < nt; ++j)
    for (index_t i = 0; i < nt; ++i)
      for (index_t k = j; k < nt; ++k) add_product(g, j, k == j, Op::none, adjoint<T>, A(i, k), R(j, k), W(i, j));
  for (index_t j = 0; j < nt; ++j)
    for (index_t i = 0; i <= j; ++i)
      for (index_t k = i; k < nt; ++k) add_product(g, j, k == i, Op::none, Op::none, R(i, k), W(k, j), A(i, j));
  forget(g, W);
  return A;
}

/// Returns the lower triangle of C in tiles of whole columns, as symmetric_eig requires.
template <class T>
TileMatrix<T> reduced(Graph& g, GeneralizedKind kind, const TileMatrix<T>& A, const CholeskyFactorization<T>& factor,
                      index_t width) {
  const index_t n = A.n(), nb = A.tile_shape().nb;
  const TileMatrix<T> W(g.runtime(), n, n, A.tile_shape(), "W");
  TileMatrix<T> C(g.runtime(), n, n, {std::max<index_t>(n, 1), width}, "C");
  const TileMatrix<T>& upper = congruent(g, kind, A, factor, W);
  for (index_t J = 0; J < C.nt(); ++J) {
    g.insert<Laset<T>>(on_gpu, {T(0)}, C(0, J));
    const index_t begin = J * width, end = std::min(n, begin + width);
    for (index_t j = begin / nb; j * nb < end; ++j) {
      const index_t from = std::max(begin, j * nb), to = std::min(end, (j + 1) * nb);
      for (index_t i = j; i < A.nt(); ++i)
        g.insert<CopyBlock<T>>(on_gpu,
                               {.a_column = from - j * nb,
                                .b_row = i * nb,
                                .b_column = from - begin,
                                .rows = std::min(nb, n - i * nb),
                                .columns = to - from,
                                .op = adjoint<T>},
                               upper(j, i), C(0, J));
    }
  }
  forget(g, upper);
  g.wait();
  return C;
}

/// Inserts X = R^-1 X or R^H X for X in tiles of whole columns.
template <class T>
void back_substitute(Graph& g, GeneralizedKind kind, const CholeskyFactorization<T>& factor, const TileMatrix<T>& X) {
  const TileMatrix<T>& R = factor.r();
  const index_t n = R.n(), nb = R.tile_shape().nb, nt = R.nt();
  const TileMatrix<T> Y(g.runtime(), n, X.n(), {nb, X.tile_shape().nb}, "Y"),
      Z(g.runtime(), n, X.n(), {nb, X.tile_shape().nb}, "Z");
  const bool solve = kind != GeneralizedKind::bax_lambda_x;
  for (index_t J = 0; n > 0 && J < X.nt(); ++J) {
    const auto part = [&](index_t k) {
      return Shape{std::min(nb, n - k * nb), std::min(X.tile_shape().nb, X.n() - J * X.tile_shape().nb)};
    };
    const Priority here = on_column(J);
    for (index_t k = 0; k < nt; ++k)
      g.insert<CopyBlock<T, Out>>(here, {.a_row = k * nb, .rows = part(k).rows, .columns = part(k).cols}, X(0, J),
                                  Y(k, J));
    for (index_t k = nt - 1; k >= 0; --k)
      if (solve) {
        factor.solve_diagonal(g, here, Op::none, k, Y(k, J));
        for (index_t i = 0; i < k; ++i)
          g.insert<Gemm<T>>(here, {Op::none, Op::none, T(-1), T(1)}, R(i, k), Y(k, J), Y(i, J));
      } else {
        for (index_t i = 0; i <= k; ++i) add_product(g, J, i == 0, adjoint<T>, Op::none, R(i, k), Y(i, J), Z(k, J));
      }
    for (index_t k = 0; k < nt; ++k)
      g.insert<CopyBlock<T>>(here, {.b_row = k * nb, .rows = part(k).rows, .columns = part(k).cols},
                             solve ? Y(k, J) : Z(k, J), X(0, J));
  }
  forget(g, R);
  g.wait();
}

template <class T>
SymmetricEig<T> failed(Verdict verdict, index_t row, index_t column) {
  SymmetricEig<T> result;
  result.status = {verdict, row, column};
  return result;
}

}  // namespace

std::span<const Named<GeneralizedKind>> generalized_kinds() { return kinds; }

TileShape generalized_eig_tile(const WorkerCounts& workers, index_t n) {
  const index_t edge = workers.gpus > 0 ? 2048 : std::clamp<index_t>(n / 8, 32, 192);
  return {edge, edge};
}

template <class T>
SymmetricEig<T> generalized_eig(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                const GeneralizedEigOptions& options) {
  detail::require_square_pair("generalized_eig", A, B);
  require(!A.shares_tiles(B), "generalized_eig", "B", "shares tiles with A");
  const detail::Scan of_a = detail::scan(g, A), of_b = detail::scan(g, B);
  if (of_a.row >= 0) return failed<T>(Verdict::not_finite, of_a.row, of_a.column);
  if (of_b.row >= 0) return failed<T>(Verdict::b_not_finite, of_b.row, of_b.column);
  // X absorbs half of B's exponent.
  const int a_exponent = of_a.exponent(), b_exponent = of_b.exponent() - (of_b.exponent() & 1);
  complete(g, -a_exponent, A);
  complete(g, -b_exponent, B);
  const CholeskyFactorization<T> factor = cholesky(g, B);
  if (const index_t minor = factor.minor(); minor > 0) {
    g.wait();
    return failed<T>(Verdict::b_not_positive_definite, minor, minor);
  }

  const bool quotient = options.kind == GeneralizedKind::ax_lambda_bx;
  const int exponent = quotient ? a_exponent - b_exponent : a_exponent + b_exponent;
  SymmetricEigOptions rest = options.eig;
  rest.low = std::ldexp(rest.low, -exponent);
  rest.high = std::ldexp(rest.high, -exponent);
  SymmetricEig<T> result;
  {
    const TileMatrix<T> C = reduced(g, options.kind, A, factor,
                                    eig_tile(workers_for<T>(g.runtime()), A.n(), {.band = options.eig.band}).nb);
    result = symmetric_eig(g, C, rest);
  }
  if (result.status.verdict == Verdict::not_finite) result.status.verdict = Verdict::reduced_overflow;
  if (!result.status.ok() && result.status.verdict != Verdict::overflow) return result;
  for (auto* const numbers : {&result.values, &result.spectrum})
    for (double& value : *numbers) value = std::ldexp(value, exponent);
  result.norm = std::ldexp(result.norm, exponent);
  detail::judge_size(result);
  if (!result.vectors) return result;
  back_substitute(g, options.kind, factor, *result.vectors);
  const int half = (options.kind == GeneralizedKind::bax_lambda_x ? b_exponent : -b_exponent) / 2;
  result.vectors->for_each_tile([&](const Tile<T>& tile, index_t, index_t) {
    if (half != 0) g.insert<ScalePowerOfTwo<T>>(on_gpu, {half}, tile);
    g.insert<TurnColumns<T>>(on_gpu, {}, tile);
  });
  return result;
}

template <class T>
SymmetricEig<T> generalized_eig(Runtime& runtime, MatrixView<T> a, MatrixView<T> b,
                                const GeneralizedEigOptions& options) {
  if constexpr (is_complex<T>)
    for (const auto& [matrix, name] : {std::pair{a, "A"}, std::pair{b, "B"}})
      detail::require_real("generalized_eig", detail::diagonal_of(matrix), name);
  const TileShape tile = generalized_eig_tile(workers_for<T>(runtime), a.cols);
  const auto A = a.in_tiles(runtime, tile, "A"), B = b.in_tiles(runtime, tile, "B");
  Graph g(runtime);
  SymmetricEig<T> result = generalized_eig(g, A, B, options);
  g.wait();
  return result;
}

#define TESELA_INSTANTIATE(T)                                                                                     \
  template SymmetricEig<T> generalized_eig(Runtime&, MatrixView<T>, MatrixView<T>, const GeneralizedEigOptions&); \
  template SymmetricEig<T> generalized_eig(Graph&, const TileMatrix<T>&, const TileMatrix<T>&,                    \
                                           const GeneralizedEigOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
