#include "tools/app/choices.hpp"

#include <algorithm>

namespace tesela::cli {

Choices& Choices::add(const std::string& name, const std::string& about) {
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return *this;
  names_.push_back(name);
  about_ += (about_.empty() ? "" : "; ") + name + (about.empty() ? "" : " (" + about + ")");
  return *this;
}

Option* Choices::add_option(App& app, const std::string& option, std::string& value, const std::string& before) const {
  const bool apart = before.empty() || before.back() == ' ';
  return app.add_option(option, value, before + (apart ? "" : ": ") + about_)
      ->check(one_of(names_))
      ->capture_default_str();
}

}  // namespace tesela::cli
