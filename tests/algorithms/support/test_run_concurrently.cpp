#include <tesela/algorithms/support/run_concurrently.hpp>
#include <tesela/runtime/errors.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <stdexcept>
#include <vector>

using namespace tesela;

TEST_CASE("run_concurrently runs every job once, the largest first, on at most the requested threads") {
  const std::vector<index_t> sizes{3, 9, 1, 9, 4, 0};
  std::vector<std::size_t> order;
  run_concurrently(sizes, 1, [&](std::size_t job, int thread) {
    CHECK(thread == 0);
    order.push_back(job);
  });
  CHECK(order == std::vector<std::size_t>{1, 3, 4, 0, 2, 5});
  std::vector<std::atomic<int>> runs(100);
  std::atomic<int> now{0}, most{0};
  run_concurrently(std::vector<index_t>(100, 1), 3, [&](std::size_t job, int thread) {
    const int running = ++now;
    for (int seen = most; seen < running && !most.compare_exchange_weak(seen, running);) {
    }
    if (thread < 0 || thread > 2) ++runs[job];
    ++runs[job];
    --now;
  });
  for (const auto& run : runs) CHECK(run == 1);
  CHECK(most <= 3);
  run_concurrently({}, 4, [](std::size_t, int) { FAIL("there is no job"); });
}

TEST_CASE("an exception in one job stops no other job and is rethrown at the end") {
  std::atomic<int> ran{0};
  CHECK_THROWS_AS(run_concurrently(std::vector<index_t>(50, 1), 2,
                                   [&](std::size_t job, int) {
                                     ++ran;
                                     if (job == 7) throw std::invalid_argument("seven");
                                   }),
                  std::invalid_argument);
  CHECK(ran == 50);
}

TEST_CASE("no job starts after Cancelled") {
  int ran = 0;
  CHECK_THROWS_AS(run_concurrently(std::vector<index_t>(50, 1), 1,
                                   [&](std::size_t job, int) {
                                     ++ran;
                                     if (job == 2) throw std::invalid_argument("two");
                                     if (job == 7) throw Cancelled();
                                   }),
                  Cancelled);
  CHECK(ran == 8);
}
