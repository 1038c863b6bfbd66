#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// Returns the command with sizes for `factor` times the work: the third root of it in each direction of a matrix, the
/// factor itself in --n of tridiag and --m of ols, rounded to a multiple of 64. Throws ArgumentError without a size.
std::vector<std::string> grown(std::vector<std::string> command, double factor);

/// Draws rates over the number of GPUs, or of cores if only runs without a GPU differ: each scheduler's, its bound, and
/// a proportional line. `runs`: of the report. Throws EnvironmentError without gnuplot.
void plot_scaling(const std::string& title, const nlohmann::json& runs, const std::string& path);

}  // namespace tesela::cli
