#pragma once

#include <nanobind/nanobind.h>

namespace tesela::python {

namespace nb = nanobind;
using namespace nanobind::literals;

/// A file's additions to the module: one object in each file of interfaces/.
class Part {
 public:
  explicit Part(void (*add)(nb::module_&));
};

/// Adds all parts.
void add_parts(nb::module_& module);

}  // namespace tesela::python
