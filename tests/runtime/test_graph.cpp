#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/residence.hpp>

using namespace tesela::test;

namespace {

/// Writes a status like a kernel that finds a zero pivot.
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

}  // namespace

CORES_TEST_CASE("a status starts at 0 even if an earlier graph used its tile") {
  for (const bool waited : {true, false, true}) {
    {
      Graph g(runtime);
      for (int i = 0; i < 70; ++i) {
        const Tile<int> status = g.status();
        g.insert<Judge>({.info = 5}, status);
      }
      if (waited) CHECK(g.wait().info == 5);
      if (waited) *g.status().write().data = 7;  // also after a write by the host
    }
    Graph g(runtime);
    for (int i = 0; i < 150; ++i) CHECK(*g.status().read().data == 0);
    CHECK(g.wait().ok());
  }
}

CORES_TEST_CASE("tasks take effect in the order of insertion") {
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

CORES_TEST_CASE("wait returns the first nonzero status in the order of the status calls, once") {
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

CORES_TEST_CASE("a graph accepts tasks after wait, submit and both again") {
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

CORES_TEST_CASE("a graph destroyed without wait has run its tasks") {
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

CORES_TEST_CASE("an exception between inserts releases graph, status and scratch") {
  const bool held = GENERATE(false, true);
  const TileMatrix<int> A(runtime, 1, 1, {1, 1});
  try {
    Graph g(runtime, {.longest_path_priorities = held});
    // Destroyed before the graph while tasks on it may be held back.
    const TileMatrix<int> local(runtime, 2, 1, {1, 1});
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

CORES_TEST_CASE("a task may use a tile twice only for reading") {
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

CORES_TEST_CASE("reading a tile without contents is refused, by insert and on the host") {
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

CORES_TEST_CASE("wait_for_writes waits for the tasks that write a tile") {
  const bool held = GENERATE(false, true);
  double memory = 0;
  const auto A = TileMatrix<double>::map(runtime, &memory, 1, 1, 1, {1, 1});
  const TileMatrix<double> B(runtime, 1, 1, {1, 1});
  Graph g(runtime, {.longest_path_priorities = held});
  wait_for_writes(B(0, 0));  // nothing wrote it
  for (int k = 0; k < 3000; ++k) g.insert<Affine<double>>({1, 1}, A(0, 0));
  wait_for_writes(A(0, 0));
  CHECK(memory == 3000);
  g.insert<Affine<double>>({2, 0}, A(0, 0));
  CHECK(value_of(A(0, 0)) == 6000);
  CHECK(!lives_on_gpu(A(0, 0)));
  CHECK(!lives_on_gpu(B(0, 0)));
}

CORES_TEST_CASE("home_changed gives a forgotten mapped tile the contents written by the host") {
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

CORES_TEST_CASE("the host sees the writes of tasks inserted before, and later tasks see its writes") {
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

CORES_TEST_CASE("the destructor of a tile waits for its tasks") {
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
