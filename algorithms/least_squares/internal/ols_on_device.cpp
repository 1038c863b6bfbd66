#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/support/internal/column_blocks.hpp>
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/least_squares/r_factor.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::detail {

using namespace kernels;
namespace {

/// Largest order of R that is processed in its tile: the condition estimate there needs an inverse.
constexpr index_t largest_kept_r = 4096;

/// Returns the largest ||C - R X|| / (||R||_F ||X|| + ||C||) of all columns, from the norms of the columns of R, X, C
/// and C - R X.
template <class T>
Measured triangle_error(Shape a, const TileMatrix<real_t<T>>& r_norms, const TileMatrix<real_t<T>>& norms) {
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

}  // namespace

template <class T>
std::optional<LeastSquares<T>> ols_on_device(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, double rcond) {
  using Real = real_t<T>;
  const index_t n = A.n(), r = B.n();
  // R is gathered from whole columns of tiles, and inverted for its condition.
  const GpuRoom room(g.runtime());
  if (!room.holds<T>({std::min(A.m(), A.tile_shape().mb) + n, n}) || !room.holds<T>({3 * n, n})) return std::nullopt;
  if (g.runtime().gpus() == 0 || n > largest_kept_r || std::min(A.m(), A.tile_shape().mb) < n || B.nt() != 1)
    return std::nullopt;
  const TileMatrix<T> R(g.runtime(), n, n, {n, n}, "R"), C(g.runtime(), n, r, {n, r}, "C"),
      X(g.runtime(), n, r, {n, r}, "X");
  const TileMatrix<Real> norms(g.runtime(), r * B.mt(), 1, {r, 1}, "norms"),
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
  result.X = X.to_host();
  result.residual_norms.assign(static_cast<std::size_t>(r), Real(0));
  norms.read_each_tile([&](const auto& part, index_t, index_t) {
    for (index_t j = 0; j < r; ++j) {
      Real& norm = result.residual_norms[static_cast<std::size_t>(j)];
      norm = std::hypot(norm, part(j, 0));
    }
  });
  result.backward_error = triangle_error<T>({A.m(), n}, r_norms, measured);
  // In host memory R is scaled first; a problem that fails here is judged there.
  if (!result.backward_error.good() || !all_finite(result.X)) return std::nullopt;
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(ols_on_device)

}  // namespace tesela::detail
