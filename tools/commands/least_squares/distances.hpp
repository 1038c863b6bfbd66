#pragma once

#include "tools/app/report.hpp"

#include <functional>
#include <vector>

namespace tesela::cli {

/// Reports `distance`, the largest distance of a right-hand side from the consistent ones, and for an inconsistent
/// problem with several right-hand sides the inconsistent `columns`.
void report_distances(const std::vector<double>& distances, bool inconsistent, Report& report,
                      const std::function<bool(std::size_t)>& possible);

}  // namespace tesela::cli
