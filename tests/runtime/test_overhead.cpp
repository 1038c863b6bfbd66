#include "tests/support/toy_kernels.hpp"
#include "tools/app/median.hpp"

#include <catch2/catch_test_macros.hpp>
#include <starpu.h>

#include <cstdio>
#include <ctime>
#include <vector>

using namespace tesela;
using namespace tesela::test;
using tesela::bench::median;

namespace {

/// Does nothing with one tile.
struct Empty {
  static constexpr auto name = "test_empty";
  struct Args {
    int number = 0;
  };
  static void cpu(const Args&, InOut<double>) {}
};

void empty_function(void**, void*) {}

/// Returns wall time, or processor time of this thread, which other processes do not affect.
double now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double seconds(clockid_t clock, auto f) {
  const double start = now(clock);
  f();
  return now(clock) - start;
}

}  // namespace

TEST_CASE("many more tasks than workers run") {
  Runtime runtime({.gpus = 0});
  const TileMatrix<int> A(runtime, 16, 1, {1, 1});
  for (index_t i = 0; i < 16; ++i) *A(i, 0).write().data = 0;
  Graph g(runtime);
  for (int t = 0; t < 20000; ++t) g.insert<Affine<int>>({1, 1}, A(t % 16, 0));
  CHECK(g.wait().ok());
  for (index_t i = 0; i < 16; ++i) CHECK(value_of(A(i, 0)) == 1250);
}

// Hidden; run by `test_overhead "[.overhead]"` on an idle machine with STARPU_CALIBRATE=0.
TEST_CASE("inserting 100000 empty tasks costs as much as starpu_task_insert", "[.overhead]") {
  constexpr int tasks = 100000, tiles = 64, rounds = 15;
  Runtime runtime({.gpus = 0});
  const TileMatrix<double> A(runtime, tiles, 1, {1, 1});
  std::vector<starpu_data_handle_t> handles;
  A.for_each_tile([&](Tile<double> tile, index_t, index_t) {
    tile.write();
    handles.push_back(static_cast<starpu_data_handle_t>(tile.data().handle()));
  });

  // The same codelet by hand: a name, a model, one tile and one int argument.
  static starpu_perfmodel model{};
  model.type = STARPU_HISTORY_BASED;
  model.symbol = "tesela_test_empty_by_hand";
  static starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = &empty_function;
  codelet.nbuffers = 1;
  codelet.modes[0] = STARPU_RW;
  codelet.model = &model;
  codelet.name = "test_empty_by_hand";

  struct Times {
    std::vector<double> insert, whole;
  } ours, direct;
  for (int round = -2; round < rounds; ++round) {
    double insert = 0, whole = 0;
    whole = seconds(CLOCK_MONOTONIC, [&] {
      Graph g(runtime);
      insert = seconds(CLOCK_THREAD_CPUTIME_ID, [&] {
        for (int t = 0; t < tasks; ++t) g.insert<Empty>({t}, A(t % tiles, 0));
      });
      g.wait();
    });
    if (round >= 0) ours.insert.push_back(insert), ours.whole.push_back(whole);
    whole = seconds(CLOCK_MONOTONIC, [&] {
      insert = seconds(CLOCK_THREAD_CPUTIME_ID, [&] {
        for (int t = 0; t < tasks; ++t)
          starpu_task_insert(&codelet, STARPU_RW, handles[static_cast<std::size_t>(t % tiles)], STARPU_VALUE, &t,
                             sizeof t, 0);
      });
      starpu_task_wait_for_all();
    });
    if (round >= 0) direct.insert.push_back(insert), direct.whole.push_back(whole);
  }
  const double per_task = 1e9 / tasks;
  std::printf("insert (thread): tesela %.0f ns, starpu_task_insert %.0f ns, ratio %.3f\n",
              median(ours.insert) * per_task, median(direct.insert) * per_task,
              median(ours.insert) / median(direct.insert));
  std::printf("insert and wait: tesela %.0f ns, starpu_task_insert %.0f ns, ratio %.3f\n",
              median(ours.whole) * per_task, median(direct.whole) * per_task,
              median(ours.whole) / median(direct.whole));
  CHECK(median(ours.insert) <= 1.05 * median(direct.insert));
  CHECK(median(ours.whole) <= 1.05 * median(direct.whole));
}
