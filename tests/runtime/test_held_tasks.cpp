#include "tests/support/machine.hpp"
#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/support/fill.hpp>
#include <tesela/runtime/graph.hpp>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

using namespace tesela::kernels;
using namespace tesela::test;

CORES_TEST_CASE("two graphs on one tile keep the order of insertion, also if tasks are held back") {
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

CORES_TEST_CASE("held-back reads of several graphs run before later writes") {
  const int writer = GENERATE(0, 1, 2, 3);
  const TileMatrix<double> A(runtime, 1, 1, {1, 1}), B(runtime, 2, 1, {1, 1});
  *A(0, 0).write().data = 5;
  const GraphOptions held{.longest_path_priorities = true};
  Graph g(runtime, held), h(runtime, held), other(runtime, writer == 1 ? held : GraphOptions{});
  g.insert<Copy<double>>({}, A(0, 0), B(0, 0));
  h.insert<Copy<double>>({}, A(0, 0), B(1, 0));
  CHECK(value_of(A(0, 0)) == 5);  // a read on the host releases no held-back readers
  CHECK(Runtime::pending_tasks() == 0);
  if (writer < 2) other.insert<Set<double>>({7}, A(0, 0));
  if (writer == 2) h.insert<Set<double>>({7}, A(0, 0));
  if (writer == 3) *A(0, 0).write().data = 7;
  CHECK(value_of(A(0, 0)) == 7);
  CHECK(to_vector(B) == std::vector<double>{5, 5});
}

CORES_TEST_CASE("a tile known only to a held-back hint may be destroyed before the graph") {
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
  // The hint and the tasks inserted before it were submitted while the tile existed.
  const auto start = std::chrono::steady_clock::now();
  while (ran == 0 && seconds_since(start) < 5) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(ran == 1);
  CHECK(g.wait().ok());
}

CORES_TEST_CASE("a hint waits for the held-back tasks of another graph on its tile") {
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
  before.insert<Gate>({&open}, A(0, 0));  // the only worker waits here until all tasks are submitted
  // Chain 1: 10 + 1; chain 2: 2 + 50; chain 3: 30; one task without flops, last. Longest paths: 11 1 52 50 30 1
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
  CHECK(std::vector(order.begin(), order.begin() + 4) == std::vector{20, 21, 30, 10});  // the last two paths are equal
}

TEST_CASE("a priority given at the insert is used") {
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

TEST_CASE("tasks run on their assigned GPU with any scheduler", "[gpu]") {
  test::require_gpu();
  for (const char* scheduler : {"dmdas", "eager", "lws"}) {
    Runtime runtime({.scheduler = scheduler, .profile = true});
    const auto gpus = static_cast<std::size_t>(runtime.gpus());
    if (gpus < 2) WARN("only one GPU here: every task runs on it");
    for (std::size_t given = 0; given <= gpus; ++given) {  // one more than there are: the first GPU again
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

TEST_CASE("tasks stay on their assigned cores if there are any", "[gpu]") {
  test::require_gpu();
  for (const int cpus : {1, 0}) {
    Runtime runtime({.cpus = cpus, .gpus = 1, .profile = true});
    const TileMatrix<double> A(runtime, 64, 64, {8, 8});
    Graph g(runtime);
    A.for_each_tile([&](const Tile<double>& tile, index_t, index_t) {
      g.insert<Fill<double>>(on_core, {{Pattern::constant, 1}, 0, 0}, tile);
    });
    g.wait();
    index_t on_gpu = 0;
    for (const WorkerUse& use : runtime.statistics().workers) on_gpu += use.worker.is_gpu ? use.tasks : 0;
    CHECK(on_gpu == (cpus > 0 ? 0 : 64));
  }
}

TEST_CASE("large tasks of an unknown size are not tried on cores", "[gpu]") {
  test::require_gpu();
  if (std::getenv("STARPU_CALIBRATE") != nullptr) SKIP("STARPU_CALIBRATE asks for it");
  Runtime runtime({.cpus = 2, .gpus = 1, .scheduler = "dmdas", .profile = true});
  const index_t n = 619;  // a size used by no other test
  const TileMatrix<double> A(runtime, n, 12 * n, {n, n});
  Graph g(runtime);
  A.for_each_tile([&](const Tile<double>& tile, index_t, index_t) {
    g.insert<Fill<double>>(on_gpu, {{Pattern::constant, 1}, 0, 0}, tile);
  });
  g.wait();
  runtime.reset_statistics();
  for (index_t j = 2; j < 12; ++j) g.insert<Gemm<double>>({}, A(0, 0), A(0, 1), A(0, j));
  g.wait();
  for (const WorkerUse& use : runtime.statistics().workers) CHECK((use.worker.is_gpu || use.tasks == 0));
}

namespace {

/// A kernel that a core runs in a millisecond and a GPU in no time; `kind` separates the histories of runs.
struct SlowOnCores {
  static constexpr auto name = "slow_on_cores";
  struct Args {
    std::uint64_t kind;
    std::uint64_t cost_key() const { return kind; }
  };
  static void cpu(const Args&, Out<int>) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
  static void cuda(CudaContext&, const Args&, Out<int>) {}
};

/// Runs this many tasks of a kind in one graph and returns the number that ran on cores.
index_t tasks_on_cores(Runtime& runtime, std::uint64_t kind, index_t count) {
  const TileMatrix<int> A(runtime, count, 1, {1, 1});
  Graph g(runtime);
  runtime.reset_statistics();
  for (index_t i = 0; i < count; ++i) g.insert<SlowOnCores>({kind}, A(i, 0));
  g.wait();
  index_t on_cores = 0;
  for (const WorkerUse& use : runtime.statistics().workers) on_cores += use.worker.is_gpu ? 0 : use.tasks;
  return on_cores;
}

}  // namespace

TEST_CASE("cores try a kind of task if a graph has many, and run it only if they are fast enough", "[gpu]") {
  test::require_gpu();
  if (std::getenv("STARPU_CALIBRATE") != nullptr) SKIP("STARPU_CALIBRATE permits all tasks on cores");
  Runtime runtime({.cpus = 2, .gpus = 1, .scheduler = "dmdas", .profile = true});
  const std::uint64_t kind = std::random_device{}();
  CHECK(tasks_on_cores(runtime, kind, 2 * std::ssize(runtime.workers())) == 0);
  CHECK(tasks_on_cores(runtime, kind, 200) >= 10);
  CHECK(tasks_on_cores(runtime, kind, 200) == 0);
}
