#include "tools/bench/overhead/overhead_peers.hpp"

#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/tiles/generator.hpp>

#include <starpu.h>

#include <array>
#include <atomic>
#include <ctime>

namespace tesela::bench {
namespace {

/// Tasks that ran: a peer that loses some would look fast.
std::atomic<index_t> ran{0};

struct Empty1 {
  static constexpr auto name = "bench_empty1";
  struct Args {
    int value = 0;
  };
  static void cpu(const Args&, InOut<double>) { ran.fetch_add(1, std::memory_order_relaxed); }
};

struct Empty3 {
  static constexpr auto name = "bench_empty3";
  struct Args {
    int value = 0;
  };
  static void cpu(const Args&, In<double>, In<double>, InOut<double>) { ran.fetch_add(1, std::memory_order_relaxed); }
};

void plain_empty(void*[], void*) { ran.fetch_add(1, std::memory_order_relaxed); }

starpu_codelet plain_codelet(int tiles) {
  static std::array<starpu_perfmodel, 2> models{};
  starpu_perfmodel& model = models[tiles == 1 ? 0 : 1];
  model.type = STARPU_HISTORY_BASED;
  model.symbol = tiles == 1 ? "bench_plain_empty1" : "bench_plain_empty3";
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.name = model.symbol;
  codelet.cpu_funcs[0] = &plain_empty;
  codelet.nbuffers = tiles;
  for (int b = 0; b < tiles; ++b) codelet.modes[b] = b == tiles - 1 ? STARPU_RW : STARPU_R;
  codelet.model = &model;
  return codelet;
}

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Insert, class Wait>
double timed(const char* peer, const OverheadCase& what, Insert insert, Wait wait) {
  wait_for_idle_threads();
  ran = 0;
  double seconds = 0;
  if (what.insertion_only) {
    {
      const PausedWorkers paused;
      wait_for_idle_threads();
      seconds = -thread_cpu_seconds();
      insert();
      seconds += thread_cpu_seconds();
    }
    wait();
  } else {
    seconds = seconds_of([&] {
      insert();
      wait();
    });
  }
  if (ran != what.tasks)
    throw WrongResult(std::string("bench overhead: ") + peer + " ran " + std::to_string(ran) + " of " +
                      std::to_string(what.tasks) + " tasks");
  return seconds;
}

}  // namespace

void OverheadTiles::clear(Runtime& runtime) {
  Graph g(runtime);
  fill(g, matrix_, Generator<double>{});
  g.wait();
}

Peer tesela_overhead(Runtime& runtime, const OverheadTiles& tiles, const OverheadCase& what) {
  return {"tesela", [&runtime, &tiles, what] {
            Graph g(runtime);
            const auto a = tiles.read(0), b = tiles.read(1);
            const auto insert = [&] {
              for (index_t t = 0; t < what.tasks; ++t)
                if (what.tiles == 1)
                  g.insert<Empty1>({1}, tiles.written(what, t));
                else
                  g.insert<Empty3>({1}, a, b, tiles.written(what, t));
            };
            return timed("tesela", what, insert, [&] { g.wait(); });
          }};
}

Peer starpu_overhead(const OverheadTiles& tiles, const OverheadCase& what) {
  return {"starpu", [&tiles, what] {
            static starpu_codelet one = plain_codelet(1), three = plain_codelet(3);
            const auto handle = [](const Tile<double>& tile) {
              return static_cast<starpu_data_handle_t>(tile.data().handle());
            };
            const auto a = handle(tiles.read(0)), b = handle(tiles.read(1));
            const int value = 1;
            const auto insert = [&] {
              for (index_t t = 0; t < what.tasks; ++t)
                if (what.tiles == 1)
                  starpu_task_insert(&one, STARPU_VALUE, &value, sizeof value, STARPU_RW,
                                     handle(tiles.written(what, t)), 0);
                else
                  starpu_task_insert(&three, STARPU_VALUE, &value, sizeof value, STARPU_R, a, STARPU_R, b, STARPU_RW,
                                     handle(tiles.written(what, t)), 0);
            };
            return timed("starpu", what, insert, [] { starpu_task_wait_for_all(); });
          }};
}

}  // namespace tesela::bench
