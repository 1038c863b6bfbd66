#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tesela::cli {

/// Returns the elements of "a,b,c", empty ones too: n commas separate n + 1 elements.
std::vector<std::string> split_list(std::string_view text, char separator = ',');

/// Returns the complaint about the first list among the words of a command line that has an empty element ("1,,2",
/// "1,2,"). CLI11 leaves such elements out.
std::optional<std::string> empty_list_element(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace tesela::cli
