#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tesela::cli {

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

}  // namespace tesela::cli
