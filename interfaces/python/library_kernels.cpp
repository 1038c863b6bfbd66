// tesela.LibraryKernel: a kernel of codelets/ for Graph.insert.
#include "interfaces/python/library_kernels.hpp"

#include "interfaces/python/flag.hpp"
#include "interfaces/python/results.hpp"

#include <algorithm>
#include <cstring>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <tuple>

namespace tesela::python {
namespace {

using Kind = ArgsField::Kind;

const std::vector<LibraryKernel>& all_kernels() {
  static const auto& all = *new std::vector<LibraryKernel>(library_kernels());
  return all;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

/// Returns the kind of value that Python passes.
std::string type_of(const ArgsField& f) {
  std::string type = f.kind == Kind::boolean                              ? "bool"
                     : f.kind == Kind::float32 || f.kind == Kind::float64 ? "float"
                                                                          : "int";
  if (f.kind == Kind::enumerator) {
    type.clear();
    for (const std::string& value : f.values) type.append(type.empty() ? "'" : " or '").append(value).append("'");
  }
  return f.count > 0 ? "up to " + std::to_string(f.count) + " x " + type : type;
}

template <class V>
void store(std::byte* place, V value) {
  std::memcpy(place, &value, sizeof value);
}
template <class V>
V load(const std::byte* place) {
  V value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

/// Stores one value at a place in Args; returns false if it has another type or is out of range.
bool store(const ArgsField& f, std::byte* place, nb::handle given) {
  if (f.kind == Kind::boolean) {
    Flag flag;
    if (!nb::try_cast(given, flag)) return false;
    store(place, flag.value);
    return true;
  }
  if (f.kind == Kind::enumerator) {
    std::string name;
    if (!nb::try_cast(given, name)) return false;
    const auto found = std::find(f.values.begin(), f.values.end(), name);
    if (found == f.values.end()) return false;
    store(place, static_cast<std::uint8_t>(found - f.values.begin()));
    return true;
  }
  if (f.kind == Kind::float32 || f.kind == Kind::float64) {
    const double value = PyFloat_AsDouble(given.ptr());
    if (PyErr_Occurred() != nullptr) return PyErr_Clear(), false;
    f.kind == Kind::float32 ? store(place, static_cast<float>(value)) : store(place, value);
    return true;
  }
  const nb::object number = nb::steal(PyNumber_Index(given.ptr()));
  if (!number) return PyErr_Clear(), false;
  if (f.kind == Kind::uint64) {
    store(place, static_cast<std::uint64_t>(PyLong_AsUnsignedLongLong(number.ptr())));
  } else {
    const auto value = static_cast<std::int64_t>(PyLong_AsLongLong(number.ptr()));
    if (f.kind == Kind::int64) {
      store(place, value);
    } else {
      if (value != static_cast<std::int32_t>(value)) return PyErr_Clear(), false;
      store(place, static_cast<std::int32_t>(value));
    }
  }
  return PyErr_Occurred() == nullptr || (PyErr_Clear(), false);
}

nb::object load(const ArgsField& f, const std::byte* place) {
  switch (f.kind) {
    case Kind::boolean: return nb::bool_(load<bool>(place));
    case Kind::int32: return nb::int_(load<std::int32_t>(place));
    case Kind::int64: return nb::int_(load<std::int64_t>(place));
    case Kind::uint64: return nb::int_(load<std::uint64_t>(place));
    case Kind::float32: return nb::float_(load<float>(place));
    case Kind::float64: return nb::float_(load<double>(place));
    case Kind::enumerator: return nb::str(f.values.at(load<std::uint8_t>(place)).c_str());
  }
  return nb::none();
}

/// tesela.LibraryKernel.
class LibraryKernelObject {
 public:
  explicit LibraryKernelObject(const std::string& name) {
    const auto& all = all_kernels();
    const auto found = std::find_if(all.begin(), all.end(), [&](const LibraryKernel& k) { return k.name == name; });
    if (found == all.end()) throw nb::attribute_error(("tesela.kernels has no kernel " + name).c_str());
    kernel_ = &*found;
  }
  const LibraryKernel& kernel() const { return *kernel_; }
  const AnyKernel& any() const { return *kernel_->instances.front().kernel; }

  void insert(GraphObject& graph, const nb::args& tiles, Priority priority, const nb::kwargs& given) const {
    const std::vector<AnyTile> places = places_of(kernel_->name, graph, tiles);
    const LibraryInstance& instance = instance_for(tiles);
    auto args = std::make_shared<std::vector<std::byte>>(instance.defaults);
    std::vector<std::string> names;
    for (const auto& [key, value] : given) set(instance, *args, nb::cast<std::string>(key), value, names);
    for (const std::string& name : instance.required)
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw nb::type_error((title() + " needs the argument " + name).c_str());
    const DynamicTask task{.args = {args, args->data()}, .priority = priority};
    graph.briefly([&](Graph& g) { g.insert(instance.object, places, task); });
  }

 private:
  std::string title() const { return "kernel " + kernel_->name; }

  const LibraryInstance& instance_for(const nb::args& tiles) const {
    const AnyKernel& k = any();
    const std::size_t least = k.modes.size();  // one tile of a list at least
    if (tiles.size() < least || (tiles.size() > least && !k.has_list))
      throw nb::type_error((title() + " has " + std::to_string(least) + (k.has_list ? " or more" : "") + " tiles (" +
                            listed(kernel_->tiles) + "), and insert passes " + std::to_string(tiles.size()) +
                            "; other arguments need their names")
                               .c_str());
    std::vector<Element> elements;
    for (const nb::handle h : tiles) elements.push_back(nb::inst_ptr<TileObject>(h)->element);
    std::string accepted;
    for (const LibraryInstance& instance : kernel_->instances) {
      bool fits = true;
      std::string types;
      for (std::size_t b = 0; b < elements.size(); ++b) {
        const Element wanted = instance.elements[std::min(b, instance.elements.size() - 1)];
        fits = fits && elements[b] == wanted;
        types.append(b > 0 ? ", " : "").append(name_of(wanted));
      }
      if (fits) return instance;
      accepted.append(accepted.empty() ? "(" : " or (").append(types).append(")");
    }
    std::string passed;
    for (const Element e : elements) passed.append(passed.empty() ? "" : ", ").append(name_of(e));
    throw nb::type_error((title() + ": the tiles have the types (" + passed + "), not " + accepted).c_str());
  }

  /// Sets a field of Args, or the fields of a record, and adds the name to `names`.
  void set(const LibraryInstance& instance, std::vector<std::byte>& args, const std::string& name, nb::handle value,
           std::vector<std::string>& names) const {
    names.push_back(name);
    for (const ArgsField& f : instance.fields) {
      if (f.name == name) return set(f, args.data() + f.offset, value);
      if (!f.name.starts_with(name + ".")) continue;
      if (!nb::isinstance<nb::dict>(value))
        throw nb::type_error((title() + ": " + name + " is a dict of " + listed(parts_of(instance, name))).c_str());
      for (const auto& [key, part] : nb::borrow<nb::dict>(value))
        set(instance, args, name + "." + nb::cast<std::string>(nb::str(key)), part, names);
      return;
    }
    const auto dot = name.rfind('.');
    const std::string of = dot == std::string::npos ? "" : name.substr(0, dot);
    throw nb::type_error((title() + " has no argument " + name + ", but " + listed(parts_of(instance, of))).c_str());
  }
  void set(const ArgsField& f, std::byte* place, nb::handle value) const {
    const auto refuse = [&] {
      const std::string given = nb::cast<std::string>(nb::repr(value));
      throw nb::type_error((title() + ": " + f.name + " is " + type_of(f) + ", not " + given).c_str());
    };
    if (f.count == 0) {
      if (!store(f, place, value)) refuse();
      return;
    }
    if (PySequence_Check(value.ptr()) == 0 || nb::len(value) > f.count) refuse();
    std::size_t k = 0;
    for (const nb::handle one : nb::borrow<nb::sequence>(value))
      if (!store(f, place + f.bytes * k++, one)) refuse();
  }

  /// Returns the names of arguments, or of the fields of a record.
  static std::vector<std::string> parts_of(const LibraryInstance& instance, const std::string& record) {
    std::vector<std::string> parts;
    for (const ArgsField& f : instance.fields) {
      if (!record.empty() && !f.name.starts_with(record + ".")) continue;
      const std::size_t begin = record.empty() ? 0 : record.size() + 1;
      const std::string part = f.name.substr(begin, f.name.find('.', begin) - begin);
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
    }
    return parts.empty() ? std::vector<std::string>{"none"} : parts;
  }

  const LibraryKernel* kernel_;
};

using Argument = std::tuple<std::string, std::string, nb::object, std::string>;

/// Returns name, type, default (Ellipsis: none) and comment of each argument.
std::vector<Argument> arguments_of(const LibraryKernelObject& k) {
  const LibraryInstance& instance = k.kernel().instances.back();
  std::vector<Argument> all;
  for (const ArgsField& f : instance.fields) {
    const bool required =
        std::find(instance.required.begin(), instance.required.end(), f.name) != instance.required.end();
    nb::object value = nb::borrow(Py_Ellipsis);
    if (!required && f.count == 0) value = load(f, instance.defaults.data() + f.offset);
    if (!required && f.count > 0) value = nb::make_tuple();
    all.emplace_back(f.name, type_of(f), value, f.comment);
  }
  return all;
}

/// Returns name, mode and types of each tile; a list's mode begins with '*'.
std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> tiles_of(const LibraryKernelObject& k) {
  static constexpr std::array modes{"In", "Out", "InOut", "Commute", "Reduce", "Scratch"};
  std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> all;
  for (std::size_t b = 0; b < k.any().modes.size(); ++b) {
    std::vector<std::string> types;
    for (const LibraryInstance& instance : k.kernel().instances) types.push_back(name_of(instance.elements[b]));
    const bool list = k.any().has_list && b + 1 == k.any().modes.size();
    std::string mode = list ? "*" : "";
    mode.append(modes.at(static_cast<std::size_t>(k.any().modes[b])));
    all.emplace_back(k.kernel().tiles.at(b), mode, types);
  }
  return all;
}

}  // namespace

bool insert_library_kernel(GraphObject& graph, nb::handle kernel, const nb::args& tiles, Priority priority,
                           const nb::kwargs& arguments) {
  if (!nb::isinstance<LibraryKernelObject>(kernel)) return false;
  nb::inst_ptr<LibraryKernelObject>(kernel)->insert(graph, tiles, priority, arguments);
  return true;
}

void add_library_kernels(nb::module_& module) {
  nb::class_<LibraryKernelObject>(module, "LibraryKernel", "A kernel of the library, in tesela.kernels.")
      .def(nb::init<const std::string&>(), "name"_a)
      .def_prop_ro(
          "name", [](const LibraryKernelObject& k) { return k.kernel().name; }, "Name in tesela.kernels.")
      .def_prop_ro(
          "header", [](const LibraryKernelObject& k) { return k.kernel().header; }, "Header of its declaration.")
      .def_prop_ro(
          "comment", [](const LibraryKernelObject& k) { return k.kernel().comment; }, "Comment of its declaration.")
      .def_prop_ro("tiles", tiles_of, "Name, mode and types of each tile; '*' before the mode of a list.")
      .def_prop_ro("arguments", arguments_of, "Name, type, default (or ...) and comment of each argument.")
      .def_prop_ro(
          "workers",
          [](const LibraryKernelObject& k) {
            return std::string(!k.any().on_gpus ? "cores" : k.any().on_cores ? "cores and GPUs" : "GPUs");
          },
          "Its variants: 'cores', 'GPUs' or 'cores and GPUs'.");
  module.def("_library_kernels", [] {
    std::vector<std::string> names;
    for (const LibraryKernel& k : all_kernels()) names.push_back(k.name);
    return names;
  });
  module.def("_unreachable_kernels", [] {
    std::vector<std::pair<std::string, std::string>> all;
    for (const UnreachableKernel& k : unreachable_kernels()) all.emplace_back(k.name, k.reason);
    return all;
  });
}

}  // namespace tesela::python
