#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace tesela {

/// A choice with the name that commands and other languages use.
template <class E>
struct Named {
  E value;            ///< the choice
  const char* name;   ///< its name
  const char* about;  ///< description in one line
};

/// Returns the choice with this name, if there is one.
template <class E>
std::optional<E> find_named(std::span<const Named<E>> all, std::string_view name) {
  const auto one = std::find_if(all.begin(), all.end(), [&](const Named<E>& each) { return each.name == name; });
  return one == all.end() ? std::nullopt : std::optional(one->value);
}

/// Returns the name of a choice, which must be in the list.
template <class E>
const char* name_of(std::span<const Named<E>> all, E value) {
  return std::find_if(all.begin(), all.end(), [&](const Named<E>& each) { return each.value == value; })->name;
}

}  // namespace tesela
