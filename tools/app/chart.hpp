#pragma once

#include <string>
#include <vector>

namespace tesela::bench {

/// Grouped bars, one group per category; or lines if the categories are numbers `x`. Whiskers extend from low to high.
struct Chart {
  struct Series {
    std::string name;
    std::string color;                     // "#rrggbb"
    std::vector<double> value, low, high;  // one per category; NaN without a value
    bool dashed = false;                   // for lines
  };
  std::string title, y_label, x_label;
  bool logarithmic = false;
  std::vector<std::string> categories;
  std::vector<double> x;  // ascending, one per category; empty: bars
  bool ideal = false;     // a grey line from the first series' first value, proportional to x
  std::vector<Series> series;
};

/// Returns gnuplot's commands that draw the chart as SVG on its standard output.
std::string gnuplot_script(const Chart& chart);

/// Returns the chart as SVG, drawn by gnuplot. Throws EnvironmentError if gnuplot is not installed or fails.
std::string draw_svg(const Chart& chart);

}  // namespace tesela::bench
