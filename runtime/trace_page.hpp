#pragma once

#include <tesela/runtime/trace_summary.hpp>

#include <string>

namespace tesela {

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
