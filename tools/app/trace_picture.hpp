#pragma once

#include <tesela/runtime/trace.hpp>

#include <string>

namespace tesela::cli {

/// Returns the schedule as SVG: a row per worker, a bar per task in its kernel's declared colour, and a legend with
/// each kernel's tasks and their time. Stripes distinguish kernels of similar colours. Draws tasks between `from` and
/// `to` seconds; `to` = 0 means the end.
std::string trace_picture(const Trace& trace, double from = 0, double to = 0);

}  // namespace tesela::cli
