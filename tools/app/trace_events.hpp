#pragma once

#include <tesela/runtime/trace.hpp>

#include <string>

namespace tesela::cli {

/// Writes the schedule as Chrome's trace events (JSON), which Perfetto and the browsers' about:tracing open: a thread
/// per worker, a complete event per task with its priority, tiles, Gflop and the time it waited since it was inserted.
void write_trace_events(const Trace& trace, const std::string& path);

}  // namespace tesela::cli
