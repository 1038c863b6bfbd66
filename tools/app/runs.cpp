#include "tools/app/runs.hpp"

#include "tools/app/program.hpp"
#include "tools/app/progress.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/energy.hpp>
#include <tesela/runtime/simulation/simulation.hpp>
#include <tesela/runtime/trace/task_recorder.hpp>

#include <algorithm>

namespace tesela::cli {
namespace {

/// Calls prepare(run) and times run(run), without the seconds that run returns. Runs count from 0; a warm-up is run -1.
template <class Prepare, class Run>
Timed timed_runs(const CommonOptions& options, const std::vector<int>& gpus, const Prepare& prepare, const Run& run) {
  Timed runs;
  std::optional<EnergyMeter> meter;
  if (options.energy) meter.emplace(gpus);
  const int warm_up = options.repeat > 1 || options.records() ? 1 : 0;
  for (int r = -warm_up; r < options.repeat; ++r) {
    prepare(r);
    show_progress(Stage::solving);
    if (meter && r >= 0) meter->resume();
    const double start = clock_seconds(), left_out = run(r);
    if (r >= 0) runs.seconds.push_back(clock_seconds() - start - left_out);
    if (meter && r >= 0) meter->pause();
    if (Runtime::cancelled()) throw Cancelled();
  }
  if (meter) runs.energy = meter->energy();
  return runs;
}

std::vector<int> gpus_of(const Runtime& runtime) {
  std::vector<int> gpus;
  for (const Worker& worker : runtime.workers())
    if (worker.is_gpu && std::find(gpus.begin(), gpus.end(), worker.device) == gpus.end())
      gpus.push_back(worker.device);
  return gpus;
}

[[noreturn]] void finish_simulation(Report& report) {
  const SimulatedTimes times = simulated_times();
  report.section("simulation", {{"task_s", times.seconds},
                                {"interpolated_s", times.interpolated_seconds},
                                {"interpolated_kernels", times.kernels}});
  report.remark("ok (simulated)");
  throw Simulated{report.finish()};
}

}  // namespace

void run_timed(const CommonOptions& options, Runtime& runtime, Report& report, const Work& work) {
  std::optional<Graph> g;
  std::optional<TaskRecorder> recorder;
  const auto prepare = [&](int run) {
    g.reset();
    if (work.prepare) work.prepare();
    if (run == 0 && !options.trace_dir.empty()) runtime.start_trace();
    if (run >= 0 && options.repeat > 1 && !options.trace_dir.empty())
      runtime.mark_trace("run " + std::to_string(run + 1));
    runtime.reset_statistics();
    if (run == options.repeat - 1 && !options.page_path.empty()) recorder.emplace(runtime);
  };
  const Timed runs = timed_runs(options, gpus_of(runtime), prepare, [&](int run) {
    g.emplace(runtime, GraphOptions{.record = true});
    return work.run(*g, run == options.repeat - 1);
  });
  if (!options.trace_dir.empty()) runtime.stop_trace();  // without the checks of the result
  if (recorder) report.recorded(recorder->stop());
  report.measured(runtime, *g, runs, work.flops);
  if (is_simulated()) finish_simulation(report);
}

Timed time_library(const CommonOptions& options, const std::function<void()>& prepare,
                   const std::function<void()>& call, const std::vector<int>& gpus) {
  return timed_runs(
      options, gpus, [&](int) { prepare(); },
      [&](int) {
        call();
        return 0.0;
      });
}

void report_library(const CommonOptions& options, Report& report, const Timed& runs, double flops) {
  Runtime runtime(options.runtime());
  const Graph none(runtime);
  report.measured(runtime, none, runs, flops);
}

Status wait_with_progress(Graph& g) {
  const bool started = start_progress();  // a command without a report
  show_progress(Stage::solving, g.tasks());
  const Status status = g.wait();
  if (started) end_progress();
  return status;
}

}  // namespace tesela::cli
