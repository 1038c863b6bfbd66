#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace tesela::cli {

/// Returns a report's `regression`, with an object for each right-hand side, as tables: unknown, estimate, standard
/// error, t or z, p and interval. Long tables are truncated.
std::string regression_table(const nlohmann::json& regression);

}  // namespace tesela::cli
