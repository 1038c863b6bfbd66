#include "tests/support/test.hpp"
#include "tests/support/toy_kernels.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <optional>
#include <unistd.h>

// An endless program creates a graph for each step, or uses one graph and waits in each step. Time and memory of a step
// of ten tasks and a status must not grow.

using namespace tesela::test;

namespace {

struct Step {
  static constexpr auto name = "test_step";
  struct Args {};
  static void cpu(const Args&, InOut<double> a, Out<int> status) {
    *a.data += 1;
    *status.data = 0;
  }
};

struct Endless {
  bool one_graph = false;  ///< otherwise a graph for each step
  bool temporary = false;  ///< a matrix that lives for one step, in addition to the permanent tiles
};

double megabytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

struct Decile {
  /// Processor time of a step in this thread, which other processes hardly affect: the minimum over groups of ten
  /// steps.
  double seconds = std::numeric_limits<double>::infinity();
  double elapsed = 0;    ///< mean wall time of a step
  double megabytes = 0;  ///< at the end of the decile
};

double now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::array<Decile, 10> measure(Endless how, index_t steps, bool print) {
  constexpr index_t together = 10, tasks = 10;
  Runtime runtime({.cpus = 1, .gpus = 0});
  const TileMatrix<double> A(runtime, tasks, 1, {1, 1});
  for (index_t i = 0; i < tasks; ++i) *A(i, 0).write().data = 0;
  std::optional<Graph> one;
  std::optional<Tile<int>> status;
  if (how.one_graph) status = one.emplace(runtime).status();
  const auto step = [&](Graph& g, const Tile<int>& s) {
    std::optional<TileMatrix<double>> temporary;
    if (how.temporary) {
      temporary.emplace(runtime, 1, 1, TileShape{1, 1});
      g.insert<Set<double>>({1}, (*temporary)(0, 0));
    }
    for (index_t i = how.temporary ? 1 : 0; i < tasks; ++i) g.insert<Step>({}, A(i, 0), s);
    REQUIRE(g.wait().ok());
  };
  std::array<Decile, 10> deciles;
  for (Decile& d : deciles) {
    const double start = now(CLOCK_MONOTONIC);
    for (index_t k = 0; k < steps / 10; k += together) {
      const double begin = now(CLOCK_THREAD_CPUTIME_ID);
      for (index_t i = 0; i < together; ++i) {
        if (how.one_graph) {
          step(*one, *status);
        } else {
          Graph g(runtime);
          step(g, g.status());
        }
      }
      d.seconds = std::min(d.seconds, (now(CLOCK_THREAD_CPUTIME_ID) - begin) / together);
    }
    d.elapsed = (now(CLOCK_MONOTONIC) - start) / (static_cast<double>(steps) / 10);
    d.megabytes = megabytes();
    if (print) {
      std::printf("%10.3f us, %10.3f us of the inserting thread, %10.3f MB\n", d.elapsed * 1e6, d.seconds * 1e6,
                  d.megabytes);
      std::fflush(stdout);
    }
  }
  CHECK(value_of(A(tasks - 1, 0)) == static_cast<double>(steps));
  return deciles;
}

/// Other processes can slow down a whole decile at any time, but growth with the steps appears in every run. A run that
/// seems to grow is therefore repeated.
void check_constant(Endless how, index_t steps, bool print) {
  CAPTURE(how.one_graph, how.temporary, steps);
  Decile early, late;
  for (int run = 0; run < 4; ++run) {
    const auto deciles = measure(how, steps, print);
    early = deciles[1], late = deciles[9];  // the first decile fills caches and pools
    if (late.seconds <= 2 * early.seconds) break;
  }
  CAPTURE(early.seconds, late.seconds, early.megabytes, late.megabytes);
  CHECK(late.seconds <= 2 * early.seconds);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers keep freed memory
  CHECK(late.megabytes - early.megabytes <= 0.5);
#endif
}

}  // namespace

TEST_CASE("20 000 graphs, or steps of one graph, take constant time and memory") {
  const auto [one_graph, temporary, steps] =
      GENERATE(table<bool, bool, index_t>({{false, false, 20000}, {false, true, 5000}, {true, true, 5000}}));
  check_constant({one_graph, temporary}, steps, false);
}

// Hidden, since it takes minutes; run by `test_endless "[.endless]"`.
TEST_CASE("a million graphs, or steps of one graph, take constant time and memory", "[.endless]") {
  const bool one_graph = GENERATE(false, true), temporary = GENERATE(false, true);
  std::printf("%s%s: a step, memory after a tenth of the steps\n", one_graph ? "one graph" : "a graph a step",
              temporary ? ", with a temporary matrix each" : "");
  check_constant({one_graph, temporary}, 1000000, true);
}
