#include <tesela/algorithms/econometrics/internal/data_rows.hpp>
#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/algorithms/qr/streamed_r.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/runtime/ranks.hpp>

#include <algorithm>
#include <utility>

namespace tesela {

namespace {

/// Returns whether tall_skinny_r suits the data better than qr.
bool is_tall(index_t D, index_t n) { return n <= 192 && D / 16 >= n; }

TileShape suitable_tile(const Runtime& runtime, index_t D, index_t n) {
  const auto workers = std::max<index_t>(equal_shares(runtime), 1);
  if (!is_tall(D, n)) return qr_tile(runtime, D, n);
  return {std::clamp<index_t>(D / (4 * workers), 1024, index_t{1} << 20), std::max<index_t>(n, 1)};
}

}  // namespace

ModelTriangle model_triangle(Graph& g, HostMatrix<double> data) {
  const index_t D = data.rows(), n = data.cols();
  const auto A =
      TileMatrix<double>::map(g.runtime(), data.data(), D, n, data.ld(), suitable_tile(g.runtime(), D, n), "data");
  ModelTriangle result{HostMatrix<double>::zeros(n, n), D};
  if (D == 0 || n == 0) return result;
  if (is_tall(D, n)) {
    const auto R = TileMatrix<double>::map(g.runtime(), result.R.data(), n, n, n, {n, n}, "R");
    tall_skinny_r(g, A, R);
    g.wait();
    R.bring_home();
    return result;
  }
  const index_t k = std::min(D, n);
  HostMatrix<double> r = k == n ? HostMatrix<double>() : HostMatrix<double>(k, n);
  HostMatrix<double>& home = k == n ? result.R : r;
  {
    const auto R = TileMatrix<double>::map(g.runtime(), home.data(), k, n, home.ld(), A.tile_shape(), "R");
    const auto factors = qr(g, A, detail::qr_options(D, n));
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
    return model_triangle(g, std::move(all));
  }
  return {streamed_r(g, data, {.rows = rows, .on_gpu = detail::qr_options(data.m, data.n).on_gpu}), data.m};
}

SimultaneousEquations estimate(Graph& g, HostMatrix<double> data, const SimultaneousModel& model,
                               const SemOptions& options, const std::vector<index_t>& clusters) {
  HostMatrix<double> original;
  if (options.robust) {
    if (!clusters.empty() && std::ssize(clusters) != data.rows())
      throw ArgumentError("estimate", "clusters",
                          std::to_string(clusters.size()) + " for " + std::to_string(data.rows()) + " rows");
    if (!clusters.empty() && std::all_of(clusters.begin(), clusters.end(), [&](index_t c) { return c == clusters[0]; }))
      throw ArgumentError("estimate", "clusters", "all rows belong to one cluster; at least two are needed");
    original = data.clone();
  }
  ModelTriangle triangle = model_triangle(g, std::move(data));
  const detail::DataRows rows{original, clusters};
  SimultaneousEquations answer = detail::estimate_all(g, triangle, model, options, options.robust ? &rows : nullptr);
  answer.triangle = std::move(triangle);
  return answer;
}

}  // namespace tesela
