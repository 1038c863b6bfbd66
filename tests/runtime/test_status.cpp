#include "tests/support/machine.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

using namespace tesela;
using test::ReportInfo;

namespace {

struct Accumulate {
  static constexpr auto name = "test_accumulate";
  struct Args {};
  static void cpu(const Args&, Reduce<double> sum) { *sum.data += 1; }
};

}  // namespace

TEST_CASE("wait returns the first nonzero status in the order of creation, with its offset") {
  Runtime runtime({.gpus = 0});
  Graph g(runtime);
  CHECK(g.wait().ok());
  const Tile<int> untouched = g.status(1000), first = g.status(100), second = g.status(200);
  g.insert<ReportInfo>({7}, second);
  CHECK(g.wait().info == 207);
  g.insert<ReportInfo>({3}, first);
  CHECK(g.wait().info == 103);
  g.insert<ReportInfo>({-4}, first);  // LAPACK's number of an illegal argument, which is not a position
  CHECK(g.wait().info == -4);
  g.insert<ReportInfo>({0}, first);
  g.insert<ReportInfo>({0}, second);
  CHECK(g.wait().ok());
  CHECK(*untouched.read().data == 0);
}

TEST_CASE("the time of a wait does not grow with statuses of earlier tasks") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  Graph g(runtime);
  const auto run = [&](int rounds) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) {
      g.insert<ReportInfo>({i % 7 == 0 ? i : 0}, g.status());
      CHECK(g.wait().info == (i % 7 == 0 ? i : 0));
    }
    return test::seconds_since(start);
  };
  // The fastest of ten, since other work on this machine slows down some of them.
  const auto quickest = [&] {
    double best = run(100);
    for (int k = 1; k < 10; ++k) best = std::min(best, run(100));
    return best;
  };
  run(100);
  const double first = quickest();
  run(15000);
  INFO("100 rounds took " << first << " s at first");
  CHECK(quickest() <= 4 * first + 0.005);
}

TEST_CASE("a Reduce access to a tile without a reduction is refused") {
  Runtime runtime({.gpus = 0});
  const TileMatrix<double> sum(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  CHECK_THROWS_AS(g.insert<Accumulate>({}, sum(0, 0)), ArgumentError);
  CHECK(g.tasks() == 0);
}
