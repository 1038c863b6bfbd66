#pragma once

#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/runtime/types.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tesela::cli {

/// The sizes in "512" or "512x128": one to `most` positive integers. Throws ArgumentError, which names the option and
/// its form, for anything else.
std::vector<index_t> parse_sizes(const std::string& option, const std::string& text, const std::string& form,
                                 std::size_t most);

/// The tiles of --tile: "512" or "512x128", and of a product "512x128x256" (kb is nb unless given). Empty: `suitable`.
TileShape parse_tile(const std::string& text, TileShape suitable);
GemmTile parse_gemm_tile(const std::string& text, GemmTile suitable);

/// "a,b" as a range a <= lambda < b. Throws ArgumentError, of this command.
std::pair<double, double> parse_range(const std::string& command, const std::string& text);

/// Refuses what memory and swap together cannot hold: each matrix alone might be granted, until one is touched too
/// many. `what` names the matrices that take so many bytes. Throws EnvironmentError.
void require_memory(const std::string& command, const std::string& what, double bytes);

}  // namespace tesela::cli
