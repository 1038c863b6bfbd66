#include "tests/support/test.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/block_cyclic.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

// Kernels that throw, failed device calls and failed allocations: what wait() throws, and which work continues.

using namespace tesela::test;

namespace {

/// While it lives, operator new fails on the thread that created it, or on all others.
class NoMemory {
 public:
  enum Where { nowhere, here, elsewhere };
  explicit NoMemory(Where where) {
    mine = true;
    refused = where;
  }
  ~NoMemory() {
    refused = nowhere;
    mine = false;
  }
  static bool refuses() { return refused == (mine ? here : elsewhere); }

 private:
  static inline std::atomic<Where> refused{nowhere};
  static inline thread_local bool mine = false;
};

}  // namespace

// Not inlined, since GCC 12 would report a mismatch of new and free.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* memory = NoMemory::refuses() ? nullptr : std::malloc(std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("wait() throws a failed device call with kernel, call and status, and the graph remains usable") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<int> A(runtime, 1, 1, {1, 1});
  Graph g(runtime), other(runtime), idle(runtime);
  g.insert<Set<int>>({1}, A(0, 0));
  g.insert<Fail>({0}, A(0, 0));
  CHECK(g.wait().ok());
  g.insert<Fail>({77}, A(0, 0));
  g.insert<Fail>({88}, A(0, 0));
  other.insert<Set<int>>({2}, A(0, 0));
  CHECK_THROWS_AS(value_of(A(0, 0)), EnvironmentError);
  CHECK_THROWS_MATCHES(g.wait(), EnvironmentError,
                       MessageMatches(ContainsSubstring("test_fail") && ContainsSubstring("someCall") &&
                                      ContainsSubstring("77") && !ContainsSubstring("88")));
  // Its tasks were dropped too, so it must not report success.
  CHECK_THROWS_MATCHES(other.wait(), EnvironmentError, MessageMatches(ContainsSubstring("77")));
  CHECK(idle.wait().ok());
  for (Graph* graph : {&g, &other, &idle}) {
    graph->insert<Set<int>>({5}, A(0, 0));
    CHECK(graph->wait().ok());
    CHECK(value_of(A(0, 0)) == 5);
    A(0, 0).write().data[0] = 0;
  }
  g.insert<Fail>({99}, A(0, 0));
  CHECK_THROWS_MATCHES(g.wait(), EnvironmentError, MessageMatches(ContainsSubstring("99")));
}

TEST_CASE("a kernel that throws ends its graph with an EnvironmentError") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  const TileMatrix<int> A(runtime, 1, 1, {1, 1});
  const auto [what, told] =
      GENERATE(table<int, std::string>({{1, "not enough host memory"}, {2, "no such luck"}, {3, ""}}));
  CAPTURE(what);
  Graph g(runtime);
  g.insert<Set<int>>({1}, A(0, 0));
  g.insert<Throw>({0}, A(0, 0));
  CHECK(g.wait().ok());
  CHECK(value_of(A(0, 0)) == 2);
  g.insert<Throw>({what}, A(0, 0));
  for (int i = 0; i < 20; ++i) g.insert<Throw>({0}, A(0, 0));
  CHECK_THROWS_MATCHES(g.wait(), EnvironmentError, MessageMatches(ContainsSubstring(told)));
  CHECK_THROWS_AS(value_of(A(0, 0)), ArgumentError);
  g.insert<Set<int>>({2}, A(0, 0));
  g.insert<Throw>({0}, A(0, 0));
  CHECK(g.wait().ok());
  CHECK(value_of(A(0, 0)) == 3);
}

TEST_CASE("wait() throws if a worker has no memory for a task's list of tiles") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> A(runtime, 40, 1, {1, 1});
  Graph g(runtime);
  std::vector<Tile<double>> tiles;
  for (index_t i = 0; i < 40; ++i) {
    tiles.push_back(A(i, 0));
    g.insert<Set<double>>({1}, A(i, 0));
  }
  CHECK(g.wait().ok());
  {
    const NoMemory none(NoMemory::elsewhere);
    g.insert<IncrementAll>({}, tiles);
    CHECK_THROWS_MATCHES(g.wait(), EnvironmentError, MessageMatches(ContainsSubstring("not enough host memory")));
  }
  for (const Tile<double>& tile : tiles) g.insert<Set<double>>({1}, tile);
  g.insert<IncrementAll>({}, tiles);
  CHECK(g.wait().ok());
  CHECK(value_of(A(39, 0)) == 2);
}

TEST_CASE("a failed allocation in insert or submit affects only that call") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> A(runtime, 1, 1, {1, 1});
  *A(0, 0).write().data = 1;
  Graph first(runtime), g(runtime, {.longest_path_priorities = true});
  first.insert<Affine<double>>({2, 0}, A(0, 0));  // creates the codelet
  CHECK(first.wait().ok());
  const auto finds_none = [](auto f) {
    try {
      const NoMemory none(NoMemory::here);
      f();
    } catch (const std::bad_alloc&) {
      return true;
    }
    return false;
  };
  CHECK(finds_none([&] { g.insert<Affine<double>>({3, 0}, A(0, 0)); }));
  CHECK(g.tasks() == 0);
  g.insert<Affine<double>>({5, 0}, A(0, 0));
  g.insert<Affine<double>>({7, 0}, A(0, 0));
  CHECK(finds_none([&] { g.submit(); }));
  CHECK(g.wait().ok());
  CHECK(value_of(A(0, 0)) == 70);
}

TEST_CASE("a failure without a wait does not affect the next graph") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<int> A(runtime, 1, 1, {1, 1});
  A(0, 0).write().data[0] = 0;
  {
    Graph g(runtime);
    g.insert<Fail>({1}, A(0, 0));
  }
  Graph g(runtime);
  g.insert<Set<int>>({3}, A(0, 0));
  CHECK(g.wait().ok());
  CHECK(value_of(A(0, 0)) == 3);
}

TEST_CASE("require throws an error that names routine, argument and value") {
  const struct {
    index_t rows = 7;
    index_t m() const { return rows; }
    index_t n() const { return 5; }
  } matrix;
  require(true, "solve", "X", "unused");
  CHECK_THROWS_MATCHES(require(false, "solve", "X", matrix, " in tiles of ", TileShape{4, 2}, "; A is ",
                               Shape{3, index_t{1} << 40}, std::string(", r "), 2),
                       ArgumentError,
                       Catch::Matchers::Message("solve: X: 7 x 5 in tiles of 4 x 2; A is 3 x 1099511627776, r 2"));
}
