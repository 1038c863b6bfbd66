#include "tests/support/machine.hpp"
#include "tests/support/toy_kernels.hpp"
#include "tests/support/variable.hpp"
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/internal/topology_parts.hpp>
#include <tesela/runtime/runtime.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <thread>
#include <time.h>

using namespace tesela::test;

namespace {

double run_one_task(Runtime& runtime, double value) {
  const TileMatrix<double> A(runtime, 1, 1, {1, 1});
  Graph g(runtime);
  g.insert<Set<double>>({value}, A(0, 0));
  g.wait();
  return value_of(A(0, 0));
}

/// Returns the contents of all StarPU files of a performance model.
std::string model_file(const std::string& symbol) {
  std::string text;
  const char* home = std::getenv("STARPU_HOME");
  if (home == nullptr) return text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home)) {
    const std::string file = entry.path().filename().string();
    if (!entry.is_regular_file() || file.rfind(symbol + ".", 0) != 0) continue;
    std::ifstream in(entry.path());
    text.append(std::istreambuf_iterator<char>(in), {});
  }
  return text;
}

}  // namespace

TEST_CASE("a process can start and stop the runtime many times") {
  for (int round = 0; round < 5; ++round) {
    Runtime runtime({.cpus = 1 + round % 2, .gpus = 0});
    CHECK(runtime.cpus() == 1 + round % 2);
    CHECK(runtime.gpus() == 0);
    CHECK(run_one_task(runtime, round) == round);
  }
}

TEST_CASE("a second runtime is refused while the first one exists, and the first remains usable") {
  Runtime first({.cpus = 1, .gpus = 0});
  CHECK_THROWS_AS(Runtime(), LifetimeError);
  CHECK_THROWS_AS(Runtime({.cpus = 1, .gpus = 0}), LifetimeError);
  CHECK(run_one_task(first, 3) == 3);
}

TEST_CASE("the scheduler comes from the option, then STARPU_SCHED, then a default") {
  const Variable sched("STARPU_SCHED", nullptr);
  const Variable ncuda("STARPU_NCUDA", "0");
  const auto scheduler = [](const RuntimeOptions& options) { return Runtime(options).scheduler(); };
  CHECK(scheduler({.cpus = 1, .gpus = 0}) == "lws");
  CHECK(scheduler({.cpus = 1}) == "lws");  // STARPU_NCUDA=0 means no GPU on any machine
  sched.set("");
  CHECK(scheduler({.cpus = 1, .gpus = 0}) == "lws");
  sched.set("eager");
  CHECK(scheduler({.cpus = 1, .gpus = 0}) == "eager");
  CHECK(scheduler({.cpus = 1, .gpus = 0, .scheduler = "prio"}) == "prio");
  CHECK(std::string(std::getenv("STARPU_SCHED")) == "eager");
}

TEST_CASE("an unknown scheduler is an error of the argument or the environment, and the message lists the known ones") {
  const Variable sched("STARPU_SCHED", "nonesuch");
  CHECK_THROWS_MATCHES(Runtime({.cpus = 1, .gpus = 0}), EnvironmentError,
                       MessageMatches(ContainsSubstring("STARPU_SCHED=nonesuch") && ContainsSubstring("lws") &&
                                      ContainsSubstring("dmdas")));
  CHECK_THROWS_MATCHES(Runtime({.cpus = 1, .gpus = 0, .scheduler = "nonesuch2"}), ArgumentError,
                       MessageMatches(ContainsSubstring("nonesuch2") && ContainsSubstring("lws")));
  Runtime runtime({.cpus = 1, .gpus = 0, .scheduler = "eager"});
  CHECK(run_one_task(runtime, 4) == 4);
}

TEST_CASE("the number of workers comes from the option, then STARPU_NCPU") {
  const Variable ncpu("STARPU_NCPU", "1");
  CHECK(Runtime({.gpus = 0}).cpus() == 1);
  if (describe_machine().cores < 2) SKIP("one core here");
  CHECK(Runtime({.cpus = 2, .gpus = 0}).cpus() == 2);
  CHECK(std::string(std::getenv("STARPU_NCPU")) == "1");
}

TEST_CASE("the option and STARPU_NCPU refuse too many workers") {
  CHECK_THROWS_MATCHES(Runtime({.cpus = 100000, .gpus = 0}), Error,
                       MessageMatches(ContainsSubstring("100000 workers on") && ContainsSubstring("too many")));
  const Variable ncpu("STARPU_NCPU", "100000");
  CHECK_THROWS_MATCHES(
      Runtime({.gpus = 0}), EnvironmentError,
      MessageMatches(ContainsSubstring("STARPU_NCPU: 100000 workers on") && ContainsSubstring("too many")));
  CHECK(Runtime({.cpus = 1, .gpus = 0}).cpus() == 1);
}

TEST_CASE("cores are counted like in StarPU, within the thread's binding") {
  if (std::getenv("STARPU_NCPU") != nullptr) SKIP("STARPU_NCPU decides here");
  CHECK(detail::usable_cores() == Runtime({.gpus = 0}).cpus());
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const int bound = detail::usable_cores();
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(bound <= 1);  // 0 if the core has several threads
  CHECK(detail::usable_cores() >= bound);
}

TEST_CASE("with a GPU one core is left to the inserting thread by default", "[gpu]") {
  require_gpu();
  const int left_alone = [] {
    const Variable reserve("STARPU_RESERVE_NCPU", "0");
    return Runtime({.gpus = 1}).cpus();
  }();
  if (left_alone < 2) SKIP("at most two cores here");
  CHECK(Runtime({.gpus = 1}).cpus() == left_alone - 1);
  CHECK(Runtime({.cpus = left_alone, .gpus = 1}).cpus() == left_alone);
}

TEST_CASE("invalid numbers in the environment are refused by name and value") {
  for (const char* name : {"STARPU_NCPU", "STARPU_NCUDA", "STARPU_LIMIT_CUDA_MEM"})
    for (const char* value : {"two", "-3", "-1", "1x", "99999999999999999999"}) {
      const Variable variable(name, value);
      CHECK_THROWS_MATCHES(
          Runtime(), EnvironmentError,
          MessageMatches(ContainsSubstring(std::string(name) + "=" + value) && ContainsSubstring("set it to")));
    }
  for (const char* name : {"TESELA_IDLE_NAP", "TESELA_RECEIVED_MIB"}) {
    const Variable variable(name, "much");
    CHECK_THROWS_MATCHES(Runtime(), EnvironmentError, MessageMatches(ContainsSubstring(std::string(name) + "=much")));
  }
  {
    const Variable ncpu("STARPU_NCPU", "two");  // an option overrides it
    CHECK(Runtime({.cpus = 1, .gpus = 0}).cpus() == 1);
  }
  const Variable ncpu("STARPU_NCPU", "1"), limit("STARPU_LIMIT_CUDA_MEM", "500");
  CHECK(Runtime({.gpus = 0}).cpus() == 1);
}

TEST_CASE("idle workers leave their cores to other processes") {
#ifndef TESELA_OWN_STARPU
  SKIP("this StarPU is not the one of scripts/setup");
#endif
  if (const char* longest = std::getenv("TESELA_IDLE_NAP"); longest != nullptr && std::string(longest) == "0")
    SKIP("TESELA_IDLE_NAP=0");
  Runtime runtime({.cpus = 2, .gpus = 0});
  CHECK(run_one_task(runtime, 3) == 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto used = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double before = used();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(used() - before < 0.15);  // two polling workers would take 0.6 s
  CHECK(run_one_task(runtime, 4) == 4);
}

TEST_CASE("more GPUs than available are refused") {
  CHECK_THROWS_MATCHES(Runtime({.gpus = 4096}), EnvironmentError,
                       MessageMatches(ContainsSubstring("4096 GPUs wanted")));
  CHECK(Runtime({.cpus = 1, .gpus = 0}).cpus() == 1);
}

TEST_CASE("negative worker counts are refused") {
  const Variable sched("STARPU_SCHED", nullptr);
  CHECK_THROWS_MATCHES(Runtime({.cpus = -1}), ArgumentError, MessageMatches(ContainsSubstring("cpus")));
  CHECK_THROWS_MATCHES(Runtime({.gpus = -2}), ArgumentError, MessageMatches(ContainsSubstring("gpus")));
  CHECK_THROWS_MATCHES(Runtime({.gpu_megabytes = 0}), ArgumentError,
                       MessageMatches(ContainsSubstring("gpu_megabytes")));
  CHECK(std::getenv("STARPU_SCHED") == nullptr);
}

TEST_CASE("without workers the message names the settings, and a later runtime works") {
  {
    const Variable ncpu("STARPU_NCPU", "0");
    const Variable ncuda("STARPU_NCUDA", "0");
    for (int round = 0; round < 2; ++round)
      CHECK_THROWS_MATCHES(Runtime(), EnvironmentError, MessageMatches(ContainsSubstring("STARPU_NCPU=0")));
  }
  Runtime runtime({.cpus = 1, .gpus = 0});
  CHECK(run_one_task(runtime, 5) == 5);
}

TEST_CASE("the environment is unchanged after the runtime has started") {
  const Variable sched("STARPU_SCHED", nullptr), ncpu("STARPU_NCPU", nullptr), ncuda("STARPU_NCUDA", "0");
  Runtime runtime({.cpus = 1, .gpus = 0, .scheduler = "eager"});
  CHECK(std::getenv("STARPU_SCHED") == nullptr);
  CHECK(std::getenv("STARPU_NCPU") == nullptr);
  CHECK(std::string(std::getenv("STARPU_NCUDA")) == "0");
}

TEST_CASE(
    "a graph and a matrix may outlive their runtime: use throws, destruction is safe, results are in host memory") {
  std::vector<double> memory(16, 1.0);
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.cpus = 1, .gpus = 0});
  const auto A = TileMatrix<double>::map(*runtime, memory.data(), 4, 4, 4, {2, 2});
  const TileMatrix<double> B(*runtime, 4, 4, {2, 2});
  Graph g(*runtime), held(*runtime, {.longest_path_priorities = true});
  const Tile<int> status = g.status();
  A.for_each_tile([&](Tile<double> tile, index_t, index_t) { g.insert<Affine<double>>({2, 1}, tile); });
  held.insert<Affine<double>>({10, 0}, A(0, 0));
  B.for_each_tile([&](Tile<double> tile, index_t, index_t) { held.insert<Set<double>>({1}, tile); });
  runtime.reset();
  CHECK(memory[0] == 30);
  CHECK(memory[15] == 3);
  for (Graph* graph : {&g, &held}) {
    CHECK_THROWS_AS(graph->insert<Affine<double>>({2, 1}, A(0, 0)), LifetimeError);
    CHECK_THROWS_AS(graph->wait(), LifetimeError);
    CHECK_THROWS_AS(graph->submit(), LifetimeError);
    CHECK_THROWS_AS(graph->status(), LifetimeError);
    CHECK_THROWS_AS(graph->scratch<double>(1, 1), LifetimeError);
    CHECK_THROWS_AS(graph->bring_home(A(0, 0)), LifetimeError);
    CHECK_THROWS_AS(graph->prefetch_to_gpu(A(0, 0), 0), LifetimeError);
    CHECK_THROWS_AS(graph->forget(A(0, 0)), LifetimeError);
    CHECK_THROWS_AS(graph->tasks(), LifetimeError);
    CHECK_THROWS_AS(graph->bounds(), LifetimeError);
    CHECK_THROWS_AS(graph->write_dot("unwritten.dot"), LifetimeError);
  }
  CHECK_THROWS_AS(A(0, 0).read(), LifetimeError);
  CHECK_THROWS_AS(A(0, 0).write(), LifetimeError);
  CHECK_THROWS_AS(status.read(), LifetimeError);
  CHECK_THROWS_AS(B.copy_to(memory.data(), 4), LifetimeError);
  CHECK_THROWS_AS(B.copy_from(memory.data(), 4), LifetimeError);
  CHECK_THROWS_AS(A.bring_home(), LifetimeError);

  // Old handles stay invalid with a new runtime.
  Runtime next({.cpus = 1, .gpus = 0});
  Graph h(next);
  CHECK_THROWS_AS(h.insert<Affine<double>>({2, 1}, A(0, 0)), LifetimeError);
  CHECK_THROWS_AS(g.wait(), LifetimeError);
  CHECK(h.wait().ok());
}

TEST_CASE("a host access that outlives the runtime neither blocks its end nor crashes") {
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.cpus = 1, .gpus = 0});
  std::vector<double> memory(4, 1.0);
  const auto A = TileMatrix<double>::map(*runtime, memory.data(), 2, 2, 2, {2, 2});
  const auto block = A(0, 0).read();
  const auto again = A(0, 0).read();
  runtime.reset();
  CHECK(memory[3] == 1.0);
}

TEST_CASE("arrays mapped for a GPU may overlap partly only within page-locked memory", "[gpu]") {
  test::require_gpu();
  Runtime runtime({.cpus = 1, .gpus = 1});
  std::vector<double> memory(30);
  const auto map = [&](std::size_t first, index_t rows) {
    return TileMatrix<double>::map(runtime, memory.data() + first, rows, 1, rows, {rows, 1}, "part");
  };
  {
    const TileMatrix<double> one = map(0, 20);
    CHECK_THROWS_AS(map(10, 20), ArgumentError);
  }
  const PinnedMemory whole(runtime, memory.data(), memory.size() * sizeof(double));
  const TileMatrix<double> one = map(0, 20), other = map(10, 20);
  CHECK(other.m() == 20);
}

TEST_CASE("page-locked memory belongs to one runtime and does not affect the next one") {
  require_gpu();
  std::vector<double> memory(1 << 20, 1.0);
  auto first = std::make_unique<Runtime>(RuntimeOptions{.cpus = 1, .gpus = 1});
  auto buffer = std::make_unique<HostBuffer>(*first, memory.size() * sizeof(double));
  auto pinned = std::make_unique<PinnedMemory>(*first, memory.data(), memory.size() * sizeof(double));
  first.reset();
  Runtime second({.cpus = 1, .gpus = 1});
  buffer.reset();
  pinned.reset();
  CHECK(run_one_task(second, 3) == 3);
}

TEST_CASE("performance models survive a restart of the runtime") {
  struct Timed {
    static void work(Runtime& runtime, int tasks) {
      const TileMatrix<int> A(runtime, 3, 3, {3, 3});
      Graph g(runtime);
      g.insert<Set<int>>({0}, A(0, 0));
      for (int t = 0; t < tasks; ++t) g.insert<Sleep>({2, nullptr}, A(0, 0));
      g.wait();
    }
    static Bounds expected(Runtime& runtime) {
      const TileMatrix<int> A(runtime, 3, 3, {3, 3});
      Graph g(runtime, {.longest_path_priorities = true});
      A(0, 0).write().data[0] = 0;
      g.insert<Sleep>({0, nullptr}, A(0, 0));
      return g.bounds();  // before this runtime gave StarPU any data on the kernel
    }
  };
  {
    const Calibration calibration;
    Runtime runtime({.cpus = 1, .gpus = 0});
    Timed::work(runtime, 20);
  }
  for (int round = 0; round < 3; ++round) {
    Runtime runtime({.cpus = 1, .gpus = 0});
    const Bounds bounds = Timed::expected(runtime);
    CHECK(bounds.untimed == 0);
    CHECK(bounds.path_seconds >= 0.0019);
    CHECK(bounds.path_seconds <= 0.1);
  }
  CHECK_FALSE(model_file("tesela_test_sleep").empty());
}

namespace {

/// A user's kernel with the name of ours.
struct UsersGemm {
  static constexpr auto name = "gemm";
  struct Args {};
  static void cpu(const Args&, Out<int> a) { *a.data = 1; }
};

}  // namespace

TEST_CASE("a user's kernel called gemm has its own history") {
  const Calibration calibration;
  const std::string ours = model_file("tesela_gemm");  // it may contain runs of other programs
  {
    Runtime runtime({.cpus = 1, .gpus = 0});
    const TileMatrix<int> A(runtime, 1, 1, {1, 1});
    Graph g(runtime);
    for (int i = 0; i < 20; ++i) g.insert<UsersGemm>({}, A(0, 0));
    CHECK(g.wait().ok());
  }
  CHECK_FALSE(model_file("user_gemm").empty());
  CHECK(model_file("tesela_gemm").size() == ours.size());
}

TEST_CASE("dropped tasks leave no times in the performance models") {
  const Calibration calibration;
  {
    Runtime runtime({.cpus = 1, .gpus = 0});
    const TileMatrix<int> A(runtime, 5, 5, {5, 5});
    Graph g(runtime, {.record = true});
    A(0, 0).write().data[0] = 0;
    for (int t = 0; t < 15; ++t) g.insert<Sleep>({3, nullptr}, A(0, 0));
    g.wait();
    std::atomic<bool> open{false};
    g.insert<Gate>({&open}, A(0, 0));
    for (int t = 0; t < 200; ++t) g.insert<Sleep>({3, nullptr}, A(0, 0));
    Runtime::cancel();
    open = true;
    CHECK_THROWS_AS(g.wait(), Cancelled);
    A(0, 0).write().data[0] = 0;
    Graph h(runtime, {.record = true});
    h.insert<Sleep>({3, nullptr}, A(0, 0));
    CHECK(h.wait().ok());
    const Bounds bounds = h.bounds();
    CHECK(bounds.untimed == 0);
    CHECK(bounds.path_seconds >= 0.0029);
  }
}
