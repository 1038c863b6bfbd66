#pragma once

#include <tesela/runtime/trace.hpp>

#include <string>

namespace tesela::cli {

/// Writes the schedule as Chrome trace events (JSON) for Perfetto and about:tracing: a thread per worker, a complete
/// event per task with its priority, tiles, Gflop and waiting time since its insertion.
void write_trace_events(const Trace& trace, const std::string& path);

}  // namespace tesela::cli
