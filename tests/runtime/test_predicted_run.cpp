#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/machine/machine_times.hpp>
#include <tesela/runtime/simulation/predicted_run.hpp>
#include <tesela/runtime/trace/trace_picture.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tesela;
using namespace tesela::test;
using Catch::Approx;

namespace {

constexpr double ms = 1e-3;

/// Returns the time of a kernel whose tasks count these flops.
KernelTime time_of(const char* kernel, double flops, double seconds, bool on_gpu = false) {
  return {std::string("tesela_") + kernel, on_gpu, 1, 8, flops, seconds, 0, 10};
}

/// Times of the toy kernels: Set 1 ms, Affine 2 ms, Copy 4 ms on a core, Affine 0.2 ms on a GPU.
KernelTimes toy_times() {
  return KernelTimes({time_of("test_set", 1, ms), time_of("test_affine", 10, 2 * ms), time_of("test_copy", 100, 4 * ms),
                      time_of("test_affine", 10, 0.2 * ms, true)});
}

SimulatedMachine machine(int cores, int gpus) {
  SimulatedMachine all{.cores = cores, .gpus = gpus};
  const auto name = [](int memory) { return memory == 0 ? "RAM" : "GPU" + std::to_string(memory - 1); };
  for (int from = 0; from <= gpus; ++from)
    for (int to = 0; to <= gpus; ++to)
      if (from != to) all.links.push_back({name(from), name(to), from == 0 || to == 0 ? 1e6 : 1e7, ms});
  return all;
}

}  // namespace

TEST_CASE("the predicted schedule of a small graph is the one found by hand") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> A(runtime, 4, 2, {1, 1}, "A");
  Graph g(runtime, {.record = true});
  for (index_t i = 0; i < 4; ++i) g.insert<Set<double>>({1.0}, A(i, 0));
  for (index_t i = 0; i < 4; ++i) g.insert<Affine<double>>({2.0, 0.0}, A(i, 0));
  g.insert<Copy<double>>({}, A(0, 0), A(0, 1));
  g.insert<Copy<double>>({}, A(0, 1), A(1, 1));
  g.wait();
  const KernelTimes times = toy_times();
  // Path: 1 + 2 + 4 + 4 ms; work: 4 + 8 + 8 ms.
  CHECK(g.predict(machine(1, 0), times).seconds == Approx(20 * ms));
  const PredictedRun two = g.predict(machine(2, 0), times), four = g.predict(machine(4, 0), times);
  CHECK(two.seconds >= 11 * ms);
  CHECK(two.seconds <= 14 * ms);
  CHECK(four.seconds == Approx(11 * ms));
  CHECK(four.task_seconds == Approx(20 * ms));
  CHECK(four.interpolated_seconds == Approx(20 * ms));  // the times are of another shape
  CHECK(four.interpolated_kernels ==
        std::vector<std::string>{"tesela_test_affine", "tesela_test_copy", "tesela_test_set"});
  REQUIRE(two.trace.tasks.size() == 10);
  CHECK(two.trace.workers == std::map<int, std::string>{{0, "CPU 0"}, {1, "CPU 1"}});
  CHECK(two.trace.colors.at("test_affine") == 0x00ff00);
  CHECK(trace_picture(two.trace).find("test_copy") != std::string::npos);
  for (const TracedTask& task : two.trace.tasks)
    for (const TracedTask& other : two.trace.tasks) {
      if (task.id == other.id) continue;
      const auto& before = task.depends_on;
      if (std::find(before.begin(), before.end(), other.id) != before.end()) CHECK(other.end <= task.start + 1e-12);
      if (task.worker == other.worker) CHECK((task.end <= other.start + 1e-12 || other.end <= task.start + 1e-12));
    }
}

TEST_CASE("tasks of high priority begin first") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> A(runtime, 3, 1, {1, 1}, "A");
  Graph g(runtime, {.record = true});
  for (int i = 0; i < 3; ++i) g.insert<Set<double>>(Priority{i}, {1.0}, A(i, 0));
  g.wait();
  const auto tasks = g.predict(machine(1, 0), toy_times()).trace.tasks;
  CHECK((tasks[0].label == "A(2,0)" && tasks[1].label == "A(1,0)" && tasks[2].label == "A(0,0)"));
}

TEST_CASE("a task on a GPU waits for its tiles, which stay there") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  std::vector<double> memory(1000, 1.0);
  const auto A = TileMatrix<double>::map(runtime, memory.data(), 1000, 1, 1000, {1000, 1}, "A");
  Graph g(runtime, {.record = true});
  for (int i = 0; i < 10; ++i) g.insert<Affine<double>>({2.0, 0.0}, A(0, 0));
  g.wait();
  const double copy = 8000 / 1e6 + ms;
  const PredictedRun run = g.predict(machine(0, 1), toy_times());
  CHECK(run.seconds == Approx(copy + 10 * 0.2 * ms));
  REQUIRE(run.trace.links.size() == 1);
  CHECK((run.trace.links[0].from == "RAM" && run.trace.links[0].to == "GPU0" && run.trace.links[0].transfers == 1));
  CHECK(run.trace.links[0].bytes == 8000);
  CHECK(run.trace.tasks[0].fetch_end - run.trace.tasks[0].fetch_begin == Approx(copy));
  CHECK(g.predict(machine(1, 1), toy_times()).seconds == Approx(std::min(copy + 2 * ms, 20 * ms)));
}

TEST_CASE("a machine that cannot run the graph is an error that says why") {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::MessageMatches;
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> A(runtime, 1, 1, {1, 1}, "A");
  Graph g(runtime, {.record = true}), other(runtime);
  g.insert<Set<double>>({1.0}, A(0, 0));
  g.wait();
  CHECK(Graph(runtime, {.record = true}).predict(machine(1, 0), toy_times()).seconds == 0);
  CHECK_THROWS_MATCHES(other.predict(machine(1, 0), toy_times()), ArgumentError,
                       MessageMatches(ContainsSubstring("not recorded")));
  CHECK_THROWS_MATCHES(g.predict(machine(0, 0), toy_times()), ArgumentError,
                       MessageMatches(ContainsSubstring("0 cores and 0 GPUs")));
  CHECK_THROWS_MATCHES(
      g.predict(machine(0, 1), toy_times()), EnvironmentError,
      MessageMatches(ContainsSubstring("'test_set' on a GPU") && ContainsSubstring("tesela predict record")));
  SimulatedMachine cut = machine(1, 1);
  cut.links.pop_back();
  CHECK_THROWS_MATCHES(g.predict(cut, toy_times()), ArgumentError,
                       MessageMatches(ContainsSubstring("from GPU0 to RAM is missing")));
}
