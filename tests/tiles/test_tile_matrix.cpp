#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/codelets/support/fill.hpp>
#include <tesela/runtime/paused_workers.hpp>
#include <tesela/tiles/power_of_two.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

using namespace tesela::test;

namespace {

constexpr index_t tile_rows = 4, tile_cols = 3;
constexpr double padding = -77;

/// Empty, one element, less than a tile, one tile, whole tiles and ragged tiles in both directions, with and without
/// padding below the columns.
struct Case {
  index_t m, n, ld;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const index_t m : {0, 1, 3, 4, 12, 13, 15})
    for (const index_t n : {0, 1, 2, 3, 9, 10, 11})
      for (const index_t extra : {0, 5}) all.push_back({m, n, std::max<index_t>(m, 1) + extra});
  return all;
}

double element(index_t i, index_t j) { return static_cast<double>(1000 * i + j + 1); }

/// Returns a column-major matrix with element(i, j) and `padding` below each column.
std::vector<double> matrix(const Case& c) {
  std::vector<double> a(static_cast<std::size_t>(c.ld * c.n), padding);
  for (index_t j = 0; j < c.n; ++j)
    for (index_t i = 0; i < c.m; ++i) a[static_cast<std::size_t>(i + j * c.ld)] = element(i, j);
  return a;
}

}  // namespace

CORES_TEST_CASE("the tiles of a matrix cover it") {
  for (const Case& c : cases()) {
    CAPTURE(c.m, c.n, c.ld);
    const TileMatrix<double> A(runtime, c.m, c.n, {tile_rows, tile_cols});
    CHECK(A.m() == c.m);
    CHECK(A.n() == c.n);
    CHECK(A.mt() == (c.m + tile_rows - 1) / tile_rows);
    CHECK(A.nt() == (c.n + tile_cols - 1) / tile_cols);
    CHECK_FALSE(A.mapped());
    index_t area = 0, tiles = 0;
    A.for_each_tile([&](Tile<double> tile, index_t row, index_t col) {
      CHECK(row % tile_rows == 0);
      CHECK(col % tile_cols == 0);
      CHECK(tile.rows() == std::min(tile_rows, c.m - row));
      CHECK(tile.cols() == std::min(tile_cols, c.n - col));
      area += tile.rows() * tile.cols();
      ++tiles;
    });
    CHECK(area == c.m * c.n);
    CHECK(tiles == A.mt() * A.nt());
  }
}

CORES_TEST_CASE("copy_from, a task on every tile, and copy_to give the expected matrix") {
  for (const Case& c : cases()) {
    CAPTURE(c.m, c.n, c.ld);
    const TileMatrix<double> A(runtime, c.m, c.n, {tile_rows, tile_cols});
    const std::vector<double> before = matrix(c);
    A.copy_from(before.data(), c.ld);
    Graph g(runtime);
    A.for_each_tile([&](Tile<double> tile, index_t, index_t) { g.insert<Affine<double>>({2, 1}, tile); });
    std::vector<double> after(before.size(), padding);
    A.copy_to(after.data(), c.ld);
    for (std::size_t k = 0; k < before.size(); ++k)
      CHECK(after[k] == (before[k] == padding ? padding : 2 * before[k] + 1));
  }
}

CORES_TEST_CASE("a mapped matrix is computed in place with unchanged padding") {
  for (const Case& c : cases())
    for (const bool destroy : {false, true}) {
      CAPTURE(c.m, c.n, c.ld, destroy);
      std::vector<double> memory = matrix(c);
      const std::vector<double> before = memory;
      {
        const auto A = TileMatrix<double>::map(runtime, memory.data(), c.m, c.n, c.ld, {tile_rows, tile_cols});
        CHECK(A.mapped() == !memory.empty());
        Graph g(runtime);
        A.for_each_tile([&](Tile<double> tile, index_t row, index_t col) {
          CHECK(tile.read()(0, 0) == element(row, col));
          g.insert<Affine<double>>({2, 1}, tile);
        });
        if (!destroy) {
          A.bring_home();
          for (std::size_t k = 0; k < before.size(); ++k)
            REQUIRE(memory[k] == (before[k] == padding ? padding : 2 * before[k] + 1));
        }
      }
      for (std::size_t k = 0; k < before.size(); ++k)
        REQUIRE(memory[k] == (before[k] == padding ? padding : 2 * before[k] + 1));
    }
}

CORES_TEST_CASE("a matrix over constant memory is read and never written") {
  static const double constants[6] = {1, 2, 3, 4, 5, 6};  // a write to these would crash
  const auto A = TileMatrix<double>::map(runtime, constants, 3, 2, 3, {2, 2});
  const TileMatrix<double> B(runtime, 3, 2, {2, 2});
  Graph g(runtime);
  for (index_t i = 0; i < 2; ++i) g.insert<Copy<double>>({}, A(i, 0), B(i, 0));
  CHECK(to_vector(B) == std::vector<double>(constants, constants + 6));
}

CORES_TEST_CASE("a mapped matrix stays in host memory after its contents are forgotten") {
  std::vector<double> memory(4, 1);
  {
    const auto A = TileMatrix<double>::map(runtime, memory.data(), 4, 1, 4, {2, 1});
    Graph g(runtime);
    g.forget(A(0, 0));
    g.insert<Set<double>>({5}, A(1, 0));
    A.bring_home();
    CHECK(memory[2] == 5);
  }
  CHECK(memory[3] == 5);
}

// Only the worker of a GPU can copy its data home.
WORKERS_TEST_CASE("a mapped matrix ends while the workers are paused") {
  std::vector<double> memory(12, padding);
  std::optional<PausedWorkers> paused, again;
  {
    const auto A = TileMatrix<double>::map(runtime, memory.data(), 4, 3, 4, {tile_rows, tile_cols});
    Graph g(runtime);
    A.for_each_tile([&](const Tile<double>& tile, index_t, index_t) {
      g.insert<kernels::Fill<double>>(on_gpu, {{Pattern::index, 0, 3}}, tile);
    });
    g.wait();
    paused.emplace();
    again.emplace();
  }
  paused.reset();
  again.reset();
  CHECK(memory[0] == 0);
  CHECK(memory[11] == 11);
  Graph g(runtime);  // the workers run again
  const TileMatrix<double> B(runtime, 1, 1, {1, 1});
  g.insert<kernels::Fill<double>>({{Pattern::constant, 5}}, B(0, 0));
  g.wait();
  CHECK(B(0, 0).read()(0, 0) == 5);
}

CORES_TEST_CASE("views of views share tiles and ragged ends") {
  const TileMatrix<double> A(runtime, 15, 10, {tile_rows, tile_cols});  // 4 x 4 tiles, the last 3 x 1
  const std::vector<double> before = matrix({15, 10, 15});
  A.copy_from(before.data(), 15);
  const auto V = A.view(1, 1, 3, 3);
  CHECK(V.m() == 11);
  CHECK(V.n() == 7);
  CHECK(V.mt() == 3);
  CHECK(V.nt() == 3);
  const auto W = V.view(1, 0, 2, 2);
  CHECK(W.m() == 7);
  CHECK(W.n() == 6);
  CHECK(&W(0, 0).data() == &A(2, 1).data());
  CHECK(&W(1, 1).data() == &A(3, 2).data());
  CHECK(W(1, 0).rows() == 3);
  CHECK_THROWS_AS(W(2, 0), ArgumentError);
  CHECK_THROWS_AS(W(0, -1), ArgumentError);
  std::vector<double> part(7 * 6);
  W.copy_to(part.data(), 7);
  for (index_t j = 0; j < 6; ++j)
    for (index_t i = 0; i < 7; ++i) CHECK(part[static_cast<std::size_t>(i + 7 * j)] == element(8 + i, 3 + j));
  const auto inner = V.view(0, 0, 1, 1);
  CHECK(inner.m() == 4);
  CHECK(inner.n() == 3);

  for (const auto& empty : {A.view(0, 0, 0, 0), A.view(4, 4, 0, 0), A.view(4, 0, 0, 2), V.view(3, 3, 0, 0)}) {
    CHECK(empty.m() == 0);
    CHECK(empty.mt() == 0);
    empty.for_each_tile([](Tile<double>, index_t, index_t) { FAIL("a tile in an empty view"); });
  }
}

TEST_CASE("a matrix without host memory is destroyed without waiting for its tasks") {
  std::atomic<bool> open{false}, dropped{false};
  std::atomic<int> ran{0};
  // Opens the gate if the destructor waits for it, so that the test fails instead of hanging.
  std::thread impatient([&] {
    for (int t = 0; t < 100 && !dropped; ++t) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    open = true;
  });
  {
    Runtime runtime({.gpus = 0});
    Graph g(runtime);
    {
      const TileMatrix<int> A(runtime, 2, 1, {1, 1});
      for (index_t i = 0; i < 2; ++i) {
        g.insert<Set<int>>({0}, A(i, 0));
        g.insert<Gate>({&open}, A(i, 0));
        g.insert<Sleep>({0, &ran}, A(i, 0));
      }
    }
    CHECK_FALSE(open);
    CHECK(ran == 0);
    dropped = true;
    CHECK(g.wait().ok());
    CHECK(ran == 2);
  }
  impatient.join();
}

CORES_TEST_CASE("a view keeps the tiles alive") {
  auto A = std::make_unique<TileMatrix<double>>(runtime, 4, 4, TileShape{2, 2});
  const auto V = A->view(0, 1, 2, 1);
  A.reset();
  Graph g(runtime);
  for (index_t i = 0; i < 2; ++i) g.insert<Set<double>>({3}, V(i, 0));
  CHECK(to_vector(V) == std::vector<double>(8, 3));
}

CORES_TEST_CASE("wrong sizes, tiles, ranges and memory are refused by name") {
  constexpr index_t huge = std::numeric_limits<index_t>::max();
  double memory[12] = {};
  using Matrix = TileMatrix<double>;
  CHECK_THROWS_MATCHES(Matrix(runtime, -1, 3, {2, 2}), ArgumentError, MessageMatches(ContainsSubstring("-1")));
  CHECK_THROWS_AS(Matrix(runtime, 3, -1, {2, 2}), ArgumentError);
  CHECK_THROWS_AS(Matrix(runtime, 3, 3, {0, 2}), ArgumentError);
  CHECK_THROWS_AS(Matrix(runtime, 3, 3, {2, -5}), ArgumentError);
  CHECK_THROWS_AS(Matrix(runtime, huge, 1, {huge, 1}), ArgumentError);
  CHECK_THROWS_MATCHES(Matrix(runtime, 65536, 65536, {65536, 65536}), ArgumentError,
                       MessageMatches(ContainsSubstring("2^32 elements")));
  CHECK_NOTHROW(Matrix(runtime, 65536, 65536, {65536, 65535}));
  CHECK_THROWS_MATCHES(Matrix::map(runtime, memory, 4, 3, 3, {2, 2}), ArgumentError,
                       MessageMatches(ContainsSubstring("ld")));
  CHECK_THROWS_AS(Matrix::map(runtime, memory, 0, 3, 0, {2, 2}), ArgumentError);
  CHECK_THROWS_AS(Matrix::map(runtime, static_cast<double*>(nullptr), 4, 3, 4, {2, 2}), ArgumentError);
  CHECK(Matrix::map(runtime, static_cast<double*>(nullptr), 0, 3, 1, {2, 2}).mt() == 0);

  const Matrix A(runtime, 4, 3, {2, 2});
  A.copy_from(memory, 4);
  CHECK_THROWS_MATCHES(A.copy_from(memory, 3), ArgumentError, MessageMatches(ContainsSubstring("copy_from")));
  CHECK_THROWS_MATCHES(A.copy_to(memory, 3), ArgumentError, MessageMatches(ContainsSubstring("copy_to")));
  CHECK_THROWS_AS(A.copy_to(nullptr, 4), ArgumentError);
  CHECK_THROWS_MATCHES(A(2, 0), ArgumentError, MessageMatches(ContainsSubstring("(2, 0)")));
  CHECK_THROWS_AS(A(0, 2), ArgumentError);
  CHECK_THROWS_AS(A(-1, 0), ArgumentError);
  for (const auto& [i, j, mt, nt] : {std::array<index_t, 4>{-1, 0, 1, 1},
                                     {0, -1, 1, 1},
                                     {0, 0, 3, 1},
                                     {0, 0, 1, 3},
                                     {1, 0, 2, 1},
                                     {3, 0, 0, 0},
                                     {0, 0, -1, 1},
                                     {0, 0, 1, -1},
                                     {1, 1, huge, 1},
                                     {huge, 0, 1, 1},
                                     {1, 0, 1, huge},
                                     {0, huge, 0, huge}})
    CHECK_THROWS_AS(A.view(i, j, mt, nt), ArgumentError);
}

CORES_TEST_CASE("a matrix may have more rows than the largest tile") {
  constexpr index_t m = index_t{1} << 33;
  const TileMatrix<double> A(runtime, m, 1, {index_t{1} << 31, 1});
  CHECK(A.mt() == 4);
  CHECK(A(3, 0).rows() == index_t{1} << 31);
}

TEMPLATE_TEST_CASE("the exponent of the largest magnitude scales it to [1/2, 1)", "", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const auto exponent = [](std::array<T, 3> x) { return exponent_of_largest<T>(x); };
  CHECK(exponent({T(0), T(0), T(0)}) == 0);
  CHECK(exponent({T(0.75), T(-1), T(0.5)}) == 1);
  CHECK(exponent({T(0.75), T(-0.5), Limits::quiet_NaN()}) == 0);
  CHECK(exponent({T(8), Limits::infinity(), T(0)}) == 0);
  CHECK(exponent({Limits::max(), T(1), T(0)}) == Limits::max_exponent);
  CHECK(exponent({T(0), -Limits::denorm_min(), T(0)}) == Limits::min_exponent - Limits::digits + 1);
}

TEMPLATE_TEST_CASE("powers of two scale over the whole range of a type with a single rounding", "", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const int least = Limits::min_exponent - Limits::digits;  // 2^least is the smallest positive number
  const auto scaled = [](T x, int e) {
    std::array<T, 1> one{x};
    scale_by_power_of_two<T>(one, e);
    return one[0];
  };
  CHECK(scaled(T(0.75), 3) == T(6));
  CHECK(scaled(Limits::denorm_min(), -least) == T(1));
  CHECK(scaled(Limits::denorm_min(), Limits::max_exponent - least - 1) == std::ldexp(T(1), Limits::max_exponent - 1));
  CHECK(scaled(std::ldexp(T(1), Limits::max_exponent - 1), least - Limits::max_exponent + 1) == Limits::denorm_min());
  CHECK(scaled(Limits::max(), 1) == Limits::infinity());
  CHECK(scaled(T(1), least - 1) == T(0));                     // a tie rounds to even
  CHECK(scaled(T(1.25), least - 1) == Limits::denorm_min());  // no second rounding creates a tie
  CHECK(scaled(-T(3), least) == -3 * Limits::denorm_min());
}
