#pragma once

#include "tools/bench/harness/chart.hpp"
#include "tools/bench/harness/row.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// A figure of a source (docs/sources.md), drawn again.
struct SourceFigure {
  std::string name;  ///< "figure-11"
  Chart chart;       ///< the source's axes; its values if it prints them, and ours
};

/// Returns the figures that a benchmark repeats, if its rows, just measured or read from its CSV, have their values.
std::vector<SourceFigure> source_figures(const std::string& benchmark, const std::vector<Row>& rows);

}  // namespace tesela::bench
