#include "tests/support/test.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/trace/task_recorder.hpp>
#include <tesela/runtime/trace/trace_summary.hpp>

#include <catch2/catch_approx.hpp>

#include <map>
#include <optional>
#include <thread>

using namespace tesela::test;

namespace {

/// Inserts a chain of three tasks on each of four tiles, and a copy from the first tile to the last.
void insert_chains(Graph& g, const TileMatrix<double>& A) {
  for (int i = 0; i < 4; ++i) g.insert<Set<double>>({1}, A(i, 0));
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 2; ++k) g.insert<Affine<double>>(Priority{k}, {2, 1}, A(i, 0));
  g.insert<Copy<double>>({}, A(0, 0), A(3, 0));
}

}  // namespace

TEST_CASE("a recorder keeps tasks, times, dependences and labels") {
  const bool profiled = GENERATE(false, true);
  CAPTURE(profiled);
  Runtime runtime({.gpus = 0, .profile = profiled});
  const TileMatrix<double> A(runtime, 8, 3, {2, 3}, "A");
  {
    Graph before(runtime);
    insert_chains(before, A);
    before.wait();
  }
  TaskRecorder recorder(runtime);
  CHECK_THROWS_AS(TaskRecorder(runtime), LifetimeError);
  Graph g(runtime);
  insert_chains(g, A);
  g.wait();
  const Trace trace = recorder.stop();
  CHECK_THROWS_AS(recorder.stop(), LifetimeError);

  CHECK(trace.incomplete == 0);
  REQUIRE(trace.tasks.size() == 13);
  std::map<std::string, int> count;
  std::map<std::uint64_t, const TracedTask*> by_id;
  for (const TracedTask& task : trace.tasks) {
    ++count[task.kernel];
    CHECK(by_id.emplace(task.id, &task).second);
    CHECK((task.start >= 0 && task.end > task.start && task.submitted <= task.start));
    CHECK(task.fetch_end <= task.start);
    CHECK(trace.workers.contains(task.worker));
  }
  CHECK(count == std::map<std::string, int>{{"test_set", 4}, {"test_affine", 8}, {"test_copy", 1}});
  std::size_t edges = 0;
  for (const TracedTask& task : trace.tasks) {
    edges += task.depends_on.size();
    for (const std::uint64_t id : task.depends_on) {
      REQUIRE(by_id.contains(id));
      CHECK(by_id[id]->end <= task.start);
    }
    if (task.kernel == "test_copy") {
      CHECK(task.depends_on.size() == 2);
      CHECK(task.label == "A(3,0)");
      CHECK(task.tiles == "2x3x8 2x3x8");
      CHECK(task.gflop == Catch::Approx(100e-9));
    }
  }
  CHECK(edges == 4 * 2 + 2);
  CHECK(trace.colors.at("test_affine") == 0x00ff00);
  const TraceSummary summary = summarize(trace);
  // A chain of three tasks, or of four with the copy, whichever took longer.
  CHECK((summary.path.size() == 3 || summary.path.size() == 4));
  CHECK(!trace.samples.empty());
  CHECK(!trace.memories.empty());

  SECTION("a later recorder has only later tasks") {
    TaskRecorder second(runtime);
    g.insert<Copy<double>>({}, A(0, 0), A(1, 0));
    g.wait();
    const Trace later = second.stop();
    REQUIRE(later.tasks.size() == 1);
    CHECK(later.tasks[0].depends_on.empty());
  }
}

TEST_CASE("a recorder counts tasks that have not run, and forgets them") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<int> I(runtime, 1, 1, {1, 1});
  std::atomic<bool> open{false};
  Graph g(runtime);
  g.insert<Set<int>>({1}, I(0, 0));
  std::optional<TaskRecorder> recorder(runtime);
  g.insert<Gate>({&open}, I(0, 0));
  SECTION("stop") {
    const Trace trace = recorder->stop();
    CHECK(trace.incomplete == 1);
    CHECK(summarize(trace).seconds == 0);
  }
  SECTION("its end") { recorder.reset(); }
  open = true;
  CHECK(g.wait().ok());
  TaskRecorder next(runtime);
  g.insert<Set<int>>({1}, I(0, 0));
  g.wait();
  CHECK(next.stop().tasks.size() == 1);
}

TEST_CASE("threads record into one trace") {
  Runtime runtime({.gpus = 0});
  TaskRecorder recorder(runtime);
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k)
    threads.emplace_back([&] {
      const TileMatrix<double> A(runtime, 4, 1, {1, 1});
      Graph g(runtime, {.longest_path_priorities = true});
      insert_chains(g, A);
      g.wait();
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(recorder.stop().tasks.size() == 3 * 13);
}

TEST_CASE("a recorder outlives its runtime") {
  std::optional<Runtime> runtime(RuntimeOptions{.cpus = 1, .gpus = 0});
  TaskRecorder recorder(*runtime);
  runtime.reset();
  CHECK_THROWS_AS(recorder.stop(), LifetimeError);
}
