#pragma once

#include "tools/app/report.hpp"
#include <tesela/runtime/graph.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace tesela::cli {

/// The timed work of a command, repeated as --repeat requires.
struct Work {
  /// Restores the data before each run, outside its time.
  std::function<void()> prepare;
  /// Inserts tasks and waits; `last`: the run is reported. Returns the seconds to exclude from its time, such as
  /// measurements for the report.
  std::function<double(Graph& g, bool last)> run;
  std::optional<double> flops = std::nullopt;  ///< per run, for the rate; empty: the flops that the tasks declare
};

/// Runs the work on a new graph each time, after a warm-up if there are several runs or a trace. Reports the times, and
/// workers, links and bounds of the last run. A trace begins with the first timed run;
/// --report records the last one.
void run_timed(const CommonOptions& options, Runtime& runtime, Report& report, const Work& work);

/// Times another library on all cores or on these GPUs, before a Runtime exists, whose workers would occupy them.
/// Returns the time of each call, for report_library().
Timed time_library(const CommonOptions& options, const std::function<void()>& prepare,
                   const std::function<void()>& call, const std::vector<int>& gpus = {});

/// Reports a library's calls, and the machine as a Runtime describes it.
void report_library(const CommonOptions& options, Report& report, const Timed& runs, double flops);

/// Calls Graph::wait(), with a progress bar on a terminal.
Status wait_with_progress(Graph& g);

}  // namespace tesela::cli
