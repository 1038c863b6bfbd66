#pragma once

#include <tesela/algorithms/support/schedule.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tesela::cli {

/// Colours of curves, by turns.
constexpr const char* curve_colors[] = {"#4c72b0", "#dd8452", "#55a868", "#c44e52",
                                        "#8172b3", "#937860", "#da8bc3", "#8c8c8c"};

/// Returns the text with entities in place of the characters that XML reserves.
std::string escaped(const std::string& text);

/// Lines over numbers, or bars, for an SVG.
struct LinePicture {
  struct Line {
    std::string name;
    std::vector<std::pair<double, double>> points = {};  ///< x and y; others than finite ones are left out
    bool bars = false;                                   ///< whether a bar at each x replaces the line
    std::vector<std::pair<double, double>> marks = {};   ///< points with a large mark and a label of x
  };
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;  ///< logarithmic axes: points that are not positive are left out
  std::vector<Line> lines;
};

/// Returns the picture as SVG.
std::string draw(const LinePicture& picture);

/// Writes text to a file, unless the path is empty.
void write_text(const std::string& path, const std::string& text);

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
