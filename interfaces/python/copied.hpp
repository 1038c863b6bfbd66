#pragma once

#include "interfaces/python/arrays.hpp"

#include <initializer_list>
#include <utility>

namespace tesela::python {

/// Returns the names of the arguments that were copied before the tasks began: ('a', 'b'), or ().
template <class T>
nb::tuple copied(std::initializer_list<std::pair<const Argument*, const Columns<T>*>> all) {
  nb::list names;
  for (const auto& [argument, columns] : all)
    if (columns->copied() || argument->converted()) names.append(argument->name());
  return nb::tuple(names);
}
inline constexpr const char* copied_doc =
    "Names of the arguments that were copied first: arrays in C order, which tasks transpose, and arrays in Fortran "
    "order that must not be overwritten.";

}  // namespace tesela::python
