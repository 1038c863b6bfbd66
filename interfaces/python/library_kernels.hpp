#pragma once

#include "interfaces/python/tiles.hpp"
#include <tesela/runtime/any_kernel.hpp>
#include <tesela/runtime/dynamic_kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The kernels of codelets/ for Python, from the list that kernel_list.py writes.

namespace tesela::python {

/// A member of a kernel's Args: a number, an enumerator, or several.
struct ArgsField {
  enum class Kind : std::uint8_t { boolean, int32, int64, uint64, float32, float64, enumerator };
  std::string name;  // record.field for the field of a record
  std::string comment;
  Kind kind;
  std::size_t offset, bytes, count;  // the bytes of one; a count of 0 is a single value
  std::vector<std::string> values;   // of an enumeration, which has one byte
};

/// A kernel for tiles of these types.
struct LibraryInstance {
  const AnyKernel* kernel;
  DynamicKernel object;
  std::vector<Element> elements;
  std::vector<ArgsField> fields;
  std::vector<std::string> required;  // fields, and records, without a default
  std::vector<std::byte> defaults;    // Args
};

struct LibraryKernel {
  std::string name, header, comment;
  std::vector<std::string> tiles;  // their names
  std::vector<LibraryInstance> instances;
};

/// A kernel that Python cannot insert, and the reason.
struct UnreachableKernel {
  std::string name, reason;
};

std::vector<LibraryKernel> library_kernels();
std::vector<UnreachableKernel> unreachable_kernels();

/// Adds tesela.LibraryKernel.
void add_library_kernels(nb::module_& module);
/// Inserts a task if the object is a LibraryKernel; otherwise returns false.
bool insert_library_kernel(GraphObject& graph, nb::handle kernel, const nb::args& tiles, Priority priority,
                           const nb::kwargs& arguments);
/// Returns the tiles of a task; throws for other objects and for tiles of another graph.
std::vector<AnyTile> places_of(const std::string& kernel, const GraphObject& graph, const nb::args& tiles);

}  // namespace tesela::python
