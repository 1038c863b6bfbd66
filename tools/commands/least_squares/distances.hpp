#pragma once

#include "tools/app/report.hpp"

#include <functional>
#include <vector>

namespace tesela::cli {

/// `distance`: how far right-hand sides are from what is possible, at most. Of an inconsistent problem with several
/// `columns` says which are.
void report_distances(const std::vector<double>& distances, bool inconsistent, Report& report,
                      const std::function<bool(std::size_t)>& possible);

}  // namespace tesela::cli
