#include "tests/support/shared_runtime.hpp"
#include "tools/bench/adi/box.hpp"
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <array>

using namespace tesela;
using namespace tesela::test;

namespace {

/// A box of whole numbers, so that every sum is exact.
template <class T>
struct Numbers {
  index_t nx, ny, nz;
  std::vector<T> values;
  Numbers(index_t x, index_t y, index_t z, index_t seed)
      : nx(x), ny(y), nz(z), values(static_cast<std::size_t>(x * y * z)) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<T>((static_cast<index_t>(i) * 37 + seed) % 101 - 50);
  }
  T operator()(index_t x, index_t y, index_t z) const {
    const bool inside = x >= 0 && y >= 0 && z >= 0 && x < nx && y < ny && z < nz;
    return inside ? values[static_cast<std::size_t>(x + nx * (y + ny * z))] : T(0);
  }
};

template <class T>
std::vector<T> gathered(const TileMatrix<T>& A) {
  std::vector<T> a(static_cast<std::size_t>(A.m() * A.n()));
  A.copy_to(a.data(), A.m());
  return a;
}

template <class T>
std::vector<Tile<T>> tiles_of(const TileMatrix<T>& A) {
  std::vector<Tile<T>> tiles;
  A.for_each_tile([&](Tile<T> tile, index_t, index_t) { tiles.push_back(tile); });
  return tiles;
}

struct Size {
  index_t nx, ny, nz, deep, across;  // deep: planes of a tile; across: y's of a tile of lines
};
constexpr std::array sizes{Size{1, 1, 1, 1, 1}, Size{1, 2, 3, 1, 1}, Size{5, 4, 3, 3, 4},
                           Size{5, 4, 3, 1, 3}, Size{3, 7, 5, 2, 2}, Size{150, 3, 4, 3, 2}};

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("a box's Laplace operator, its lines and their sum are exact", "[sanitize]", float, double) {
  using T = TestType;
  for (const auto& [nx, ny, nz, deep, across] : sizes) {
    CAPTURE(nx, ny, nz, deep, across);
    const Numbers<T> u(nx, ny, nz, 0), v(nx, ny, nz, 5);
    const TileMatrix<T> U(runtime, nx, ny * nz, {nx, ny * deep}), W(runtime, nx, ny * nz, {nx, ny * deep});
    const TileMatrix<T> lines(runtime, nx * ny, nz, {nx * across, nz}), V(runtime, nx * ny, nz, {nx * across, nz});
    U.copy_from(u.values.data(), nx);
    V.copy_from(v.values.data(), nx * ny);
    // Boundary tiles that must not be read are NaN.
    const TileMatrix<T> nan(runtime, nx, ny, {nx, ny});
    const std::vector<T> nans(static_cast<std::size_t>(nx * ny), std::numeric_limits<T>::quiet_NaN());
    nan.copy_from(nans.data(), nx);

    Graph g(runtime);
    for (index_t t = 0; t < U.nt(); ++t) {
      const bool before = t > 0, after = t + 1 < U.nt();
      g.insert<BoxLaplace<T>>({T(2), ny, before, after}, before ? U(0, t - 1) : nan(0, 0), U(0, t),
                              after ? U(0, t + 1) : nan(0, 0), W(0, t));
    }
    for (index_t t = 0; t < lines.mt(); ++t) g.insert<BoxLines<T>>({ny, t * across}, lines(t, 0), tiles_of(U));
    REQUIRE(g.wait().ok());
    CHECK(gathered(lines) == u.values);  // both orders are the same in memory
    for (index_t t = 0; t < U.nt(); ++t) g.insert<BoxAddLines<T>>({ny, t * deep}, U(0, t), tiles_of(V));
    REQUIRE(g.wait().ok());

    const std::vector<T> w = gathered(W), sum = gathered(U);
    std::size_t i = 0;
    for (index_t z = 0; z < nz; ++z)
      for (index_t y = 0; y < ny; ++y)
        for (index_t x = 0; x < nx; ++x, ++i) {
          CAPTURE(x, y, z);
          REQUIRE(w[i] == 2 * (u(x - 1, y, z) + u(x + 1, y, z) + u(x, y - 1, z) + u(x, y + 1, z) + u(x, y, z - 1) +
                               u(x, y, z + 1) - 6 * u(x, y, z)));
          REQUIRE(sum[i] == u(x, y, z) + v(x, y, z));
        }
  }
}
