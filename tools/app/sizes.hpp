#pragma once

#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/runtime/types.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tesela::cli {

/// Returns the sizes in "512" or "512x128": one to `most` positive integers. Throws ArgumentError with the option and
/// its form for any other text.
std::vector<index_t> parse_sizes(const std::string& option, const std::string& text, const std::string& form,
                                 std::size_t most);

/// Return the tiles of --tile: "512" or "512x128", for a product also "512x128x256" (kb defaults to nb). Empty:
/// `suitable`.
TileShape parse_tile(const std::string& text, TileShape suitable);
GemmTile parse_gemm_tile(const std::string& text, GemmTile suitable);

/// Returns "a,b" as a range a <= lambda < b. Throws ArgumentError with the command.
std::pair<double, double> parse_range(const std::string& command, const std::string& text);

/// Returns the number of values within `accuracy` of an end of a range [low, high): they may belong to either side.
std::ptrdiff_t values_near_ends(std::span<const double> values, std::pair<double, double> range, double accuracy);

/// Throws EnvironmentError if memory and swap together are smaller than `bytes`: each matrix alone might be allocated,
/// and the process killed when it is touched. `what` names the matrices. After plan_only(), prints the plan instead and
/// throws PlanShown.
void require_memory(const std::string& command, const std::string& what, double bytes);

/// Makes require_memory() end this command with its plan, printed unless `quiet`, or written as JSON to a path.
void plan_only(const std::string& command, const std::string& json_path, bool quiet);

/// Ends a command that only shows its plan.
struct PlanShown {
  int code;  ///< exit code
};

}  // namespace tesela::cli
