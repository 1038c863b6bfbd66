#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/runtime/types.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tesela::bench {

/// The measured case: the peers' times for it. The columns of the CSV are the members of Case and of Row.
struct Case {
  std::string title;            ///< in tables and plots, "n = 4096"
  index_t m = 0, n = 0, k = 0;  ///< 0: does not apply
  std::string tile, data;
  std::string rate_unit;       ///< what Row::rate counts
  std::string precision = {};  ///< empty: the option's
};

/// One peer in one case.
struct Row {
  Case what;
  Timing timing;
  double ratio = 1;  ///< its median time over the first peer's
  double rate = 0;   ///< from the median
  double rate_low = 0, rate_high = 0;
  double ceiling = 0;         ///< the machine's ceiling for this rate, measured in the same run; 0: not measured
  double published_s = 0;     ///< what was published for the same; 0: none
  double published_rate = 0;  ///< the same, where a rate was published
  int gpus = 0;
  std::vector<std::pair<std::string, double>> more = {};  ///< columns that only this benchmark has, at the end
};

}  // namespace tesela::bench
