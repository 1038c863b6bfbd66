#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/least_squares/internal/scaled_rows.hpp>
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>

namespace tesela {
namespace {

template <class T>
void require_weights(const std::vector<T>& weights, index_t m) {
  if (static_cast<index_t>(weights.size()) != m)
    throw ArgumentError("wls", "weights", std::to_string(weights.size()) + "; A has " + std::to_string(m) + " rows");
}

}  // namespace

template <class T>
LeastSquares<T> wls(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const std::vector<T>& weights,
                    const OlsOptions& options) {
  detail::require_conforming("wls", A, B);
  require_weights(weights, A.m());
  OlsOptions settled = options;
  settled.rcond = detail::settled_rcond<T>("wls", options, A.m(), A.n());
  const auto classes = detail::weight_classes("wls", weights);
  return detail::solve_scaled_rows(g, A, B, classes, settled);
}

template <class T>
LeastSquares<T> wls(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const std::vector<T>& weights,
                    const OlsOptions& options) {
  const index_t m = A.m(), n = A.n();
  if (B.rows() != m) throw ArgumentError("wls", "B", to_string(B.shape()) + "; A has " + std::to_string(m) + " rows");
  require_weights(weights, m);
  OlsOptions settled = options;
  settled.rcond = detail::settled_rcond<T>("wls", options, m, n);
  if (options.rows < 0) throw ArgumentError("wls", "rows", std::to_string(options.rows) + " is negative");
  const auto classes = detail::weight_classes("wls", weights);
  return detail::solve_scaled_rows(g, A, B, classes, settled);
}

template LeastSquares<float> wls(Graph&, const TileMatrix<float>&, const TileMatrix<float>&, const std::vector<float>&,
                                 const OlsOptions&);
template LeastSquares<double> wls(Graph&, const TileMatrix<double>&, const TileMatrix<double>&,
                                  const std::vector<double>&, const OlsOptions&);
template LeastSquares<float> wls(Graph&, const MatrixRows<float>&, const HostMatrix<float>&, const std::vector<float>&,
                                 const OlsOptions&);
template LeastSquares<double> wls(Graph&, const MatrixRows<double>&, const HostMatrix<double>&,
                                  const std::vector<double>&, const OlsOptions&);

}  // namespace tesela
