#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace tesela {

/// One of several choices, as commands and other languages call it.
template <class E>
struct Named {
  E value;
  const char* name;
  const char* about;  ///< in one line
};

/// The choice of this name, if there is one.
template <class E>
std::optional<E> find_named(std::span<const Named<E>> all, std::string_view name) {
  const auto one = std::find_if(all.begin(), all.end(), [&](const Named<E>& each) { return each.name == name; });
  return one == all.end() ? std::nullopt : std::optional(one->value);
}

/// The name of a choice that is in the list.
template <class E>
const char* name_of(std::span<const Named<E>> all, E value) {
  return std::find_if(all.begin(), all.end(), [&](const Named<E>& each) { return each.value == value; })->name;
}

}  // namespace tesela
