#pragma once

#include <nanobind/nanobind.h>

namespace tesela::python {

namespace nb = nanobind;
using namespace nanobind::literals;

/// What a file of interfaces/ adds to the module: one object of its own, before any function of it.
class Part {
 public:
  explicit Part(void (*add)(nb::module_&));
};

/// Adds all of them.
void add_parts(nb::module_& module);

}  // namespace tesela::python
