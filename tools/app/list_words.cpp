#include "tools/app/list_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tesela::cli {

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> all;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    all.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return all;
}

std::optional<std::string> empty_list_element(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  const CLI::Option* option = nullptr;  // the option that the word belongs to
  std::string path;
  for (const std::string& word : words) {
    std::string_view value = word;
    if (word.size() > 1 && word[0] == '-') {
      // --name=value, --name, -nVALUE
      const std::size_t end = word.starts_with("--") ? std::min(word.find('='), word.size()) : 2;
      if (const CLI::Option* named = command->get_option_no_throw(word.substr(0, end))) {
        option = named;
        value.remove_prefix(std::min(word.size(), word.starts_with("--") ? end + 1 : end));
        if (value.empty()) continue;
      }
    } else if (option == nullptr) {
      const auto inner = command->get_subcommands([&word](const CLI::App* one) { return one->get_name() == word; });
      if (!inner.empty()) command = inner.front(), path += (path.empty() ? "" : " ") + word;
      continue;
    }
    if (option == nullptr || option->get_delimiter() == '\0') continue;
    const std::vector<std::string> elements = split_list(value, option->get_delimiter());
    if (const auto empty = std::find(elements.begin(), elements.end(), ""); empty != elements.end())
      return fmt::format("{0}: {1}: element {2} of '{3}' is empty; see tesela {0} --help", path, option->get_name(),
                         empty - elements.begin() + 1, value);
  }
  return std::nullopt;
}

}  // namespace tesela::cli
