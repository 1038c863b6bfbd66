#pragma once

#include <tesela/runtime/trace.hpp>
#include <tesela/runtime/trace/trace_summary.hpp>

#include <string>
#include <vector>

namespace tesela {

/// Returns the schedule as SVG: a row per worker, a bar per task in its kernel's declared colour, and a legend with
/// each kernel's tasks and their time. Stripes distinguish kernels of similar colours. A tooltip shows kernel, tiles,
/// start and duration of a task; dark edges mark the tasks of the critical path, and dashed lines the trace's marks.
/// Draws tasks between `from` and `to` seconds; `to` = 0 means the end.
std::string trace_picture(const Trace& trace, double from = 0, double to = 0);

/// A trace and its title in a picture of several.
struct TitledTrace {
  std::string title;  ///< above the schedule
  Trace trace;        ///< its tasks
};
/// Returns the pictures of all traces, one below the other, from `from` to `to` seconds (0: the latest end of all).
std::string trace_pictures(const std::vector<TitledTrace>& traces, double from = 0, double to = 0);

/// Throws EnvironmentError if this build has no pages, because D3 was not found.
void require_trace_page();

/// Returns an HTML page that needs no other file and no network: schedule, graph, kernels, models, memory, bounds.
///
/// title    of the page, as text.
/// report   a JSON object that the page shows as well: the report of a command, or "{}".
/// Throws   EnvironmentError as require_trace_page().
std::string trace_page(const Trace& trace, const TraceSummary& summary, const std::string& title,
                       const std::string& report);

}  // namespace tesela
