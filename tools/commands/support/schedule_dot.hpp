#pragma once

#include <tesela/algorithms/support/schedule.hpp>

#include <string>

namespace tesela::cli {

/// Returns the dependences of a schedule's entries for Graphviz, a rank for each stage. An elimination follows the last
/// one of either of its rows; in a schedule of sums an entry follows its pivot and the last terms from its row and its
/// column. Implied dependences are left out. Throws ArgumentError beyond 10000 entries.
std::string schedule_dot(const Schedule& schedule);

}  // namespace tesela::cli
