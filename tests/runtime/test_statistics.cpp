#include "tests/support/machine.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/runtime/graph.hpp>

#include <catch2/catch_test_macros.hpp>

#include <map>
#include <string>

using namespace tesela;
using namespace tesela::test;

namespace {

/// Runs ten tasks of one kernel and element type, twelve of another, and a few sleeps of 2 ms.
void work(Runtime& runtime) {
  const TileMatrix<double> A(runtime, 4, 1, {2, 1});
  const TileMatrix<float> F(runtime, 1, 1, {1, 1});
  const TileMatrix<int> I(runtime, 2, 1, {1, 1});
  Graph g(runtime);
  for (int i = 0; i < 10; ++i) g.insert<Set<double>>({1}, A(i % 2, 0));
  for (int i = 0; i < 5; ++i) g.insert<Set<float>>({1}, F(0, 0));
  for (int i = 0; i < 12; ++i) g.insert<Affine<double>>({}, A(i % 2, 0));
  for (int i = 0; i < 2; ++i) g.insert<Set<int>>({1}, I(i, 0));
  for (int i = 0; i < 10; ++i) g.insert<Sleep>({2, nullptr}, I(i % 2, 0));
  g.wait();
}

std::map<std::string, index_t> tasks_by_kernel(const Statistics& statistics) {
  std::map<std::string, index_t> tasks;
  for (const WorkerUse& worker : statistics.workers) {
    index_t sum = 0;
    std::map<std::string, int> times;
    for (const KernelUse& kernel : worker.kernels) {
      tasks[kernel.kernel] += kernel.tasks;
      sum += kernel.tasks;
      CHECK(++times[kernel.kernel] == 1);
    }
    CHECK(worker.tasks == sum);
  }
  return tasks;
}

const std::map<std::string, index_t> expected{{"test_set", 17}, {"test_affine", 12}, {"test_sleep", 10}};

}  // namespace

TEST_CASE("statistics may be requested twice, and the second result is at least the first") {
  Runtime runtime({.gpus = 0, .profile = true});
  work(runtime);
  const Statistics first = runtime.statistics(), second = runtime.statistics();
  double busy = 0;
  REQUIRE(second.workers.size() == first.workers.size());
  for (std::size_t w = 0; w < first.workers.size(); ++w) {
    const WorkerUse &before = first.workers[w], &after = second.workers[w];
    busy += before.busy_seconds;
    CHECK(after.tasks == before.tasks);
    CHECK(after.busy_seconds >= before.busy_seconds);
    CHECK(after.waiting_seconds >= before.waiting_seconds);
    CHECK(after.sleeping_seconds >= before.sleeping_seconds);
    CHECK(after.total_seconds > before.total_seconds);
  }
  CHECK(busy >= 0.0199);
  runtime.reset_statistics();
  for (const WorkerUse& worker : runtime.statistics().workers) CHECK(worker.busy_seconds < busy / 10);
}

TEST_CASE("tasks are counted by worker and kernel with and without profiling, and a reset starts again") {
  for (const bool profile : {false, true, false}) {
    CAPTURE(profile);
    Runtime runtime({.gpus = 0, .profile = profile});
    CHECK(tasks_by_kernel(runtime.statistics()).empty());
    work(runtime);
    const Statistics statistics = runtime.statistics();
    CHECK(statistics.workers.size() == runtime.workers().size());
    CHECK(tasks_by_kernel(statistics) == expected);
    double asleep = 0, in_sleep_kernel = 0;
    for (const WorkerUse& worker : statistics.workers) {
      asleep += worker.busy_seconds;
      CHECK(worker.worker.name.find("CPU") != std::string::npos);
      for (const KernelUse& kernel : worker.kernels)
        if (kernel.kernel == "test_sleep") in_sleep_kernel += kernel.busy_seconds;
    }
    if (profile) {
      CHECK(in_sleep_kernel >= 0.0199);
      CHECK(in_sleep_kernel <= 1.0);
      CHECK(asleep >= 0.95 * in_sleep_kernel);
      for (const WorkerUse& worker : statistics.workers) {
        CHECK(worker.total_seconds > 0);
        CHECK(worker.busy_seconds + worker.waiting_seconds + worker.sleeping_seconds <= 1.05 * worker.total_seconds);
      }
    } else {
      CHECK(in_sleep_kernel == 0);
      CHECK(asleep == 0);
    }
    runtime.reset_statistics();
    CHECK(tasks_by_kernel(runtime.statistics()).empty());
    work(runtime);
    CHECK(tasks_by_kernel(runtime.statistics()) == expected);
  }
}

TEST_CASE("a critical path has the first stream of a GPU, and other tasks the other streams", "[gpu]") {
  require_gpu();
  Runtime runtime({.cpus = 0, .gpus = 1, .streams_per_gpu = 3, .profile = true});
  const TileMatrix<double> A(runtime, 6, 1, {1, 1});
  Priority path = on_gpu_number(0), other = path;
  path.stream = GpuStream::first;
  other.stream = GpuStream::others;
  Graph g(runtime);
  for (int i = 0; i < 60; ++i) g.insert<kernels::Laset<double>>(i % 2 == 0 ? path : other, {1.0}, A(i % 6, 0));
  g.wait();
  const Statistics statistics = runtime.statistics();
  REQUIRE(statistics.workers.size() == 3);
  CHECK(statistics.workers[0].tasks == 30);
  CHECK(statistics.workers[1].tasks + statistics.workers[2].tasks == 30);
}
