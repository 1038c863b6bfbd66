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

/// Lets a result be unpacked, as SciPy's tuples: the members that are not None.
template <class R, class... Options>
void unpacks(nb::class_<R, Options...>& result, nb::tuple (*members)(const R&)) {
  result.def("__iter__", [members](const R& r) { return nb::iter(members(r)); });
  result.def("__len__", [members](const R& r) { return nb::len(members(r)); });
  result.def("__getitem__", [members](const R& r, nb::object i) { return members(r).attr("__getitem__")(i); });
}

/// Of every function that finds eigenvectors; module.cpp binds it.
struct EighResult {
  AnyArray eigenvalues, eigenvectors;
};

/// A number of each right-hand side: one for a vector, else an array.
template <class T>
nb::object number_or_numbers(const Argument& b, const std::vector<T>& numbers) {
  if (b.is_vector() && numbers.size() == 1) return nb::float_(static_cast<double>(numbers[0]));
  return to_python(numbers, b.place());
}

}  // namespace tesela::python
