#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tesela::cli {

/// Returns the elements of "a,b,c", including empty ones: n commas separate n + 1 elements.
std::vector<std::string> split_list(std::string_view text, char separator = ',');

/// Returns the error message for the first list with an empty element ("1,,2", "1,2,") among the words of a command
/// line; CLI11 drops such elements.
std::optional<std::string> empty_list_element(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace tesela::cli
