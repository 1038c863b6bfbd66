#pragma once

#include "tools/bench/harness/row.hpp"

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

/// Returns the chart of a benchmark's rows, either just measured or read from its CSV: title, axes and scale follow
/// from the benchmark and the rows. Rows with several numbers of GPUs, or with three or more sizes, become lines;
/// others groups of bars. `where` is the machine, in the title's second line.
Chart chart_of(const std::string& benchmark, const std::vector<Row>& rows, const std::string& where);

/// Returns the colour "#rrggbb" of a peer, the same in every chart: ours blue, NVIDIA's red and orange, peers on cores
/// green; empty for a peer that is not in the list.
std::string color_of_peer(const std::string& peer);

}  // namespace tesela::bench
