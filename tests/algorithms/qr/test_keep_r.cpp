#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/qr/keep_r.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <random>

using namespace tesela;

namespace {

/// Checks that R in the memory of A equals extract_r and has zeros below, and that the padding is unchanged.
template <class T>
void check(Runtime& runtime, Shape size, TileShape tile) {
  const auto [m, n] = size;
  const index_t ld = m + 3, k = std::min(m, n);
  CAPTURE(m, n, tile.mb, tile.nb);
  std::mt19937 random(5);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> a(static_cast<std::size_t>(ld * std::max<index_t>(n, 1)), T(-77));
  for (index_t j = 0; j < n; ++j) std::generate_n(a.data() + j * ld, m, [&] { return uniform(random); });
  HostMatrix<T> r(k, n);
  {
    const auto A = TileMatrix<T>::map(runtime, a.data(), m, n, ld, tile);
    const TileMatrix<T> R(runtime, k, n, tile);
    Graph g(runtime);
    const auto factorization = qr(g, A);
    factorization.extract_r(g, R);
    keep_r(g, factorization);
    REQUIRE(g.wait().ok());
    R.copy_to(r.data(), r.ld());
  }
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < ld; ++i)
      REQUIRE(a[static_cast<std::size_t>(i + j * ld)] == (i >= m ? T(-77) : i < k ? r(i, j) : T(0)));
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("keep_r leaves R in the memory of A", "[sanitize]", float, double) {
  for (const Shape size : {Shape{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 7}, {7, 1}, {20, 20}, {33, 20}, {20, 33}, {40, 7}})
    for (const TileShape tile : {TileShape{8, 8}, {7, 5}, {5, 7}, {40, 4}, {4, 40}, {64, 64}, {1, 1}})
      check<TestType>(runtime, size, tile);
}
