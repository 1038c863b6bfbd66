#pragma once

#include "interfaces/python/arrays.hpp"
#include "interfaces/python/call.hpp"

#include <initializer_list>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <string>

namespace tesela::python {

/// NAME(rank=2, status='ok'): the members that fit a line.
inline std::string describe(nb::handle result, std::initializer_list<const char*> members) {
  std::string text = nb::cast<std::string>(result.type().attr("__name__")) + "(";
  const char* separator = "";
  for (const char* member : members) {
    text += separator + std::string(member) + "=" + nb::cast<std::string>(nb::repr(result.attr(member)));
    separator = ", ";
  }
  return text + ")";
}

/// A number of each right-hand side: one for a vector, else an array.
template <class T>
nb::object number_or_numbers(const Argument& b, const std::vector<T>& numbers) {
  if (b.is_vector() && numbers.size() == 1) return nb::float_(static_cast<double>(numbers[0]));
  return to_python(numbers, b.library());
}

}  // namespace tesela::python
