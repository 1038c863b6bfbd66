#pragma once

#include "tools/app/chart.hpp"
#include "tools/bench/harness/row.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// Returns the chart of a benchmark's rows, either just measured or read from its CSV: title, axes and scale follow
/// from the benchmark and the rows. Rows with several numbers of GPUs, or with three or more sizes, become lines;
/// others groups of bars. `where` is the machine, in the title's second line.
Chart chart_of(const std::string& benchmark, const std::vector<Row>& rows, const std::string& where);

/// Returns the colour "#rrggbb" of a peer, the same in every chart: ours blue, NVIDIA's red and orange, peers on cores
/// green; empty for a peer that is not in the list.
std::string color_of_peer(const std::string& peer);

}  // namespace tesela::bench
