#include "tests/support/machine.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/graph.hpp>

#include <csignal>

using namespace tesela::test;

namespace {

/// Cancels while a task on `tile` runs, so that the tasks of `insert` behind it on one worker are dropped.
template <class F>
void cancel_behind(Graph& graph, const Tile<int>& tile, const F& insert) {
  static std::atomic<bool> open;  // static, since the task may read it after this function returns
  open = false;
  graph.insert<Gate>({&open}, tile);
  insert();
  Runtime::cancel();
  open = true;
}

}  // namespace

TEST_CASE("cancel drops tasks that have not started, and the runtime works afterwards") {
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
  CHECK(seconds_since(start) < 0.5);  // the time of one task on a loaded machine; all tasks take more than 5 s
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

TEST_CASE("cancel reaches every graph that lost tasks, and each reports it once") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<int> A(runtime, 2, 1, {1, 1});
  Graph g(runtime), h(runtime), idle(runtime);
  for (index_t i = 0; i < 2; ++i) A(i, 0).write().data[0] = 0;
  cancel_behind(g, A(0, 0), [&] {
    g.insert<Set<int>>({1}, A(0, 0));
    h.insert<Set<int>>({1}, A(1, 0));
  });
  CHECK_THROWS_AS(value_of(A(0, 0)), Cancelled);
  CHECK_THROWS_AS(A(1, 0).write(), Cancelled);
  CHECK_THROWS_AS(g.wait(), Cancelled);
  CHECK_THROWS_AS(h.wait(), Cancelled);
  CHECK(g.wait().ok());
  CHECK(h.wait().ok());
  CHECK(idle.wait().ok());
}

TEST_CASE("tiles of dropped writes are refused until they are written again") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<int> A(runtime, 7, 1, {1, 1});
  int home = 0;
  const auto H = TileMatrix<int>::map(runtime, &home, 1, 1, 1, {1, 1});
  Graph g(runtime);
  Tile<int> status = g.status();
  for (index_t i = 0; i < 7; ++i) g.insert<Set<int>>({static_cast<int>(i)}, A(i, 0));
  REQUIRE(g.wait().ok());
  cancel_behind(g, A(0, 0), [&] {
    for (index_t i = 1; i < 6; ++i) g.insert<Affine<int>>({10, 0}, A(i, 0));
    g.insert<Set<int>>({1}, H(0, 0));
    g.insert<Affine<int>>({1, 0}, status);
  });
  CHECK_THROWS_AS(g.wait(), Cancelled);
  CHECK(value_of(A(6, 0)) == 6);  // written before the cancellation
  const auto refused = [](const auto& call) {
    CHECK_THROWS_MATCHES(call(), ArgumentError, MessageMatches(ContainsSubstring("were dropped")));
  };
  refused([&] { value_of(A(1, 0)); });
  refused([&] { A(1, 0).update(); });
  refused([&] { g.insert<Affine<int>>({10, 0}, A(1, 0)); });
  refused([&] { g.insert<AddAnyOrder<int>>({10}, A(1, 0)); });
  refused([&] { g.insert<Copy<int>>({}, A(1, 0), A(2, 0)); });
  refused([&] { H.bring_home(); });

  g.insert<Set<int>>({8}, A(1, 0));
  A(2, 0).write().data[0] = 9;
  g.insert<Affine<int>>({10, 0}, A(1, 0));
  g.insert<Affine<int>>({10, 0}, A(2, 0));
  g.forget(A(3, 0));
  g.insert<Set<int>>({7}, A(3, 0));
  home = 3;
  H.home_changed();
  g.insert<Affine<int>>({10, 0}, H(0, 0));
  g.insert<Affine<int>>({1, 0}, status);
  CHECK(g.wait().ok());
  CHECK(value_of(A(1, 0)) == 80);
  CHECK(value_of(A(2, 0)) == 90);
  CHECK(value_of(A(3, 0)) == 7);
  H.bring_home();
  CHECK(home == 30);

  A(0, 0).write().data[0] = 0;
  {
    Graph unheard(runtime);
    cancel_behind(unheard, A(0, 0), [&] { unheard.insert<Affine<int>>({10, 0}, A(1, 0)); });
  }
  refused([&] { value_of(A(1, 0)); });
  CHECK(value_of(A(2, 0)) == 90);
}

TEST_CASE("a cancelled graph loses reductions unless a wait() has completed them") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> S(runtime, 2, 1, {1, 1});
  Graph g(runtime);
  for (index_t i = 0; i < 2; ++i) {
    g.reduction<Set<double>, Combine<double>>(S(i, 0));
    g.insert<Set<double>>({1000}, S(i, 0));
    for (int k = 0; k < 100; ++k) g.insert<Contribute<double>>({1}, S(i, 0));
  }
  REQUIRE(g.wait().ok());
  Runtime::cancel();  // S is not combined yet
  CHECK_THROWS_AS(g.wait(), Cancelled);
  CHECK(value_of(S(0, 0)) == 1100);

  const TileMatrix<int> gate(runtime, 1, 1, {1, 1});
  gate(0, 0).write().data[0] = 0;
  cancel_behind(g, gate(0, 0), [&] { g.insert<Contribute<double>>({1}, S(0, 0)); });
  CHECK_THROWS_AS(g.wait(), Cancelled);
  CHECK_THROWS_AS(g.insert<Contribute<double>>({1}, S(0, 0)), ArgumentError);
  CHECK_THROWS_AS(value_of(S(0, 0)), ArgumentError);
  g.forget(S(0, 0));
  g.insert<Contribute<double>>({5}, S(0, 0));
  CHECK(g.wait().ok());
  CHECK(value_of(S(0, 0)) == 5);
  CHECK(value_of(S(1, 0)) == 1100);
}

TEST_CASE("dropped writes of one graph are not read after another graph has reported the cancellation") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<int> A(runtime, 3, 1, {1, 1});
  Graph first(runtime), second(runtime), third(runtime);
  for (index_t i = 0; i < 3; ++i) first.insert<Set<int>>({1}, A(i, 0));
  REQUIRE(first.wait().ok());
  cancel_behind(first, A(0, 0), [&] {
    first.insert<Affine<int>>({10, 0}, A(0, 0));
    third.insert<Set<int>>({2}, A(2, 0));
  });
  CHECK_THROWS_AS(third.wait(), Cancelled);
  CHECK_THROWS_AS(second.insert<Copy<int>>({}, A(0, 0), A(1, 0)), Cancelled);
  CHECK_THROWS_AS(second.insert<Affine<int>>({2, 0}, A(0, 0)), Cancelled);
  CHECK(value_of(A(1, 0)) == 1);  // written by completed tasks
  CHECK_THROWS_AS(first.wait(), Cancelled);
  CHECK_THROWS_AS(second.insert<Affine<int>>({2, 0}, A(0, 0)), ArgumentError);
  CHECK(second.wait().ok());
}

TEST_CASE("tiles written by the host survive a cancellation") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<int> A(runtime, 2, 1, {1, 1});
  Graph g(runtime);
  for (index_t i = 0; i < 2; ++i) g.insert<Set<int>>({1}, A(i, 0));
  A(1, 0).update().data[0] = 7;
  cancel_behind(g, A(0, 0), [] {});
  CHECK_THROWS_AS(g.wait(), Cancelled);
  CHECK(value_of(A(1, 0)) == 7);
}

TEST_CASE("cancel works in a signal handler") {
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

TEST_CASE(
    "a cancellation without a runtime affects the first graph of the next one, and the end of a runtime clears it") {
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
