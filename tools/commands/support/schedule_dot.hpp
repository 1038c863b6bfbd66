#pragma once

#include <tesela/algorithms/support/schedule.hpp>

#include <string>

namespace tesela::cli {

/// The dependences of a schedule's entries for Graphviz, a rank for each stage: an elimination follows the last part of
/// either of its rows; of sums an entry follows the last that its sum takes from its row and from its column, and its
/// pivot. What these imply is left out. Throws ArgumentError beyond 10000 entries.
std::string schedule_dot(const Schedule& schedule);

}  // namespace tesela::cli
