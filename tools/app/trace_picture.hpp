#pragma once

#include <tesela/runtime/trace.hpp>

#include <string>

namespace tesela::cli {

/// The schedule as SVG: a row per worker, a bar per task in its kernel's declared colour, a legend with each kernel's
/// tasks and their time. Kernels of the same or nearly the same colour are told apart by stripes. Only what runs
/// between `from` and `to` seconds is drawn; `to` 0 means the end.
std::string trace_picture(const Trace& trace, double from = 0, double to = 0);

}  // namespace tesela::cli
