#pragma once

#include "tools/bench/harness/chart.hpp"
#include "tools/bench/harness/row.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// The chart of a benchmark's rows, whether they were just measured or read from its CSV: title, axes and scale follow
/// from the benchmark and from what the rows say of themselves. Rows of several numbers of GPUs, or of three sizes and
/// more, become lines; others groups of bars. `where` is the machine, in the title's second line.
Chart chart_of(const std::string& benchmark, const std::vector<Row>& rows, const std::string& where);

/// "#rrggbb" of a peer, the same in every chart: ours blue, NVIDIA's red and orange, those on cores green. Empty for
/// one that this list does not know.
std::string color_of_peer(const std::string& peer);

}  // namespace tesela::bench
