#include "tests/support/seconds.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/graph.hpp>

#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <vector>

using namespace tesela;
using namespace tesela::test;

TEST_CASE("cancel drops what has not started, and the runtime works afterwards") {
  Runtime runtime({.gpus = 0});
  const TileMatrix<int> A(runtime, 4, 1, {1, 1});
  Graph g(runtime);
  std::atomic<int> ran{0};
  for (index_t i = 0; i < 4; ++i) g.insert<Set<int>>({0}, A(i, 0));
  for (int t = 0; t < 400; ++t) g.insert<Sleep>({50, &ran}, A(t % 4, 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  CHECK_FALSE(Runtime::cancelled());
  const auto start = std::chrono::steady_clock::now();
  Runtime::cancel();
  CHECK(Runtime::cancelled());
  CHECK_THROWS_AS(g.wait(), Cancelled);
  CHECK(seconds_since(start) < 0.5);  // one task's time and a loaded machine's whims; all of them take 5 s and more
  CHECK(ran > 0);
  CHECK(ran < 100);
  CHECK_FALSE(Runtime::cancelled());
  CHECK(Runtime::pending_tasks() == 0);

  g.insert<Set<int>>({1}, A(0, 0));
  CHECK(g.wait().ok());
  CHECK(value_of(A(0, 0)) == 1);
  Graph h(runtime);
  h.insert<Set<int>>({2}, A(0, 0));
  CHECK(h.wait().ok());
  CHECK(value_of(A(0, 0)) == 2);
}

TEST_CASE("cancel reaches every graph that lost tasks, and each says so once") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<int> A(runtime, 2, 1, {1, 1});
  Graph g(runtime), h(runtime), idle(runtime);
  std::atomic<bool> open{false};
  for (index_t i = 0; i < 2; ++i) A(i, 0).write().data[0] = 0;
  g.insert<Gate>({&open}, A(0, 0));
  g.insert<Set<int>>({1}, A(0, 0));
  h.insert<Set<int>>({1}, A(1, 0));
  Runtime::cancel();
  open = true;
  CHECK_THROWS_AS(value_of(A(0, 0)), Cancelled);
  CHECK_THROWS_AS(A(1, 0).write(), Cancelled);
  CHECK_THROWS_AS(g.wait(), Cancelled);
  CHECK_THROWS_AS(h.wait(), Cancelled);
  CHECK(g.wait().ok());
  CHECK(h.wait().ok());
  CHECK(idle.wait().ok());
}

TEST_CASE("cancel from a signal handler") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<int> A(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  g.insert<Set<int>>({0}, A(0, 0));
  for (int t = 0; t < 100; ++t) g.insert<Sleep>({50, nullptr}, A(0, 0));
  auto* before = std::signal(SIGUSR1, [](int) { Runtime::cancel(); });
  std::raise(SIGUSR1);
  CHECK_THROWS_AS(g.wait(), Cancelled);
  std::signal(SIGUSR1, before);
}

TEST_CASE("a cancellation with no runtime concerns the next one's first graph; the end of a runtime forgets it") {
  Runtime::cancel();
  CHECK(Runtime::cancelled());
  {
    Runtime runtime({.cpus = 1, .gpus = 0});
    const TileMatrix<int> A(runtime, 1, 1, {1, 1});
    Graph g(runtime);
    g.insert<Set<int>>({0}, A(0, 0));
    CHECK_THROWS_AS(g.wait(), Cancelled);
    Runtime::cancel();
  }
  CHECK_FALSE(Runtime::cancelled());
}
