#pragma once

#include "tools/app/report.hpp"
#include <tesela/runtime/graph.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace tesela::cli {

/// What a command does with a graph, as often as --repeat says.
struct Work {
  /// Before each run, outside its time: puts the data back to where it begins.
  std::function<void()> prepare;
  /// Inserts and waits; `last` is the run that is reported. Answers the seconds of it that do not count, as those of
  /// measuring what only the report needs.
  std::function<double(Graph& g, bool last)> run;
  std::optional<double> flops = std::nullopt;  ///< of a run, for the rate; nothing: what the tasks declare
};

/// Runs the work on a new graph each time, after a warm-up where there are several runs or a trace, and gives the
/// report the times, and workers, links and bounds of the last run. A trace begins with the first timed run.
void run_timed(const CommonOptions& options, Runtime& runtime, Report& report, const Work& work);

/// The same of somebody else's library on all cores, or these GPUs, before there is a Runtime, whose workers would take
/// them: what each call took, for report_library().
Timed time_library(const CommonOptions& options, const std::function<void()>& prepare,
                   const std::function<void()>& call, const std::vector<int>& gpus = {});

/// Tells of a library's calls, and of the machine as a Runtime sees it.
void report_library(const CommonOptions& options, Report& report, const Timed& runs, double flops);

/// Graph::wait(), with a progress bar where a person looks on.
Status wait_and_show(Graph& g);

}  // namespace tesela::cli
