#include "normalize.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

using namespace tesela;

// Compares with the lengths of columns that a loop over the whole matrix computes, for sizes around a tile.

namespace {

bool normalized(Runtime& runtime, index_t m, index_t n, Shape tile) {
  const index_t ld = m + 3;  // rows m and below are not part of the matrix
  std::vector<double> a(static_cast<std::size_t>(ld * n));
  const auto at = [&](index_t i, index_t j) -> double& { return a[static_cast<std::size_t>(i + j * ld)]; };
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < ld; ++i) at(i, j) = j == 1 || i >= m ? 0 : std::sin(static_cast<double>(1 + i + j * m));
  const std::vector<double> original = a;
  {
    const auto A = TileMatrix<double>::map(runtime, a.data(), m, n, ld, {tile.rows, tile.cols});
    const TileMatrix<double> sums(runtime, 1, n, {1, tile.cols});
    Graph g(runtime);
    normalize::normalize_columns(g, A, sums);
    g.wait();
    A.bring_home();
  }
  double worst = 0;
  for (index_t j = 0; j < n; ++j) {
    double length = 0;
    for (index_t i = 0; i < m; ++i) length = std::hypot(length, original[static_cast<std::size_t>(i + j * ld)]);
    for (index_t i = 0; i < ld; ++i) {
      const double before = original[static_cast<std::size_t>(i + j * ld)];
      worst = std::max(worst, std::abs(at(i, j) - (length > 0 && i < m ? before / length : before)));
    }
  }
  const double bound = static_cast<double>(m + 10) * 1e-16;
  std::printf("%ld x %ld in tiles of %ld x %ld: error %.2g, at most %.2g\n", m, n, tile.rows, tile.cols, worst, bound);
  return worst <= bound;  // false for NaN
}

}  // namespace

int main() {
  std::optional<Runtime> runtime;
  try {
    runtime.emplace();
  } catch (const EnvironmentError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 4;  // no GPU here
  }
  bool right = true;
  for (const auto& [m, n] : {Shape{1, 1}, Shape{7, 2}, Shape{8, 4}, Shape{9, 5}, Shape{64, 32}, Shape{100, 33}})
    for (const Shape tile : {Shape{8, 4}, Shape{50, 50}}) right = normalized(*runtime, m, n, tile) && right;
  return right ? 0 : 1;
}
