#pragma once

#include <string>
#include <vector>

namespace tesela::bench {

/// Grouped bars: for each category one bar of each series, with whiskers from low to high.
struct Chart {
  struct Series {
    std::string name;
    std::vector<double> value, low, high;  // one for each category; NaN where there is none
  };
  std::string title, y_label;
  bool logarithmic = false;
  std::vector<std::string> categories;
  std::vector<Series> series;
};

/// What gnuplot is told to draw the chart as SVG on its standard output.
std::string gnuplot_script(const Chart& chart);

/// The chart as SVG, drawn by gnuplot. Throws EnvironmentError when gnuplot is not installed or fails.
std::string draw_svg(const Chart& chart);

}  // namespace tesela::bench
