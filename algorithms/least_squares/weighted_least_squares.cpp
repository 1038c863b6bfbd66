#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/least_squares/internal/scaled_rows.hpp>
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <utility>

namespace tesela {
namespace {

template <class T>
void require_weights(const std::vector<T>& weights, index_t m) {
  require(static_cast<index_t>(weights.size()) == m, "wls", "weights", weights.size(), "; A has ", m, " rows");
}

}  // namespace

template <class T>
LeastSquares<T> wls(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<real_t<T>>& weights,
                    const OlsOptions& options) {
  detail::require_conforming("wls", A, B);
  require(weights.n() == 1 && weights.m() == A.m() &&
              (std::max(A.mt(), weights.mt()) <= 1 || weights.tile_shape().mb == A.tile_shape().mb),
          "wls", "weights", weights, " in tiles of ", weights.tile_shape().mb, " rows; A has ", A.m(), " in tiles of ",
          A.tile_shape().mb);
  OlsOptions settled = options;
  settled.rcond = detail::default_rcond<T>("wls", options, A.m(), A.n());
  if (auto answer = detail::solve_one_weight_class(g, A, B, weights, settled)) return std::move(*answer);
  std::vector<real_t<T>> at_home(static_cast<std::size_t>(A.m()));
  weights.copy_to(at_home.data(), std::max<index_t>(A.m(), 1));
  return detail::solve_scaled_rows(g, A, B, detail::weight_classes("wls", at_home), settled);
}

template <class T>
LeastSquares<T> wls(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const std::vector<real_t<T>>& weights,
                    const OlsOptions& options) {
  require_weights(weights, A.m());
  const auto W = TileMatrix<real_t<T>>::map(g.runtime(), weights.data(), A.m(), 1, std::max<index_t>(A.m(), 1),
                                            {A.tile_shape().mb, 1}, "w");
  return wls(g, A, B, W, options);
}

template <class T>
LeastSquares<T> wls(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, const std::vector<real_t<T>>& weights,
                    const OlsOptions& options) {
  return detail::solve_in_tiles(runtime, a, b, options, [&](Graph& g, const auto& A, const auto& B, const auto& o) {
    return wls(g, A, B, weights, o);
  });
}

template <class T>
LeastSquares<T> wls(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const std::vector<real_t<T>>& weights,
                    const OlsOptions& options) {
  const index_t m = A.m(), n = A.n();
  require(B.rows() == m, "wls", "B", B.shape(), "; A has ", m, " rows");
  require_weights(weights, m);
  OlsOptions settled = options;
  settled.rcond = detail::default_rcond<T>("wls", options, m, n);
  require(options.rows >= 0, "wls", "rows", options.rows, " is negative");
  const auto classes = detail::weight_classes("wls", weights);
  return detail::solve_scaled_rows(g, A, B, classes, settled);
}

#define TESELA_INSTANTIATE(T)                                                                                     \
  template LeastSquares<T> wls(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, const std::vector<real_t<T>>&, \
                               const OlsOptions&);                                                                \
  template LeastSquares<T> wls(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, const TileMatrix<real_t<T>>&,  \
                               const OlsOptions&);                                                                \
  template LeastSquares<T> wls(Runtime&, MatrixView<T>, MatrixView<T>, const std::vector<real_t<T>>&,             \
                               const OlsOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
template LeastSquares<float> wls(Graph&, const MatrixRows<float>&, const HostMatrix<float>&, const std::vector<float>&,
                                 const OlsOptions&);
template LeastSquares<double> wls(Graph&, const MatrixRows<double>&, const HostMatrix<double>&,
                                  const std::vector<double>&, const OlsOptions&);

}  // namespace tesela
