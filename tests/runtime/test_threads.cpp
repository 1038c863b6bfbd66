#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/algorithms/dense/gemm.hpp>

#include <functional>
#include <future>
#include <stdexcept>
#include <thread>

using namespace tesela::test;

namespace {

/// A separate kernel for each number, so that threads meet at a kernel's first use; for one worker and one tile.
template <int number>
struct Fresh {
  static constexpr auto name = "test_fresh";
  struct Args {};
  static double flops(const Args&, Shape, Shape) { return 1; }
  static void cpu(const Args&, In<double> a, InOut<double> sum) { *sum.data += *a.data + number; }
};

struct UseScratch {
  static constexpr auto name = "test_use_scratch";
  struct Args {};
  static void cpu(const Args&, In<double> a, Scratch<double> work, InOut<double> sum) {
    *work.data = *a.data;
    *sum.data += *work.data;
  }
};

/// Throws if the condition is false; Catch2's assertions may be used in one thread only.
void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

/// Runs f(0), f(1), … in threads that start together, and rethrows an exception of one of them.
void in_threads(int threads, const std::function<void(int)>& f) {
  std::atomic<int> ready{0};
  std::vector<std::future<void>> all;
  for (int t = 0; t < threads; ++t)
    all.push_back(std::async(std::launch::async, [&, t] {
      for (++ready; ready < threads;) std::this_thread::yield();
      f(t);
    }));
  for (auto& thread : all) thread.get();
}

/// Opens a gate after a while, so that a failed test ends.
class Watchdog {
 public:
  explicit Watchdog(std::atomic<bool>& gate) : gate_(gate) {}
  ~Watchdog() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool>& gate_;
  std::atomic<bool> over_{false};
  std::thread thread_{[this] {
    for (int ms = 0; ms < 10000 && !over_; ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    gate_ = true;
  }};
};

}  // namespace

CORES_TEST_CASE("threads with separate graphs read the same tiles") {
  const GraphOptions options =
      GENERATE(GraphOptions{}, GraphOptions{.record = true}, GraphOptions{.longest_path_priorities = true});
  constexpr int threads = 4, rounds = 3, tasks = 2000;
  const TileMatrix<double> A(runtime, 3, 1, {1, 1}, "shared");
  for (index_t i = 0; i < 3; ++i) *A(i, 0).write().data = static_cast<double>(i + 1);
  std::vector<double> sums(threads * rounds);
  std::vector<Bounds> bounds(threads * rounds);
  in_threads(threads, [&](int thread) {
    for (int round = 0; round < rounds; ++round) {
      const auto slot = static_cast<std::size_t>(thread * rounds + round);
      const TileMatrix<double> sum(runtime, 1, 1, {1, 1}, "own");
      Graph g(runtime, options);
      g.insert<Set<double>>({0}, sum(0, 0));
      for (int t = 0; t < tasks; ++t) {
        g.insert<Fresh<0>>({}, A(t % 3, 0), sum(0, 0));
        if (t % 500 == 0) g.bring_home(A(t % 3, 0));
        if (t % 700 == 0) require(value_of(A(1, 0)) == 2, "a shared tile on the host");
      }
      g.wait();
      bounds[slot] = g.bounds();
      sums[slot] = value_of(sum(0, 0));
    }
  });
  double expected = 0;
  for (int t = 0; t < tasks; ++t) expected += t % 3 + 1;
  CHECK(sums == std::vector<double>(threads * rounds, expected));
  for (const Bounds& b : bounds) {
    CHECK(b.tasks == tasks + 1);
    CHECK(b.path_flops == tasks + 1);
  }
  for (index_t i = 0; i < 3; ++i) CHECK(value_of(A(i, 0)) == static_cast<double>(i + 1));
}

CORES_TEST_CASE("several threads use kernels, statuses, scratch and reductions at their first use") {
  constexpr int threads = 4;
  const TileMatrix<double> A(runtime, 1, 1, {1, 1});
  *A(0, 0).write().data = 1;
  in_threads(threads, [&](int thread) {
    for (int round = 0; round < 20; ++round) {
      const TileMatrix<double> x(runtime, 1, 1, {1, 1}), reduced(runtime, 1, 1, {1, 1});
      Graph g(runtime, {.record = round % 2 == 0});
      const Tile<int> status = g.status(100 * thread);
      g.reduction<Set<double>, Combine<double>>(reduced(0, 0));
      g.insert<Set<double>>({0}, x(0, 0));
      g.insert<Fresh<1>>({}, A(0, 0), x(0, 0));
      g.insert<Fresh<2>>({}, A(0, 0), x(0, 0));
      g.insert<Fresh<3>>({}, A(0, 0), x(0, 0));
      for (int i = 0; i < 10; ++i) {
        g.insert<UseScratch>({}, A(0, 0), g.scratch<double>(1, 1), x(0, 0));
        g.insert<Contribute<double>>({2}, reduced(0, 0));
      }
      g.insert<ReportInfo>({round + 1}, status);
      require(g.wait().info == 100 * thread + round + 1, "a status");
      require(value_of(x(0, 0)) == 19, "scratch");
      require(value_of(reduced(0, 0)) == 20, "a reduction");
    }
  });
}

CORES_TEST_CASE("an algorithm runs in two threads with one matrix") {
  const index_t n = 60;
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 7);
  const auto A = TileMatrix<double>::map(runtime, a.data(), n, n, n, {16, 16});
  std::vector<std::vector<double>> products(3);
  const auto multiply = [&](int thread) {
    for (int round = 0; round < 5; ++round) {
      const TileMatrix<double> C(runtime, n, n, {16, 16});
      Graph g(runtime, {.record = true});
      gemm(g, Op::none, Op::transpose, 1.0, A, A, 0.0, C);
      g.wait();
      products[static_cast<std::size_t>(thread)] = to_vector(C);
    }
  };
  multiply(2);
  in_threads(2, multiply);
  CHECK(products[0] == products[2]);
  CHECK(products[1] == products[2]);
}

TEST_CASE("a graph waits only for its own tasks") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  if (runtime.cpus() < 2) SKIP("one core here");
  const GraphOptions options =
      GENERATE(GraphOptions{}, GraphOptions{.record = true}, GraphOptions{.longest_path_priorities = true});
  const bool destroy = GENERATE(false, true);
  const TileMatrix<int> A(runtime, 2, 1, {1, 1});
  for (index_t i = 0; i < 2; ++i) *A(i, 0).write().data = 0;
  std::atomic<bool> open{false};
  Graph blocked(runtime);
  blocked.insert<Gate>({&open}, A(0, 0));
  const Watchdog watchdog(open);
  {
    Graph g(runtime, options);
    const Tile<int> status = g.status();
    for (int i = 0; i < 10; ++i) g.insert<Affine<int>>({1, 1}, A(1, 0));
    g.insert<ReportInfo>({3}, status);
    g.bring_home(A(1, 0));
    if (!destroy) CHECK(g.wait().info == 3);
  }
  CHECK_FALSE(open);
  CHECK(Runtime::pending_tasks() == 1);
  CHECK(value_of(A(1, 0)) == 10);
  open = true;
  CHECK(blocked.wait().ok());
  CHECK(Runtime::pending_tasks() == 0);
}

CORES_TEST_CASE("a wait ends while another thread keeps inserting") {
  const TileMatrix<int> A(runtime, 2, 1, {1, 1});
  for (index_t i = 0; i < 2; ++i) *A(i, 0).write().data = 0;
  std::atomic<bool> over{false};
  const Watchdog watchdog(over);
  std::atomic<int> inserted{0}, ran{0};
  std::thread other([&] {
    Graph g(runtime);
    while (!over) {
      if (Runtime::pending_tasks() > 100) continue;
      g.insert<Sleep>({1, &ran}, A(0, 0));
      ++inserted;
    }
  });
  while (inserted < 100) std::this_thread::yield();
  for (int round = 0; round < 20; ++round) {
    Graph g(runtime);
    g.insert<Affine<int>>({1, 1}, A(1, 0));
    CHECK(g.wait().ok());
  }
  CHECK_FALSE(over);
  over = true;
  other.join();
  CHECK(ran == inserted);
  CHECK(value_of(A(1, 0)) == 20);
}

TEST_CASE("a cancellation reported by one graph also drops earlier tasks of another") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  if (runtime.cpus() < 2) SKIP("one core here");
  const TileMatrix<int> A(runtime, 2, 1, {1, 1});
  for (index_t i = 0; i < 2; ++i) *A(i, 0).write().data = 0;
  std::atomic<bool> open{false};
  std::atomic<int> ran{0};
  Graph g(runtime), h(runtime);
  h.insert<Gate>({&open}, A(0, 0));
  const Watchdog watchdog(open);
  for (int i = 0; i < 10; ++i) h.insert<Sleep>({0, &ran}, A(0, 0));
  g.insert<Affine<int>>({1, 1}, A(1, 0));
  Runtime::cancel();
  CHECK_THROWS_AS(g.wait(), Cancelled);
  CHECK_FALSE(Runtime::cancelled());
  CHECK_FALSE(open);
  g.insert<Set<int>>({1}, A(1, 0));  // after the report, so not dropped
  CHECK(g.wait().ok());
  open = true;
  CHECK_THROWS_AS(value_of(A(0, 0)), Cancelled);
  CHECK_THROWS_AS(h.wait(), Cancelled);
  CHECK(ran == 0);
  CHECK(h.wait().ok());
  h.insert<Set<int>>({0}, A(0, 0));
  h.insert<Sleep>({0, &ran}, A(0, 0));
  CHECK(h.wait().ok());
  CHECK(ran == 1);
}

CORES_TEST_CASE("threads can wait, cancel and continue") {
  std::atomic<int> cancellations{0};
  in_threads(4, [&](int thread) {
    const TileMatrix<int> x(runtime, 1, 1, {1, 1});
    Graph g(runtime, {.record = thread % 2 == 0});
    for (int round = 0; round < 50; ++round) {
      g.insert<Set<int>>({0}, x(0, 0));
      for (int i = 0; i < 20; ++i) g.insert<Affine<int>>({1, 1}, x(0, 0));
      if (thread == 0 && round % 10 == 5) Runtime::cancel();
      try {
        g.wait();
        require(value_of(x(0, 0)) == 20, "no task was dropped");
      } catch (const Cancelled&) {
        ++cancellations;
      }
    }
  });
  CHECK(cancellations > 0);
}
