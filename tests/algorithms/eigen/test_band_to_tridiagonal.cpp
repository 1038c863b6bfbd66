#include "tests/support/band_problem.hpp"
#include "tests/support/vector_targets.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

using namespace tesela::test;

namespace {

/// Columns of a tile of the band, and options.
struct Chased {
  index_t window;
  BulgeOptions options = {};
};

/// Checks ||B - Q T Q^H|| / ||B||, ||I - Q^H Q|| and the eigenvalues of T for each run.
template <class T>
void check(Runtime& rt, const std::string& kind, index_t n, index_t b, const std::vector<Chased>& runs) {
  const TileShape tile{std::max<index_t>(n, 1), std::clamp<index_t>(n / 3, 1, 64)};
  const HostMatrix<T> ab = make_band<T>(kind, n, b);
  const std::vector<double> values = band_values(ab);
  for (const auto& [window, options] : runs) {
    CAPTURE(kind, n, b, window, options.sweeps, options.block, options.bundle);
    const Formed<T> f = form(rt, ab, window, options, tile);
    REQUIRE(static_cast<index_t>(f.d.size()) == n);
    REQUIRE(static_cast<index_t>(f.e.size()) == std::max<index_t>(n - 1, 0));
    check_formed(ab, f);
    CHECK(value_error(values, f) <= residual_bound<T>(n));
  }
}

/// Compares Q or Q^H for each tile and each of the options with Q in one tile. Both operations meet each tile and each
/// of the options; a single one meets both.
template <class T>
void check_apply(Runtime& rt, index_t n, index_t b, const std::vector<TileShape>& tiles,
                 const std::vector<BulgeOptions>& all_options) {
  const HostMatrix<T> ab = make_band<T>("uniform", n, b);
  const Formed<T> reference = form(rt, ab, 3 * b, {}, {n, n});
  const double bound = orthogonality_bound<T>(n);
  check_formed(ab, reference);
  for (std::size_t t = 0; t < tiles.size(); ++t)
    for (std::size_t o = 0; o < all_options.size(); ++o)
      for (const Op op : {Op::none, adjoint<T>}) {
        if (all_options.size() > 1 && (op == Op::none) == ((t + o) % 2 == 0)) continue;
        const TileShape tile = tiles[t];
        const BulgeOptions& options = all_options[o];
        CAPTURE(n, b, tile.mb, tile.nb, options.block, options.bundle, op == Op::none);
        const Formed<T> f = form(rt, ab, 3 * b, options, tile, op);
        double worst = 0;
        for (index_t j = 0; j < n; ++j)
          for (index_t i = 0; i < n; ++i) {
            const T expected = op == Op::none ? reference.q(i, j) : conj(reference.q(j, i));
            worst = std::max(worst, static_cast<double>(std::abs(f.q(i, j) - expected)));
          }
        INFO("difference " << worst << ", bound " << bound);
        CHECK(worst <= bound);
      }
}

/// Writes a tile of the band once the test opens the gate.
std::atomic<bool> opened;
struct WriteLate {
  static constexpr auto name = "test_write_late";
  struct Args {};
  static void cpu(const Args&, InOut<double>) {
    while (!opened) std::this_thread::yield();
  }
};

}  // namespace

TEMPLATE_TEST_CASE("B = Q T Q^H for all sizes and half-widths", "[gpu]", FOUR_TYPES) {
  Runtime& rt = runtime();
  for (const index_t n : {0, 1, 2, 3, 33, 64, 100, 257}) {
    index_t before = 0;
    for (const index_t width : {1, 2, 3, 8, 32, 64}) {
      const index_t b = clamped(n, width);
      if (std::exchange(before, b) == b) continue;
      check<TestType>(rt, "uniform", n, b, {{band_window(rt, n, b)}, {5 * b, {.sweeps = 3, .block = 8, .bundle = 24}}});
    }
  }
  check<TestType>(rt, "uniform", 100, 99, {{2 * 99}});
  check<TestType>(rt, "uniform", 501, 32, {{3 * 32}});
  check<TestType>(rt, "uniform", 501, 64, {{3 * 64, {.sweeps = 1}}});
}

TEMPLATE_TEST_CASE("B = Q T Q^H for a band of three groups of sweeps on a GPU", "[gpu]", FOUR_TYPES) {
  check<TestType>(runtime(), "uniform", 600, 32, {{band_window(runtime(), 600, 32)}});
}

TEMPLATE_TEST_CASE("B = Q T Q^H for graded, spiked and degenerate bands", "[gpu]", FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const char* kind : {"graded", "spiked", "diagonal", "zero", "tridiagonal"})
    for (const index_t b : {2, 8, 32}) check<TestType>(runtime(), kind, 130, b, {{4 * b}});
}

WORKERS_TEMPLATE_TEST_CASE("B = Q T Q^H for small bands", "[sanitize]", FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  check<TestType>(runtime, "spiked", 40, 8, {{3 * 8}});  // two tiles
  check<TestType>(runtime, "graded", 40, 18, {{band_window(runtime, 40, 18)}});
  check_apply<TestType>(runtime, 30, 9, {{7, 5}}, {{.sweeps = 2, .block = 4, .bundle = 4}});
}

TEMPLATE_TEST_CASE("apply multiplies by Q for half-width 64, where a GPU keeps X in registers", "[gpu][sanitize]",
                   FOUR_TYPES) {
  check_apply<TestType>(runtime(), 136, 64, {{136, 70}}, {{}});  // two bundles
}

TEMPLATE_TEST_CASE("a tridiagonal matrix is unchanged and Q is the identity", "[gpu]", float, double) {
  for (const char* kind : {"diagonal", "zero", "tridiagonal"}) {
    const HostMatrix<TestType> ab = make_band<TestType>(kind, 75, 6);
    const Formed<TestType> f = form(runtime(), ab, 18, {}, {75, 20});
    for (index_t j = 0; j < 75; ++j) {
      REQUIRE(f.d[static_cast<std::size_t>(j)] == ab(0, j));
      if (j < 74) REQUIRE(f.e[static_cast<std::size_t>(j)] == ab(1, j));
      for (index_t i = 0; i < 75; ++i) REQUIRE(f.q(i, j) == TestType(i == j ? 1 : 0));
    }
  }
}

TEMPLATE_TEST_CASE("T has the same bits for all windows, sweeps and powers of two", "[gpu]", FOUR_TYPES) {
  for (const char* kind : {"uniform", "spiked"}) {
    for (const index_t b : {7, 40}) {
      const index_t n = 150;
      const HostMatrix<TestType> ab = make_band<TestType>(kind, n, b);
      const Found<TestType> reference = chase(runtime(), ab, 2 * b, {.vectors = false, .sweeps = 1});
      bool vectors = false;  // in turns, so that every window and every number of sweeps meets both
      for (const index_t window : {2, 3, 8, 30})
        for (const index_t sweeps : {index_t{1}, index_t{2}, index_t{5}, index_t{0}, index_t{1} << 62}) {
          vectors = !vectors;
          CAPTURE(kind, b, window, sweeps, vectors);
          const Found<TestType> t = chase(runtime(), ab, window * b, {.vectors = vectors, .sweeps = sweeps});
          CHECK((t.d == reference.d && t.e == reference.e));
        }
      if (kind == std::string("spiked")) continue;  // its small elements are lost when divided by 2^k
      for (const int exponent :
           sizeof(real_t<TestType>) == 8 ? std::array{-900, -30, 30, 900} : std::array{-90, -7, 7, 90}) {
        HostMatrix<TestType> scaled = ab.clone();
        for (index_t j = 0; j < n; ++j)
          for (index_t i = 0; i <= b; ++i) scaled(i, j) = times_power_of_two(scaled(i, j), exponent);
        Found<TestType> t = chase(runtime(), scaled, 3 * b);
        for (auto* x : {&t.d, &t.e})
          for (TestType& value : *x) value = times_power_of_two(value, -exponent);
        CAPTURE(b, exponent);
        CHECK((t.d == reference.d && t.e == reference.e));
      }
    }
  }
}

TEMPLATE_TEST_CASE("apply multiplies by Q and Q^H for all tiles and blocks", "[gpu]", FOUR_TYPES) {
  const index_t n = 147;
  check_apply<TestType>(runtime(), n, 9, {{n, 20}, {n, 1}, {1, n}, {7, 5}, {50, 147}, {200, 200}},
                        {{},
                         {.sweeps = 2, .block = 4, .bundle = 4},
                         {.sweeps = 1, .block = 32, .bundle = 64},
                         {.block = 12, .bundle = 500}});
}

TEMPLATE_TEST_CASE("apply multiplies by Q and Q^H in blocks that a GPU keeps in registers", "[gpu]", FOUR_TYPES) {
  for (const index_t n : {66, 197, 403})
    check_apply<TestType>(
        runtime(), n, 64, {{n, n}, {n, 70}, {31, 100}, {33, n}, {100, n}, {512, 17}},
        {{}, {.block = 32, .bundle = 128}, {.block = 32, .bundle = 96}, {.block = 16, .bundle = 128}});
}

TEMPLATE_TEST_CASE("Q^H Q X = X for many columns", "[gpu]", FOUR_TYPES) {
  const index_t n = 200, b = 64, r = 8601;  // more strips of 64 columns than a GPU processes at once
  const Generator<double> random{Pattern::uniform, 0, 0, 3};
  HostMatrix<TestType> x(n, r), before(n, r);
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < n; ++i)
      x(i, j) = before(i, j) = number<TestType>(random.uniform(i, j), random.uniform(i + n, j));
  const index_t width = is_complex<TestType> ? 16 : 32;
  {
    const SymmetricBand<TestType> band =
        poisoned(runtime(), make_band<TestType>("uniform", n, b), band_window(runtime(), n, b));
    const auto X = TileMatrix<TestType>::map(runtime(), x.data(), n, r, n, {n, r});
    Graph g(runtime());
    const auto chase = band_to_tridiagonal(g, band, {.block = width, .bundle = 128});
    chase.apply(g, Op::none, X);
    chase.apply(g, adjoint<TestType>, X);
    CHECK(g.wait().ok());
  }
  double worst = 0;
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < n; ++i) worst = std::max(worst, static_cast<double>(std::abs(x(i, j) - before(i, j))));
  CHECK(worst <= orthogonality_bound<TestType>(n));
}

TEST_CASE("a band may have fewer diagonals than its tiles, any tile width, and padded memory") {
  const index_t n = 53, width = 5, ld = 9;
  const HostMatrix<double> ab = make_band<double>("uniform", n, width);
  HostMatrix<double> padded(ld, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < ld; ++i) padded(i, j) = i <= width && i + j < n ? ab(i, j) : nan_of<double>;
  for (const index_t b : {5, 6, 8, 60}) {
    const SymmetricBand<double> band(TileMatrix<double>(runtime(), 2 * b, n, {2 * b, n}));
    band.copy_from(padded.data(), ld, width);
    Graph g(runtime());
    const auto chase = band_to_tridiagonal(g, band);
    CHECK(g.wait().ok());
    CHECK(value_error(band_values(ab), Found<double>{chase.diagonal(), chase.off_diagonal()}) <=
          residual_bound<double>(n));
    CHECK_THROWS_AS(band.copy_from(padded.data(), ld, b + 1), ArgumentError);
  }
}

TEST_CASE("Q^T Q X = X for a few columns, and the padding is unchanged") {
  const index_t n = 90, b = 8, r = 5, ld = 97;
  const HostMatrix<double> ab = make_band<double>("uniform", n, b);
  HostMatrix<double> x(ld, r), before = x.clone();
  const Generator<double> random{Pattern::uniform, 0, 0, 3};
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < ld; ++i) x(i, j) = before(i, j) = random.uniform(i, j);
  {
    const SymmetricBand<double> band = poisoned(runtime(), ab, 2 * b);
    const auto X = TileMatrix<double>::map(runtime(), x.data(), n, r, ld, {40, 3});
    Graph g(runtime());
    const auto chase = band_to_tridiagonal(g, band);
    chase.apply(g, Op::none, X);
    chase.apply(g, Op::transpose, X);
    CHECK(g.wait().ok());
  }
  for (index_t j = 0; j < r; ++j)
    for (index_t i = 0; i < ld; ++i)
      CHECK(std::abs(x(i, j) - before(i, j)) <= (i < n ? orthogonality_bound<double>(n) : 0.0));
}

TEMPLATE_TEST_CASE("NaN and infinity in the band appear in T", "[gpu]", FOUR_TYPES) {
  for (const TestType bad : {nan_of<TestType>, TestType(INFINITY)})
    for (const index_t at : {0, 60, 99}) {
      HostMatrix<TestType> ab = make_band<TestType>("uniform", 100, 8);
      ab(0, at) = bad;
      const Formed<TestType> f = form(runtime(), ab, 24, {}, {100, 30});
      CHECK(std::any_of(f.d.begin(), f.d.end(), [](TestType x) { return !is_finite(x); }));
    }
}

TEST_CASE("two threads with separate graphs get the same T") {
  const HostMatrix<double> ab = make_band<double>("uniform", 200, 12);
  const Found<double> expected = chase(runtime(), ab, 36);
  const auto work = [&] {
    Graph g(runtime());
    bool same = true;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const SymmetricBand<double> band = poisoned(runtime(), ab, 36);
      const auto mine = band_to_tridiagonal(g, band);
      g.wait();
      same = same && mine.diagonal() == expected.d && mine.off_diagonal() == expected.e;
    }
    return same;
  };
  auto first = std::async(std::launch::async, work), second = std::async(std::launch::async, work);
  CHECK(first.get());
  CHECK(second.get());
}

TEST_CASE("bulge chasing starts before the last tile is written") {
  if (runtime().cpus() < 2) SKIP("one core");
  const index_t n = 320, b = 8, window = 40;
  const HostMatrix<double> ab = make_band<double>("uniform", n, b);
  const Found<double> expected = chase(runtime(), ab, window);
  const SymmetricBand<double> band = poisoned(runtime(), ab, window);
  opened = false;
  const auto chased = [] {
    index_t tasks = 0;
    for (const WorkerUse& worker : runtime().statistics().workers)
      for (const KernelUse& kernel : worker.kernels)
        tasks += kernel.kernel.find("chase_bulges") != std::string::npos ? kernel.tasks : 0;
    return tasks;
  };
  runtime().reset_statistics();
  Graph g(runtime());
  g.insert<WriteLate>({}, band.tiles()(0, band.tiles().nt() - 1));
  const auto chase = band_to_tridiagonal(g, band);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (chased() < 7 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  CHECK(chased() >= 7);  // the first group, in all windows but the last
  opened = true;
  CHECK(g.wait().ok());
  CHECK((chase.diagonal() == expected.d && chase.off_diagonal() == expected.e));
}

TEST_CASE("invalid shapes and options are refused") {
  Runtime& rt = runtime();
  CHECK_THROWS_AS(SymmetricBand<double>(rt, -1, 2, 4), ArgumentError);
  CHECK_THROWS_AS(SymmetricBand<double>(rt, 20, -1, 4), ArgumentError);
  CHECK_THROWS_AS(SymmetricBand<double>(rt, 20, 4, 4), ArgumentError);
  CHECK_THROWS_AS(SymmetricBand<double>(rt, 20, 4, 10), ArgumentError);
  CHECK_THROWS_AS(SymmetricBand<double>(TileMatrix<double>(rt, 7, 20, {7, 20})), ArgumentError);
  CHECK_THROWS_AS(SymmetricBand<double>(TileMatrix<double>(rt, 8, 20, {4, 20})), ArgumentError);
  CHECK_THROWS_AS(SymmetricBand<double>(TileMatrix<double>(rt, 8, 20, {8, 9})), ArgumentError);
  const SymmetricBand<double> band = poisoned(rt, make_band<double>("uniform", 20, 4), 8);
  Graph g(rt);
  CHECK_THROWS_AS(band_to_tridiagonal(g, band, {.sweeps = -1}), ArgumentError);
  CHECK_THROWS_AS(band_to_tridiagonal(g, band, {.block = -1}), ArgumentError);
  const auto chase = band_to_tridiagonal(g, band, {.vectors = false});
  CHECK_THROWS_AS(chase.apply(g, Op::none, TileMatrix<double>(rt, 20, 3, {20, 3})), ArgumentError);
  CHECK_THROWS_AS(chase.apply(g, Op::none, TileMatrix<double>(rt, 19, 3, {19, 3})), ArgumentError);
  CHECK(g.wait().ok());
}

TEST_CASE("every scheduler gives the same bits") {
  const HostMatrix<double> ab = make_band<double>("uniform", 300, 16);
  const Formed<double> expected = form(runtime(), ab, 48, {}, {300, 64});
  shared_runtime.reset();
  for (const char* scheduler : {"eager", "lws", "dmdas", "random"}) {
    CAPTURE(scheduler);
    Runtime rt({.scheduler = scheduler});
    const Formed<double> f = form(rt, ab, 48, {}, {300, 64});
    CHECK((f.d == expected.d && f.e == expected.e));
    bool same = true;
    for (index_t j = 0; j < 300; ++j)
      for (index_t i = 0; i < 300; ++i) same = same && f.q(i, j) == expected.q(i, j);
    CHECK(same);
  }
}
