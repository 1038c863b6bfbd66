#pragma once

#include "tools/app/arguments.hpp"
#include <tesela/algorithms/support/named.hpp>

#include <span>
#include <string>
#include <vector>

namespace tesela::cli {

/// Names that an option accepts, each with its meaning.
class Choices {
 public:
  template <class E>
  Choices& add(std::span<const Named<E>> all) {
    for (const Named<E>& one : all) add(one.name, one.about);
    return *this;
  }
  /// Does nothing if the name already exists.
  Choices& add(const std::string& name, const std::string& about);
  /// `before`: beginning of the help text.
  Option* add_option(App& app, const std::string& option, std::string& value, const std::string& before = "") const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::string about_;
};

}  // namespace tesela::cli
