#pragma once

#include <tesela/algorithms/support/schedule.hpp>

#include <string>

namespace tesela::cli {

/// The most rows and columns that a picture shows.
constexpr index_t largest_picture = 512;

/// Returns a schedule as SVG: the matrix with each entry in the colour of its stage, numbered if there is room, and the
/// number of rotations of each stage, which is the key to the colours. Throws ArgumentError beyond
/// largest_picture.
std::string draw_schedule(const Schedule& schedule);

/// Returns the dependences of a schedule's entries for Graphviz, a rank for each stage. An elimination follows the last
/// one of either of its rows; in a schedule of sums an entry follows its pivot and the last terms from its row and its
/// column. Implied dependences are left out. Throws ArgumentError beyond 10000 entries.
std::string schedule_dot(const Schedule& schedule);

}  // namespace tesela::cli
