#pragma once

#include "interfaces/python/arrays.hpp"

#include <initializer_list>
#include <utility>

namespace tesela::python {

/// Names of the arguments that were copied before the tasks began: ('a', 'b'), or ().
template <class T>
nb::tuple copied(std::initializer_list<std::pair<const Argument*, const Columns<T>*>> all) {
  nb::list names;
  for (const auto& [argument, columns] : all)
    if (columns->copied() || argument->converted()) names.append(argument->name());
  return nb::tuple(names);
}
inline constexpr const char* copied_doc =
    "Names of the arguments that were copied first: those in C order, which a pass of tasks turns, and in Fortran "
    "order "
    "those that must not be lost.";

}  // namespace tesela::python
