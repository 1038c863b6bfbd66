#include "cli/app/runs.hpp"

#include "cli/app/progress.hpp"
#include <tesela/runtime/errors.hpp>

namespace tesela::cli {
namespace {

/// prepare(run), and the time that run(run) takes but for the seconds that it answers; runs count from -1 where there
/// is a warm-up.
template <class Prepare, class Run>
std::vector<double> seconds_of_runs(const CommonOptions& options, const Prepare& prepare, const Run& run) {
  std::vector<double> seconds;
  const int warm_up = options.repeat > 1 || !options.trace_dir.empty() ? 1 : 0;
  for (int r = -warm_up; r < options.repeat; ++r) {
    prepare(r);
    const Stopwatch watch;
    const double left_out = run(r);
    if (r >= 0) seconds.push_back(watch.seconds() - left_out);
    if (Runtime::cancelled()) throw Cancelled();
  }
  return seconds;
}

}  // namespace

void run_timed(const CommonOptions& options, Runtime& runtime, Report& report, const Work& work) {
  std::optional<Graph> g;
  const auto prepare = [&](int run) {
    g.reset();
    if (work.prepare) work.prepare();
    if (run == 0 && !options.trace_dir.empty()) runtime.start_trace();
    runtime.reset_statistics();
  };
  const auto seconds = seconds_of_runs(options, prepare, [&](int run) {
    g.emplace(runtime, GraphOptions{.record = true});
    return work.run(*g, run == options.repeat - 1);
  });
  if (!options.trace_dir.empty()) runtime.stop_trace();  // what checks the result is no part of it
  report.measured(runtime, *g, seconds, work.flops);
}

std::vector<double> time_library(const CommonOptions& options, const std::function<void()>& prepare,
                                 const std::function<void()>& call) {
  return seconds_of_runs(
      options, [&](int) { prepare(); },
      [&](int) {
        call();
        return 0.0;
      });
}

void report_library(const CommonOptions& options, Report& report, const std::vector<double>& seconds, double flops) {
  Runtime runtime(options.runtime());
  const Graph none(runtime);
  report.measured(runtime, none, seconds, flops);
}

Status wait_and_show(Graph& g) {
  const ProgressBar progress(g.tasks());
  return g.wait();
}

}  // namespace tesela::cli
