#include "tests/support/band_problem.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/codelets/libraries/lapack.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <thread>

using namespace tesela;
using namespace tesela::test;

namespace {

template <class T>
constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

/// A band in tiles whose room for bulges, and whose rows behind the last one, are NaN.
template <class T>
SymmetricBand<T> poisoned(Runtime& rt, const HostMatrix<T>& ab, index_t window) {
  const index_t n = ab.cols(), b = ab.rows() - 1;
  const SymmetricBand<T> band(rt, n, b, window);
  band.tiles().for_each_tile([&](Tile<T> tile, index_t, index_t column) {
    const auto block = tile.write();
    for (index_t j = 0; j < block.cols; ++j)
      for (index_t i = 0; i < block.rows; ++i)
        block(i, j) = i <= b && column + j + i < n ? ab(i, column + j) : nan_of<T>;
  });
  return band;
}

template <class T>
struct Found {
  std::vector<T> d, e;
};

template <class T>
Found<T> chase(Runtime& rt, const HostMatrix<T>& ab, index_t window, const BandToTridiagonalOptions& options = {}) {
  const SymmetricBand<T> band = poisoned(rt, ab, window);
  Graph g(rt);
  const BulgeChase<T> chase = band_to_tridiagonal(g, band, options);
  CHECK(g.wait().ok());
  return {chase.diagonal(), chase.off_diagonal()};
}

/// The largest distance of T's eigenvalues from LAPACK's of B, over the largest of these.
template <class T>
double value_error(const HostMatrix<T>& ab, const Found<T>& t) {
  const std::vector<double> expected = band_values(ab);
  std::vector<double> d(t.d.begin(), t.d.end()), e(t.e.begin(), t.e.end());
  e.push_back(0);
  REQUIRE(lapack::sterf(ab.cols(), d.data(), e.data()) == 0);
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    worst = std::max(worst, std::abs(d[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return largest > 0 ? worst / largest : worst;
}

template <class T>
double residual_bound(index_t n) {
  return (sizeof(T) == 8 ? 5e-15 : 1e-6) * std::sqrt(static_cast<double>(std::max<index_t>(n, 1)));
}

template <class T>
void check_values(const std::string& kind, index_t n, index_t b, index_t window, index_t sweeps) {
  CAPTURE(kind, n, b, window, sweeps);
  const HostMatrix<T> ab = make_band<T>(kind, n, b);
  const Found<T> t = chase(runtime(), ab, window, {.vectors = false, .sweeps = sweeps});
  REQUIRE(static_cast<index_t>(t.d.size()) == n);
  REQUIRE(static_cast<index_t>(t.e.size()) == std::max<index_t>(n - 1, 0));
  const double error = value_error(ab, t), bound = residual_bound<T>(n);
  INFO("error " << error << ", bound " << bound);
  CHECK(error <= bound);
}

index_t clamped(index_t n, index_t b) { return std::clamp<index_t>(b, 1, std::max<index_t>(n - 1, 1)); }

}  // namespace

TEMPLATE_TEST_CASE("the tridiagonal matrix has the band's eigenvalues", "", float, double) {
  for (const index_t n : {0, 1, 2, 3, 33, 64, 100, 257, 501})
    for (const index_t width : {1, 2, 3, 8, 32, 64}) {
      const index_t b = clamped(n, width);
      check_values<TestType>("uniform", n, b, suitable_band_window(runtime(), n, b), 0);
      check_values<TestType>("uniform", n, b, 5 * b, 3);
    }
  check_values<TestType>("uniform", 1000, 32, 3 * 32, 0);
}
