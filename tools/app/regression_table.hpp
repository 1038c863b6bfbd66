#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace tesela::cli {

/// Returns a report's `regression`, which has an object for each right-hand side, as tables for a person: unknown,
/// estimate, standard error, t or z, p and interval. Long ones are cut short.
std::string regression_table(const nlohmann::json& regression);

}  // namespace tesela::cli
