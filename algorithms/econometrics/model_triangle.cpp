#include <tesela/algorithms/econometrics/internal/model_variables.hpp>
#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/algorithms/qr/streamed_r.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/runtime/ranks.hpp>

#include <algorithm>

namespace tesela {

TileShape suitable_model_tile(const Runtime& runtime, index_t observations, index_t variables) {
  const auto workers = std::max<index_t>(least_workers(runtime), 1);
  if (variables <= 192 && observations / 16 >= variables)
    return {std::clamp<index_t>(observations / (4 * workers), 1024, index_t{1} << 20), std::max<index_t>(variables, 1)};
  return suitable_qr_tile(runtime, observations, variables);
}

ModelTriangle model_triangle(Graph& g, const TileMatrix<double>& data) {
  const index_t D = data.m(), n = data.n();
  ModelTriangle result{HostMatrix<double>::zeros(n, n), D};
  if (D == 0 || n == 0) return result;
  if (n <= 192 && D / 16 >= n) {
    const auto R = TileMatrix<double>::map(g.runtime(), result.R.data(), n, n, n, {n, n}, "R");
    tall_skinny_r(g, data, R);
    g.wait();
    R.bring_home();
    return result;
  }
  const index_t k = std::min(D, n);
  HostMatrix<double> r = k == n ? HostMatrix<double>() : HostMatrix<double>(k, n);
  HostMatrix<double>& home = k == n ? result.R : r;
  {
    const auto R = TileMatrix<double>::map(g.runtime(), home.data(), k, n, home.ld(), data.tile_shape(), "R");
    const auto factors = qr(g, data, detail::qr_options(D, n));
    factors.extract_r(g, R);
    g.wait();
    R.bring_home();
  }
  for (index_t j = 0; k < n && j < n; ++j) std::copy_n(&r(0, j), k, &result.R(0, j));
  return result;
}

ModelTriangle model_triangle(Graph& g, const RowSource<double>& data, index_t rows) {
  constexpr index_t few = index_t{1} << 23;  // elements that are held in memory
  if (rows == 0 && data.m <= few / std::max<index_t>(data.n, 1)) {
    HostMatrix<double> all(data.m, data.n);
    if (all.size() > 0) data.read(0, {all.data(), all.rows(), all.cols(), all.ld()});
    return model_triangle(g, TileMatrix<double>::map(g.runtime(), all.data(), all.rows(), all.cols(), all.ld(),
                                                     suitable_model_tile(g.runtime(), data.m, data.n), "data"));
  }
  return {streamed_r(g, data, {.rows = rows, .on_gpu = detail::qr_options(data.m, data.n).on_gpu}), data.m};
}

}  // namespace tesela
