#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/runtime/types.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tesela::bench {

/// A measured case. The columns of the CSV are its members and those of Row.
struct Case {
  std::string title;            ///< in tables and plots, "n = 4096"
  index_t m = 0, n = 0, k = 0;  ///< 0: does not apply
  std::string tile, data;
  std::string rate_unit;       ///< unit of Row::rate
  std::string precision = {};  ///< empty: the option's
};

/// One peer in one case.
struct Row {
  Case what;
  Timing timing;
  double ratio = 1;  ///< its median time / the median time of the case's first peer
  double rate = 0;   ///< from the median
  double rate_low = 0, rate_high = 0;
  double ceiling = 0;         ///< the machine's ceiling of the same rate, measured in the same run; 0: not measured
  double published_s = 0;     ///< a source's time of the same case (docs/sources.md); 0: none
  double published_rate = 0;  ///< its rate; 0: none
  int gpus = 0;
  std::vector<std::pair<std::string, double>> more = {};  ///< further columns of this benchmark, at the end
};

}  // namespace tesela::bench
