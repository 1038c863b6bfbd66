#pragma once

#include <tesela/algorithms/support/schedule.hpp>

#include <string>

namespace tesela::cli {

/// The most rows and columns that a picture shows.
constexpr index_t largest_picture = 512;

/// A schedule as SVG: the matrix with each entry in the colour of its stage, numbered while there is room, and beside
/// it how many rotations each stage has, which is also the key to the colours. Throws ArgumentError beyond
/// largest_picture.
std::string draw_schedule(const Schedule& schedule);

}  // namespace tesela::cli
