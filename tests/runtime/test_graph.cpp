#include "tests/support/machine.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/codelets/support/fill.hpp>
#include <tesela/runtime/graph.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <csignal>
#include <stdexcept>

using namespace tesela;
using namespace tesela::kernels;
using namespace tesela::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// Writes a status, as a kernel that met a zero pivot does.
struct Judge {
  static constexpr auto name = "test_judge";
  struct Args {
    int info = 0;
  };
  static void cpu(const Args& args, InOut<int> status) {
    if (*status.data == 0) *status.data = args.info;
  }
};

struct Add {
  static constexpr auto name = "test_add";
  struct Args {};
  static void cpu(const Args&, In<double> a, In<double> b, InOut<double> c) { *c.data += *a.data + *b.data; }
};

struct Many {
  static constexpr auto name = "test_many";
  struct Args {};
  static void cpu(const Args&, In<double>, std::span<const Out<double>>) {}
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("a status begins with 0, whatever an earlier graph left in its tile") {
  Runtime runtime({.gpus = 0});
  for (const bool waited : {true, false, true}) {
    {
      Graph g(runtime);
      for (int i = 0; i < 70; ++i) {
        const Tile<int> status = g.status();
        g.insert<Judge>({.info = 5}, status);
      }
      if (waited) CHECK(g.wait().info == 5);
      if (waited) *g.status().write().data = 7;  // and one that the host writes
    }
    Graph g(runtime);
    for (int i = 0; i < 150; ++i) CHECK(*g.status().read().data == 0);
    CHECK(g.wait().ok());
  }
}

TEST_CASE("tasks take effect in the order of insertion") {
  Runtime runtime({.gpus = 0});
  const GraphOptions options =
      GENERATE(GraphOptions{}, GraphOptions{.record = true}, GraphOptions{.longest_path_priorities = true});
  const TileMatrix<double> A(runtime, 6, 1, {2, 1});
  Graph g(runtime, options);
  double expected = 3;
  for (index_t i = 0; i < 3; ++i) g.insert<Set<double>>({3}, A(i, 0));
  for (int step = 0; step < 100; ++step) {
    for (index_t i = 0; i < 3; ++i) g.insert<Affine<double>>({step % 2 == 0 ? 2.0 : 0.5, 1.0}, A(i, 0));
    g.insert<Copy<double>>({}, A(step % 3, 0), A((step + 1) % 3, 0));
    expected = (step % 2 == 0 ? 2.0 : 0.5) * expected + 1;
  }
  CHECK(g.tasks() == 403);
  CHECK(g.wait().ok());
  CHECK(to_vector(A) == std::vector<double>(6, expected));
}

TEST_CASE("wait returns the first nonzero status in the order of the status calls, once") {
  Runtime runtime({.gpus = 0});
  Graph g(runtime);
  CHECK(g.wait().ok());
  const Tile<int> first = g.status(), second = g.status(), third = g.status();
  CHECK(g.wait().ok());
  g.insert<Judge>({33}, third);
  g.insert<Judge>({22}, second);
  g.insert<Judge>({44}, second);
  g.insert<Judge>({0}, first);
  const Status status = g.wait();
  CHECK(status.info == 22);
  CHECK_FALSE(status.ok());

  g.insert<Judge>({0}, second);
  CHECK(g.wait().ok());
  g.insert<Judge>({-5}, first);
  CHECK(g.wait().info == -5);
}

TEST_CASE("a graph takes tasks after wait, submit and both again") {
  Runtime runtime({.gpus = 0});
  const bool held = GENERATE(false, true);
  const TileMatrix<double> A(runtime, 1, 1, {1, 1});
  Graph g(runtime, {.longest_path_priorities = held});
  g.insert<Set<double>>({1}, A(0, 0));
  for (int round = 0; round < 4; ++round) {
    g.insert<Affine<double>>({2, 0}, A(0, 0));
    g.submit();
    g.insert<Affine<double>>({1, 1}, A(0, 0));
    CHECK(g.wait().ok());
    CHECK(g.wait().ok());
  }
  CHECK(value_of(A(0, 0)) == 31);
}

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

TEST_CASE("a graph that ends without wait has run its tasks") {
  Runtime runtime({.gpus = 0});
  const bool held = GENERATE(false, true);
  const TileMatrix<double> A(runtime, 4, 4, {2, 2});
  {
    Graph g(runtime, {.longest_path_priorities = held});
    A.for_each_tile([&](Tile<double> tile, index_t, index_t) {
      g.insert<Set<double>>({1}, tile);
      for (int i = 0; i < 5; ++i) g.insert<Affine<double>>({2, 0}, tile);
    });
  }
  CHECK(Runtime::pending_tasks() == 0);
  CHECK(to_vector(A) == std::vector<double>(16, 32));
}

TEST_CASE("an exception between inserts unwinds graph, status and scratch cleanly") {
  Runtime runtime({.gpus = 0});
  const bool held = GENERATE(false, true);
  const TileMatrix<int> A(runtime, 1, 1, {1, 1});
  try {
    Graph g(runtime, {.longest_path_priorities = held});
    const TileMatrix<int> local(runtime, 2, 1, {1, 1});  // ends before the graph, while tasks on it may be waiting
    const Tile<int> status = g.status();
    g.insert<Set<int>>({4}, A(0, 0));
    g.insert<Set<int>>({1}, local(0, 0));
    g.insert<Judge>({3}, status);
    g.insert<Copy<int>>({}, A(0, 0), local(1, 0));
    g.insert<CudaOnly>({}, A(0, 0));
    FAIL("not reached");
  } catch (const NoWorkerError&) {
  }
  CHECK(Runtime::pending_tasks() == 0);
  CHECK(value_of(A(0, 0)) == 4);
}

TEST_CASE("a tile may be read twice by a task, and nothing else twice") {
  Runtime runtime({.gpus = 0});
  const TileMatrix<double> A(runtime, 1, 1, {1, 1}), B(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  g.insert<Set<double>>({3}, A(0, 0));
  g.insert<Set<double>>({1}, B(0, 0));
  g.insert<Add>({}, A(0, 0), A(0, 0), B(0, 0));
  CHECK_THROWS_MATCHES(g.insert<Add>({}, A(0, 0), B(0, 0), A(0, 0)), ArgumentError,
                       MessageMatches(ContainsSubstring("test_add") && ContainsSubstring("A(0,0)") &&
                                      ContainsSubstring("tile 2") && ContainsSubstring("twice")));
  CHECK_THROWS_AS(g.insert<Copy<double>>({}, A(0, 0), A(0, 0)), ArgumentError);
  CHECK_THROWS_AS(g.insert<Many>({}, B(0, 0), std::vector{A(0, 0), A(0, 0)}), ArgumentError);
  CHECK_THROWS_AS(g.insert<Many>({}, A(0, 0), std::vector{A(0, 0)}), ArgumentError);
  CHECK(g.tasks() == 3);
  CHECK(g.wait().ok());
  CHECK(value_of(B(0, 0)) == 7);
}

TEST_CASE("reading what nothing wrote is refused, by insert and on the host") {
  Runtime runtime({.gpus = 0});
  const bool held = GENERATE(false, true);
  const TileMatrix<double> A(runtime, 2, 2, {1, 1}, "pivot"), B(runtime, 1, 1, {1, 1});
  Graph g(runtime, {.longest_path_priorities = held});
  CHECK_THROWS_MATCHES(g.insert<Copy<double>>({}, A(1, 0), B(0, 0)), ArgumentError,
                       MessageMatches(ContainsSubstring("test_copy") && ContainsSubstring("pivot(1,0)")));
  CHECK_THROWS_AS(g.insert<Affine<double>>({}, A(1, 0)), ArgumentError);
  CHECK_THROWS_AS(g.insert<AddAnyOrder<double>>({}, A(1, 0)), ArgumentError);
  CHECK_THROWS_MATCHES(g.insert<Contribute<double>>({}, A(1, 0)), ArgumentError,
                       MessageMatches(ContainsSubstring("Graph::reduction")));
  CHECK_THROWS_MATCHES(A(1, 0).read(), ArgumentError, MessageMatches(ContainsSubstring("pivot(1,0)")));
  CHECK_THROWS_MATCHES(A(1, 0).update(), ArgumentError,
                       MessageMatches(ContainsSubstring("Tile::update") && ContainsSubstring("pivot(1,0)")));
  A.home_changed();
  g.bring_home(A(1, 0));
  g.prefetch_to_gpu(A(1, 0), 0);

  g.insert<Set<double>>({1}, A(1, 0));
  g.insert<Copy<double>>({}, A(1, 0), B(0, 0));
  g.bring_home(B(0, 0));
  g.forget(A(1, 0));
  CHECK_THROWS_AS(g.insert<Affine<double>>({}, A(1, 0)), ArgumentError);
  CHECK_THROWS_AS(A(1, 0).read(), ArgumentError);
  CHECK_THROWS_AS(A(1, 0).update(), ArgumentError);
  CHECK(value_of(B(0, 0)) == 1);
  g.insert<Set<double>>({2}, A(1, 0));
  CHECK(g.wait().ok());
  CHECK(value_of(A(1, 0)) == 2);
}

TEST_CASE("a mapped tile that was forgotten holds what the host wrote, once home_changed says so") {
  Runtime runtime({.gpus = 0});
  double memory = 1;
  const auto A = TileMatrix<double>::map(runtime, &memory, 1, 1, 1, {1, 1});
  Graph g(runtime);
  g.forget(A(0, 0));
  CHECK_THROWS_AS(A(0, 0).update(), ArgumentError);
  g.wait();
  memory = 3;
  A.home_changed();
  g.insert<Affine<double>>({2, 1}, A(0, 0));
  CHECK(value_of(A(0, 0)) == 7);
}

TEST_CASE("the host sees what the tasks inserted before it wrote, and they see what it writes") {
  Runtime runtime({.gpus = 0});
  const bool held = GENERATE(false, true);
  const TileMatrix<int> A(runtime, 1, 1, {1, 1});
  Graph g(runtime, {.longest_path_priorities = held});
  std::atomic<int> ran{0};
  g.insert<Set<int>>({5}, A(0, 0));
  g.insert<Sleep>({30, &ran}, A(0, 0));
  g.insert<Affine<int>>({2, 1}, A(0, 0));
  CHECK(value_of(A(0, 0)) == 11);
  CHECK(ran == 1);
  g.insert<Sleep>({30, &ran}, A(0, 0));
  *A(0, 0).write().data = 100;
  CHECK(ran == 2);
  g.insert<Affine<int>>({2, 1}, A(0, 0));
  CHECK(value_of(A(0, 0)) == 201);
}

TEST_CASE("a tile that ends before its tasks ran is waited for") {
  Runtime runtime({.gpus = 0});
  const bool held = GENERATE(false, true);
  std::vector<double> memory(9, 1);
  Graph g(runtime, {.longest_path_priorities = held});
  {
    const auto A = TileMatrix<double>::map(runtime, memory.data(), 3, 3, 3, {2, 2});
    A.for_each_tile([&](Tile<double> tile, index_t, index_t) {
      for (int i = 0; i < 20; ++i) g.insert<Affine<double>>({1, 1}, tile);
    });
  }
  CHECK(memory == std::vector<double>(9, 21));
  CHECK(g.wait().ok());
}

TEST_CASE("two graphs on one tile keep the order of insertion, held back or not") {
  Runtime runtime({.gpus = 0});
  const bool held = GENERATE(false, true);
  const TileMatrix<double> A(runtime, 1, 1, {1, 1});
  Graph g(runtime, {.longest_path_priorities = held}), h(runtime, {.longest_path_priorities = held});
  g.insert<Set<double>>({1}, A(0, 0));
  h.insert<Affine<double>>({2, 0}, A(0, 0));
  g.insert<Affine<double>>({1, 1}, A(0, 0));
  h.insert<Affine<double>>({2, 0}, A(0, 0));
  g.wait();
  h.wait();
  CHECK(value_of(A(0, 0)) == 6);
}

TEST_CASE("what several graphs hold back to read comes before what anybody writes later") {
  Runtime runtime({.gpus = 0});
  const int writer = GENERATE(0, 1, 2, 3);
  const TileMatrix<double> A(runtime, 1, 1, {1, 1}), B(runtime, 2, 1, {1, 1});
  *A(0, 0).write().data = 5;
  const GraphOptions held{.longest_path_priorities = true};
  Graph g(runtime, held), h(runtime, held), other(runtime, writer == 1 ? held : GraphOptions{});
  g.insert<Copy<double>>({}, A(0, 0), B(0, 0));
  h.insert<Copy<double>>({}, A(0, 0), B(1, 0));
  CHECK(value_of(A(0, 0)) == 5);  // nobody writes it: nothing has to run before
  CHECK(Runtime::pending_tasks() == 0);
  if (writer < 2) other.insert<Set<double>>({7}, A(0, 0));
  if (writer == 2) h.insert<Set<double>>({7}, A(0, 0));
  if (writer == 3) *A(0, 0).write().data = 7;
  CHECK(value_of(A(0, 0)) == 7);
  CHECK(to_vector(B) == std::vector<double>{5, 5});
}

TEST_CASE("a tile that only a held hint knows may end before the graph does") {
  Runtime runtime({.gpus = 0});
  const bool home = GENERATE(false, true);
  double memory = 1;
  std::atomic<int> ran{0};
  const TileMatrix<int> B(runtime, 1, 1, {1, 1});
  B(0, 0).write().data[0] = 0;
  Graph g(runtime, {.longest_path_priorities = true});
  g.insert<Sleep>({0, &ran}, B(0, 0));
  {
    const auto A = TileMatrix<double>::map(runtime, &memory, 1, 1, 1, {1, 1});
    home ? g.bring_home(A(0, 0)) : g.forget(A(0, 0));
  }
  // The hint was submitted while the tile lived, and with it what was inserted before.
  const auto start = std::chrono::steady_clock::now();
  while (ran == 0 && seconds_since(start) < 5) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(ran == 1);
  CHECK(g.wait().ok());
}

TEST_CASE("a hint waits for the tasks on its tile that another graph holds back") {
  Runtime runtime({.gpus = 0});
  const bool held = GENERATE(false, true);
  const TileMatrix<double> A(runtime, 1, 1, {1, 1}), B(runtime, 1, 1, {1, 1}), other(runtime, 1, 1, {1, 1});
  *A(0, 0).write().data = 5;
  Graph g(runtime, {.longest_path_priorities = true}), h(runtime, {.longest_path_priorities = held});
  h.insert<Set<double>>({1}, other(0, 0));
  g.insert<Copy<double>>({}, A(0, 0), B(0, 0));
  h.forget(A(0, 0));
  CHECK(h.wait().ok());
  CHECK(g.wait().ok());
  CHECK(value_of(B(0, 0)) == 5);
}

TEST_CASE("longest-path priorities decide the order of ready tasks") {
  Runtime runtime({.cpus = 1, .gpus = 0, .scheduler = "prio"});
  const TileMatrix<int> A(runtime, 6, 1, {1, 1});
  for (index_t i = 0; i < 6; ++i) A(i, 0).write().data[0] = 0;
  std::vector<int> order;
  std::atomic<bool> open{false};
  Graph before(runtime), g(runtime, {.longest_path_priorities = true});
  before.insert<Gate>({&open}, A(0, 0));  // the only worker waits here until everything is submitted
  // Chain 1: 10 + 1; chain 2: 2 + 50, chain 3: 30; one task without flops, last. Longest paths: 11 1 52 50 30 1
  g.insert<Log>({&order, 10, 10}, A(1, 0));
  g.insert<Log>({&order, 11, 1}, A(1, 0));
  g.insert<Log>({&order, 20, 2}, A(2, 0));
  g.insert<Log>({&order, 21, 50}, A(2, 0));
  g.insert<Log>({&order, 30, 30}, A(3, 0));
  g.insert<Log>({&order, 40, 0.5}, A(4, 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(order.empty());
  g.submit();
  open = true;
  CHECK(g.wait().ok());
  REQUIRE(order.size() == 6);
  CHECK(std::vector(order.begin(), order.begin() + 4) == std::vector{20, 21, 30, 10});  // the last two are equal
}

TEST_CASE("a priority given at the insert decides too") {
  Runtime runtime({.cpus = 1, .gpus = 0, .scheduler = "prio"});
  const TileMatrix<int> A(runtime, 4, 1, {1, 1});
  for (index_t i = 0; i < 4; ++i) A(i, 0).write().data[0] = 0;
  std::vector<int> order;
  std::atomic<bool> open{false};
  Graph g(runtime);
  g.insert<Gate>({&open}, A(0, 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  g.insert<Log>({&order, 1}, A(1, 0));
  g.insert<Log>(urgent, {&order, 2}, A(2, 0));
  g.insert<Log>(Priority{1 << 30}, {&order, 3}, A(3, 0));
  open = true;
  CHECK(g.wait().ok());
  CHECK(order == std::vector{3, 2, 1});
}

TEST_CASE("tasks run on the GPU that they are given, whatever the scheduler", "[gpu]") {
  test::require_gpu();
  for (const char* scheduler : {"dmdas", "eager", "lws"}) {
    Runtime runtime({.scheduler = scheduler, .profile = true});
    const auto gpus = static_cast<std::size_t>(runtime.gpus());
    if (gpus < 2) WARN("one GPU here: every task lands on it anyway");
    for (std::size_t given = 0; given <= gpus; ++given) {  // one too many: the first again
      INFO(scheduler << ", GPU " << given << " of " << gpus);
      const TileMatrix<double> A(runtime, 64, 64, {8, 8});
      Graph g(runtime);
      runtime.reset_statistics();
      A.for_each_tile([&](const Tile<double>& tile, index_t, index_t) {
        g.insert<Fill<double>>(on_gpu_number(given), {{Pattern::constant, 1}, 0, 0}, tile);
      });
      g.wait();
      index_t there = 0, elsewhere = 0;
      std::vector<int> devices;
      for (const Worker& worker : runtime.workers())
        if (worker.is_gpu && std::find(devices.begin(), devices.end(), worker.device) == devices.end())
          devices.push_back(worker.device);
      for (const WorkerUse& use : runtime.statistics().workers)
        (use.worker.is_gpu && use.worker.device == devices[given % gpus] ? there : elsewhere) += use.tasks;
      CHECK(there == 64);
      CHECK(elsewhere == 0);
    }
  }
}
