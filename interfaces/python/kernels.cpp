// tesela.Kernel, which the decorator tesela.kernel makes of a class, and the insertion of its tasks.
#include "interfaces/python/kernel_calls.hpp"
#include "interfaces/python/library_kernels.hpp"
#include "interfaces/python/results.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <set>

namespace tesela::python {
namespace {

/// A function of a task's tiles and arguments.
struct Formula {
  nb::object function;  // or a constant, or None
  std::vector<int> of;  // its parameters: tile k is k, argument k is ~k
};

/// Description of a kernel by _kernels.py.
struct Described {
  Described() = default;
  explicit Described(const nb::dict& d)
      : name(nb::cast<std::string>(d["name"])),
        model(nb::cast<std::string>(d["model"])),
        color(nb::cast<std::uint32_t>(d["color"])),
        has_list(nb::cast<bool>(d["has_list"])),
        names(nb::cast<nb::tuple>(d["names"])),
        defaults(nb::cast<nb::tuple>(d["defaults"])),
        cpu(d["cpu"]),
        compiled(nb::cast<std::uintptr_t>(d["compiled"])),
        element(static_cast<Element>(nb::cast<int>(d["element"]))),
        cuda(d["cuda"]),
        source(nb::cast<std::optional<nb::dict>>(d["source"])),
        variants(nb::cast<nb::dict>(d["variants"])),
        flops(formula(d["flops"])),
        cost_key(nb::cast<std::vector<int>>(d["cost_key"])) {
    for (const int mode : nb::cast<std::vector<int>>(d["modes"])) modes.push_back(static_cast<Mode>(mode));
    if (source) grid = formula((*source)["grid"]);
  }
  static Formula formula(nb::handle given) {
    const auto [function, of] = nb::cast<std::pair<nb::object, std::vector<int>>>(given);
    return {function, of};
  }

  std::string name, model;
  std::uint32_t color = 0;
  std::vector<Mode> modes;
  bool has_list = false;
  nb::tuple names, defaults;           // of keyword arguments; the default Ellipsis: none
  nb::object cpu;                      // a Python function, the owner of a compiled one, or None
  std::uintptr_t compiled = 0;         // address of a compiled function; 0: none
  Element element = Element::float64;  // of the tiles that the compiled function reads
  nb::object cuda;                     // function(stream, blocks, values), or None
  std::optional<nb::dict> source;      // source, name, options, grid, block and shared of a CUDA source
  nb::dict variants;                   // as the class has them
  Formula flops, grid;                 // the grid None covers the first tile
  std::vector<int> cost_key;           // indices of arguments
};

std::shared_ptr<Code> code_of(const Described& d) {
  auto code = std::make_shared<Code>();
  code->name = d.name;
  code->modes = d.modes;
  code->has_list = d.has_list;
  code->compiled = reinterpret_cast<Compiled>(d.compiled);  // NOLINT(performance-no-int-to-ptr)
  if (!d.cpu.is_none()) code->cpu = Kept(d.cpu);
  if (nb::len(d.names) > 0) code->names = Kept(d.names);
  if (!d.cuda.is_none()) code->cuda = Kept(d.cuda);
  if (!d.source) return code;
  code->size.block = nb::cast<std::array<unsigned, 3>>((*d.source)["block"]);
  code->size.shared = nb::cast<unsigned>((*d.source)["shared"]);
  for (const char* type : {"float", "double", "int", "long", "unsigned char"}) {  // as in enum class Element
    auto name = nb::cast<std::string>((*d.source)["name"]);
    if (const auto at = name.find("<T>"); at != std::string::npos) name.replace(at + 1, 1, type);
    code->sources.emplace_back(nb::cast<std::string>((*d.source)["source"]), name,
                               nb::cast<std::vector<std::string>>((*d.source)["options"]));
  }
  return code;
}

DynamicKernel dynamic_kernel(const Described& d, const std::shared_ptr<Code>& code) {
  using Blocks = std::span<const DynamicBlock>;
  DynamicKernel::Description kernel{
      .name = d.name, .model = d.model, .color = d.color, .modes = d.modes, .has_list = d.has_list};
  if (d.compiled != 0)
    kernel.cpu = [code](const void* values, Blocks blocks) {
      run_compiled(*code, *static_cast<const Values*>(values), blocks);
    };
  else if (!d.cpu.is_none())
    kernel.cpu = [code](const void* values, Blocks blocks) {
      run_python(*code, *static_cast<const Values*>(values), blocks);
    };
  if (d.source)
    kernel.cuda = [code](CudaContext& context, const void* values, Blocks blocks) {
      launch_source(*code, context, *static_cast<const Values*>(values), blocks);
    };
  else if (!d.cuda.is_none())
    kernel.cuda = [code](CudaContext& context, const void* values, Blocks blocks) {
      run_python_on_gpu(*code, context, *static_cast<const Values*>(values), blocks);
    };
  return DynamicKernel(std::move(kernel));
}

/// tesela.Kernel.
class KernelObject {
 public:
  explicit KernelObject(const nb::dict& description)
      : described_(description), code_(code_of(described_)), kernel_(dynamic_kernel(described_, code_)) {
    all().insert(this);
  }
  ~KernelObject() {
    all().erase(this);
    kernel_.reset();
    code_.reset();
    if (!in_task()) drop_discarded();
  }
  KernelObject(const KernelObject&) = delete;
  KernelObject& operator=(const KernelObject&) = delete;

  void insert(GraphObject& graph, const nb::args& tiles, Priority priority, const nb::kwargs& given) const;
  /// Returns arguments for the combination of two copies of a tile in a reduction.
  std::shared_ptr<const Values> values_of_reduction(Element element) const;
  const Described& described() const { return described_; }

  /// Gives up the Python objects of all kernels, after the last task. Python's garbage collector does not see that they
  /// refer to the module that holds the kernel.
  static void end() {
    for (KernelObject* const kernel : all()) {
      kernel->described_ = Described();
      for (Kept* const object : {&kernel->code_->cpu, &kernel->code_->names, &kernel->code_->cuda}) *object = Kept();
    }
    drop_discarded();
  }
  const DynamicKernel& kernel() const { return *kernel_; }

 private:
  /// Live kernels; needs the GIL.
  static std::set<KernelObject*>& all() {
    static auto& kernels = *new std::set<KernelObject*>;
    return kernels;
  }
  std::string name() const { return "kernel " + described_.name; }
  void check(const std::vector<AnyTile>& places, const nb::args& tiles) const;
  nb::object arguments_of(const nb::kwargs& given) const;
  std::shared_ptr<Values> values_of(nb::tuple tiles, const nb::object& arguments) const;
  nb::object value(const Formula& formula, const nb::tuple& tiles, const nb::object& arguments) const;
  std::array<unsigned, 3> grid(const nb::tuple& tiles, const nb::object& arguments) const;
  std::uint64_t cost_key(const nb::object& arguments) const;

  Described described_;
  std::shared_ptr<Code> code_;
  std::optional<DynamicKernel> kernel_;
  mutable std::array<std::shared_ptr<Values>, 5> reductions_;  // for each Element
};

void KernelObject::insert(GraphObject& graph, const nb::args& tiles, Priority priority, const nb::kwargs& given) const {
  const std::vector<AnyTile> places = places_of(described_.name, graph, tiles);
  check(places, tiles);
  const nb::object arguments = arguments_of(given);
  const std::shared_ptr<Values> values = values_of(tiles, arguments);
  values->exception = graph.exception();
  DynamicTask task{.args = values, .priority = priority, .cost_key = cost_key(arguments)};
  if (!described_.flops.function.is_none())
    task.flops = nb::cast<double>(nb::float_(value(described_.flops, tiles, arguments)));
  graph.briefly([&](Graph& g) { g.insert(*kernel_, places, task); });
}

/// Throws for a wrong number of tiles, and for types that the compiled function cannot read.
void KernelObject::check(const std::vector<AnyTile>& places, const nb::args& tiles) const {
  for (const nb::handle h : tiles)
    if (const Element element = nb::inst_ptr<TileObject>(h)->element;
        described_.compiled != 0 && element != described_.element && is_real(element))
      throw nb::type_error((name() + ": the compiled function reads " + name_of(described_.element) +
                            ", but a tile has " + name_of(element) +
                            "; set dtype = \"float32\" or \"float64\" in the class")
                               .c_str());
  const std::size_t fixed = described_.modes.size() - (described_.has_list ? 1 : 0);
  if (places.size() < fixed || (places.size() > fixed && !described_.has_list))
    throw nb::type_error((name() + " has " + std::to_string(fixed) + (described_.has_list ? " or more" : "") +
                          " tiles, and insert passes " + std::to_string(places.size()) +
                          "; other arguments need their names")
                             .c_str());
}

/// Returns the values in the order of the names, or an invalid object without names.
nb::object KernelObject::arguments_of(const nb::kwargs& given) const {
  const auto count = static_cast<Py_ssize_t>(nb::len(described_.names));
  Py_ssize_t used = 0;
  nb::object values = count > 0 ? nb::steal(PyTuple_New(count)) : nb::object();
  for (Py_ssize_t k = 0; k < count; ++k) {
    const nb::handle key = PyTuple_GetItem(described_.names.ptr(), k);
    nb::handle value = PyDict_GetItemWithError(given.ptr(), key.ptr());
    if (value.is_valid()) {
      ++used;
    } else {
      value = PyTuple_GetItem(described_.defaults.ptr(), k);
      if (value.ptr() == Py_Ellipsis)
        throw nb::type_error((name() + " needs the argument " + nb::cast<std::string>(key)).c_str());
    }
    PyTuple_SetItem(values.ptr(), k, value.inc_ref().ptr());
  }
  if (used != PyDict_Size(given.ptr()))
    for (const auto& [key, value] : given)
      if (!nb::cast<bool>(described_.names.attr("__contains__")(key)))
        throw nb::type_error((name() + " has no argument " + nb::cast<std::string>(key)).c_str());
  return values;
}

std::shared_ptr<Values> KernelObject::values_of(nb::tuple tiles, const nb::object& arguments) const {
  auto values = std::make_shared<Values>();
  const bool compiled = described_.compiled != 0 || described_.cpu.is_none();
  if (!compiled || !described_.cuda.is_none()) {
    if (arguments.is_valid()) values->values = Kept(arguments);
    values->tiles = Kept(tiles);
  }
  if ((described_.compiled != 0 || described_.source) && arguments.is_valid())
    for (const nb::handle number : nb::borrow<nb::tuple>(arguments)) {
      values->numbers.push_back(PyFloat_AsDouble(number.ptr()));
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
    }
  if (described_.source && nb::len(tiles) > 0) {
    values->first = nb::inst_ptr<TileObject>(tiles[0])->element;
    values->grid = grid(tiles, arguments);
  }
  return values;
}

std::shared_ptr<const Values> KernelObject::values_of_reduction(Element element) const {
  auto& values = reductions_[static_cast<std::size_t>(element)];
  if (values == nullptr) {
    if (described_.source)
      throw nb::type_error((name() + ": a kernel of CUDA source cannot combine a reduction").c_str());
    values = values_of(nb::tuple(), arguments_of(nb::borrow<nb::kwargs>(nb::dict())));
    values->tiles = Kept();
    values->first = element;
    values->exception = std::make_shared<KernelException>();
  }
  return values;
}

nb::object KernelObject::value(const Formula& formula, const nb::tuple& tiles, const nb::object& arguments) const {
  if (PyCallable_Check(formula.function.ptr()) == 0) return formula.function;
  std::vector<PyObject*> of{nullptr};  // Python may use the first place
  nb::object list;
  for (const int k : formula.of) {
    if (k < 0) {
      of.push_back(PyTuple_GetItem(arguments.ptr(), ~k));
    } else if (described_.has_list && k + 1 == static_cast<int>(described_.modes.size())) {
      list = nb::steal(PyTuple_GetSlice(tiles.ptr(), k, PyTuple_Size(tiles.ptr())));
      of.push_back(list.ptr());
    } else {
      of.push_back(PyTuple_GetItem(tiles.ptr(), k));
    }
  }
  PyObject* const result = PyObject_Vectorcall(formula.function.ptr(), of.data() + 1,
                                               (of.size() - 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

std::array<unsigned, 3> KernelObject::grid(const nb::tuple& tiles, const nb::object& arguments) const {
  std::array<unsigned, 3> grid{1, 1, 1};
  if (described_.grid.function.is_none()) {
    const Shape shape = nb::inst_ptr<TileObject>(tiles[0])->shape();
    grid[0] = static_cast<unsigned>(ceil_div(shape.rows, code_->size.block[0]));
    grid[1] = static_cast<unsigned>(ceil_div(shape.cols, code_->size.block[1]));
    return grid;
  }
  const nb::object given = value(described_.grid, tiles, arguments);
  if (nb::isinstance<nb::tuple>(given)) {
    const auto list = nb::cast<std::vector<unsigned>>(given);
    if (list.size() > grid.size()) throw nb::value_error((name() + ": a grid has up to three numbers").c_str());
    std::copy(list.begin(), list.end(), grid.begin());
  } else {
    grid[0] = nb::cast<unsigned>(given);
  }
  return grid;
}

/// Returns a hash that does not change from process to process.
std::uint64_t KernelObject::cost_key(const nb::object& arguments) const {
  std::uint64_t hash = 0;
  for (const int k : described_.cost_key) {
    hash ^= 0xcbf29ce484222325u;
    for (const char c : nb::cast<std::string>(nb::repr(PyTuple_GetItem(arguments.ptr(), k))))
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

const KernelObject& kernel_of(nb::handle given) {
  if (!nb::isinstance<KernelObject>(given))
    throw nb::type_error("a kernel is a class with the decorator tesela.kernel, or a member of tesela.kernels");
  return *nb::inst_ptr<KernelObject>(given);
}

Priority priority_of(int value, const std::optional<std::string>& on) {
  if (on && *on != "cpu" && *on != "gpu") throw nb::value_error("on must be 'cpu' or 'gpu'");
  return {.value = value, .gpu = on == "gpu", .core = on == "cpu"};
}

}  // namespace

std::vector<AnyTile> places_of(const std::string& kernel, const GraphObject& graph, const nb::args& tiles) {
  std::vector<AnyTile> places;
  for (const nb::handle h : tiles) {
    if (!nb::isinstance<TileObject>(h))
      throw nb::type_error(
          ("kernel " + kernel + ": a tile is an element of a TileMatrix, or status() or scratch() of a Graph").c_str());
    const auto* tile = nb::inst_ptr<TileObject>(h);
    if (tile->graph != nullptr && tile->graph != &graph)
      throw nb::value_error(("kernel " + kernel + ": a tile belongs to another graph").c_str());
    places.emplace_back(*tile->data);
  }
  return places;
}

void add_python_kernels(nb::module_& module, nb::class_<GraphObject>& graph) {
  prepare_calls(module);
  add_library_kernels(module);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(KernelObject::end));  // runs after the workers' end
  nb::class_<KernelObject> bound(module, "Kernel", "A kernel, which the decorator `kernel` makes of a class.");
  prints(bound, {"name", "model"});
  bound.def(nb::init<const nb::dict&>(), "description"_a)
      .def_prop_ro(
          "name", [](const KernelObject& k) { return k.described().name; }, "Name in pictures, traces and statistics.")
      .def_prop_ro(
          "model", [](const KernelObject& k) { return k.described().model; },
          "Name of its performance model, with a hash of its code.")
      .def_prop_ro(
          "variants", [](const KernelObject& k) { return k.described().variants; },
          "The class's `cpu` and `cuda`, for tests without a graph.");
  graph
      .def(
          "insert",
          [](GraphObject& g, nb::handle kernel, const nb::args& tiles, int priority,
             const std::optional<std::string>& on, const nb::kwargs& arguments) {
            const Priority where = priority_of(priority, on);
            if (!insert_library_kernel(g, kernel, tiles, where, arguments))
              kernel_of(kernel).insert(g, tiles, where, arguments);
          },
          nb::arg().none(), "tiles"_a, "priority"_a = 0, "on"_a = nb::none(), "arguments"_a,
          "Insert a task of a kernel, from `tesela.kernel` or in `tesela.kernels`; arguments other than tiles by their "
          "names. Ready tasks of higher priority run first; `on`: 'cpu' or 'gpu', if the task must not run elsewhere.")
      .def(
          "reduction",
          [](GraphObject& g, const TileObject& tile, nb::handle add) {
            const KernelObject& kernel = kernel_of(add);
            const auto values = kernel.values_of_reduction(tile.element);
            g.briefly([&](Graph& x) { x.reduction(AnyTile(*tile.data), kernel.kernel(), values); });
            g.note_reduction(tile, values->exception);
          },
          "tile"_a, "add"_a,
          "Let tasks reduce into a tile: each worker's copy starts with zeros, and the kernel `add` adds a tile (In) "
          "to "
          "one (Commute).");
}

}  // namespace tesela::python
