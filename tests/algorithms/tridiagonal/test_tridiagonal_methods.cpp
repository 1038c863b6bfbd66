#include "tests/support/test.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_methods.hpp>

using namespace tesela;

namespace {

constexpr index_t n = 200;

/// The matrix (-1, 2.5, -1) and B for a known X.
struct Problem {
  std::vector<double> dl = std::vector<double>(n, -1), d = std::vector<double>(n, 2.5), du = dl, b, x;
  Problem() {
    for (index_t i = 0; i < n; ++i) x.push_back(1 + 0.01 * static_cast<double>(i % 7));
    for (std::size_t i = 0; i < n; ++i) b.push_back(2.5 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0));
  }
};

}  // namespace

TEST_CASE("every tridiagonal method has a name and solves") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  CHECK(tridiagonal_methods().front().name == std::string("auto"));
  for (const auto& entry : tridiagonal_methods()) {
    CAPTURE(entry.name);
    CHECK(find_named(tridiagonal_methods(), entry.name) == entry.value);
    CHECK(name_of(tridiagonal_methods(), entry.value) == std::string(entry.name));
    Problem p;
    const auto map = [&](std::vector<double>& v) {
      return TileMatrix<double>::map(runtime, v.data(), n, 1, n, {64, 1});
    };
    const TileMatrix<double> B = map(p.b);
    {
      Graph g(runtime);
      tridiagonal_solve_by(g, {map(p.dl), map(p.d), map(p.du)}, B, {entry.value, {}, 16});
      const bool ok = g.wait().ok();
      // For 200 such rows the products of recursive doubling grow too much to keep any digits.
      const bool doubling = entry.value == TridiagonalMethod::rd || entry.value == TridiagonalMethod::cr_rd;
      CHECK(ok != doubling);
    }
    if (entry.value == TridiagonalMethod::rd || entry.value == TridiagonalMethod::cr_rd) continue;
    B.bring_home();
    double error = 0;
    for (std::size_t i = 0; i < n; ++i) error = std::max(error, std::abs(p.b[i] - p.x[i]));
    CHECK(error < 1e-14);
  }
  CHECK(!find_named(tridiagonal_methods(), "automatic"));
}

TEST_CASE("systems that only the automatic method solves are refused by the other methods") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> a(runtime, 1, n, {1, n}), b(runtime, 1, n, {1, n});
  for (const auto& entry : tridiagonal_methods().subspan(1))
    for (const TridiagonalOptions& systems :
         {TridiagonalOptions{SystemsIn::rows}, {SystemsIn::columns, true}, {SystemsIn::columns, false, true}}) {
      CAPTURE(entry.name);
      Graph g(runtime);
      CHECK_THROWS_AS(tridiagonal_solve_by(g, {a, a, a}, b, {entry.value, systems}), ArgumentError);
    }
}

TEST_CASE("tridiagonal tiles suit the number of cores") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  const auto tile = [&](TridiagonalMethod method, index_t rows, index_t systems) {
    const TridiagonalTile t = suitable_tridiagonal_tile(runtime, method, rows, systems);
    return std::pair{t.along, t.across};
  };
  CHECK(tile(TridiagonalMethod::automatic, 1 << 20, 1) == std::pair<index_t, index_t>{1 << 18, 1});
  CHECK(tile(TridiagonalMethod::automatic, (1 << 20) - 1, 1) == std::pair<index_t, index_t>{1 << 16, 1});
  CHECK(tile(TridiagonalMethod::cyclic_reduction, 1 << 20, 1) == std::pair<index_t, index_t>{1 << 16, 1});
  CHECK(tile(TridiagonalMethod::thomas, 1 << 20, 1) == std::pair<index_t, index_t>{1 << 20, 1});
  CHECK(tile(TridiagonalMethod::automatic, 512, 1000) == std::pair<index_t, index_t>{512, 128});
  CHECK(tile(TridiagonalMethod::automatic, 512, 16) == std::pair<index_t, index_t>{512, 4});
  CHECK(tile(TridiagonalMethod::automatic, 0, 0) == std::pair<index_t, index_t>{1, 1});
  CHECK(tridiagonal_levels({TridiagonalMethod::automatic}, 1000, 100) == 2);
  CHECK(tridiagonal_levels({TridiagonalMethod::lapack}, 1000, 100) == 0);
  CHECK(tridiagonal_levels({TridiagonalMethod::cyclic_reduction}, 1024, 1024) == 11);
  CHECK(tridiagonal_levels({TridiagonalMethod::cr_hybrid, {}, 256}, 1024, 1024) == 2);
  CHECK(tile(TridiagonalMethod::pcr, 1 << 20, 1) == std::pair<index_t, index_t>{1 << 20, 1});
  CHECK(tridiagonal_levels({TridiagonalMethod::pcr}, 1000, 1000) == 10);
  CHECK(tridiagonal_levels({TridiagonalMethod::rd}, 1, 1) == 0);
  CHECK(tridiagonal_levels({TridiagonalMethod::cr_pcr, {}, 256}, 1024, 1024) == 10);
}
