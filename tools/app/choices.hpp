#pragma once

#include <tesela/algorithms/support/named.hpp>

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <vector>

namespace tesela::cli {

/// What an option may be: names, each with what it means.
class Choices {
 public:
  template <class E>
  Choices& add(std::span<const Named<E>> all) {
    for (const Named<E>& one : all) add(one.name, one.about);
    return *this;
  }
  /// Nothing where the name is there already.
  Choices& add(const std::string& name, const std::string& about);
  /// `before` opens the text.
  CLI::Option* add_option(CLI::App& app, const std::string& option, std::string& value,
                          const std::string& before = "") const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::string about_;
};

}  // namespace tesela::cli
