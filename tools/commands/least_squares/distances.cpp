#include "tools/commands/least_squares/distances.hpp"

#include <algorithm>
#include <cmath>

namespace tesela::cli {

void report_distances(const std::vector<double>& distances, bool inconsistent, Report& report,
                      const std::function<bool(std::size_t)>& possible) {
  double worst = 0;
  for (const double distance : distances) worst = std::isnan(distance) ? distance : std::max(worst, distance);
  report.check("distance", worst);
  if (!inconsistent || distances.size() < 2) return;
  nlohmann::json columns = nlohmann::json::array();
  for (std::size_t j = 0; j < distances.size(); ++j)
    columns.push_back({{"status", possible(j) ? "ok" : "inconsistent"}, {"distance", distances[j]}});
  report.columns(columns);
}

}  // namespace tesela::cli
