#include "tools/bench/harness/report.hpp"
#include "tools/bench/overhead/overhead_peers.hpp"

#include <fmt/format.h>

#include <malloc.h>

namespace tesela::bench {
namespace {

struct OverheadOptions : Options {
  index_t tasks = 100000;
};

void run(OverheadOptions o) {
  if (o.common.ncuda < 0) o.common.ncuda = 0;  // the tasks are empty CPU functions
  if (o.common.ncpu == 0) throw EnvironmentError("bench overhead: --ncpu 0 leaves no worker for its CPU tasks");
  // Else the C library gives a graph's memory back or not as its heap happens to end, and page faults double a figure.
  mallopt(M_TRIM_THRESHOLD, -1);
  Runtime runtime(o.runtime());
  Report report("overhead", o, &runtime);
  OverheadTiles tiles(runtime);
  tiles.clear(runtime);
  struct Kind {
    const char* title;
    bool chained, insertion_only;
  };
  for (const auto& [title, chained, insertion_only] :
       {Kind{"insertion", false, true}, Kind{"independent", false, false}, Kind{"chained", true, false}})
    for (const int count : {1, 3}) {
      const OverheadCase what{o.tasks, count, chained, insertion_only};
      const Case row{
          fmt::format("{}, {} tile{}", title, count, count == 1 ? "" : "s"), 0, o.tasks, 0, "1x1", "host", "us/task"};
      report.add(row, alternate({starpu_overhead(tiles, what), tesela_overhead(runtime, tiles, what)}, o.common.repeat),
                 0, [&](double seconds) { return seconds * 1e6 / static_cast<double>(o.tasks); });
    }
  report.note(
      "n is the number of tasks. insertion: CPU time of the inserting thread while the workers sleep; "
      "independent, chained: wall time until the last task has run");
  report.finish();
}

const cli::Command overhead_command(cli::Command::Group::bench, "overhead",
                                    "empty tasks through our layer and by starpu_task_insert", [](cli::App& app) {
                                      auto o = std::make_shared<OverheadOptions>();
                                      o->common.repeat = 9;
                                      o->add_to(app, "overhead", {.precision = false, .seed = false});
                                      app.add_option("--tasks", o->tasks, "of each graph")->positive()->show_default();
                                      return std::function<int()>([o] { return guarded([&] { run(*o); }); });
                                    });

}  // namespace
}  // namespace tesela::bench
