#pragma once

#include <string>
#include <vector>

namespace tesela::bench {

/// Grouped bars, one group a category; or, where the categories are numbers `x`, lines. Whiskers go from low to high.
struct Chart {
  struct Series {
    std::string name;
    std::string color;                     // "#rrggbb"
    std::vector<double> value, low, high;  // one for each category; NaN where there is none
    bool dashed = false;                   // of lines
  };
  std::string title, y_label, x_label;
  bool logarithmic = false;
  std::vector<std::string> categories;
  std::vector<double> x;  // ascending, as many as categories; empty: bars
  bool ideal = false;     // a grey line from the first series' first value, proportional to x
  std::vector<Series> series;
};

/// Returns the gnuplot script that draws the chart as SVG on standard output.
std::string gnuplot_script(const Chart& chart);

/// The chart as SVG, drawn by gnuplot. Throws EnvironmentError when gnuplot is not installed or fails.
std::string draw_svg(const Chart& chart);

}  // namespace tesela::bench
