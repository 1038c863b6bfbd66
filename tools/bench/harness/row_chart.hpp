#pragma once

#include "tools/bench/harness/chart.hpp"
#include "tools/bench/harness/row.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// Returns the chart of a benchmark's rows, measured now or read from its CSV: the benchmark and the rows determine
/// title, axes and scale. Rows of several numbers of GPUs, or of three or more sizes, become lines; other rows become
/// groups of bars. `where` is the machine, in the title's second line.
Chart chart_of(const std::string& benchmark, const std::vector<Row>& rows, const std::string& where);

/// Returns the "#rrggbb" of a peer, the same in every chart: ours blue, NVIDIA's red and orange, peers on cores green.
/// Returns an empty string for unknown peers.
std::string color_of_peer(const std::string& peer);

}  // namespace tesela::bench
