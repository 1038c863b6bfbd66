#include "interfaces/python/kernel_calls.hpp"

#include <nanobind/stl/string.h>
#include <stdexcept>

namespace tesela::python {
namespace {

/// Memory of a tile during a task, behind a NumPy array.
struct TileMemory {
  void* data;
  Py_ssize_t bytes;
  bool read_only;
  nb::object owner;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const auto* memory = nb::inst_ptr<TileMemory>(self);
  return PyBuffer_FillInfo(view, self, memory->data, memory->bytes, memory->read_only ? 1 : 0, flags);
}

PyType_Slot memory_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

/// Python objects that each task on a core uses; never freed.
struct Numpy {
  PyObject *array, *zero;
};
Numpy numpy;

nb::tuple pair(index_t a, index_t b) { return nb::make_tuple(a, b); }

/// Returns a NumPy array without a copy, and its memory.
std::pair<nb::object, nb::object> array_of(const DynamicBlock& block, nb::handle owner, Element element,
                                           bool read_only) {
  const auto size = static_cast<index_t>(block.element_size);
  const index_t bytes = ((block.cols - 1) * block.ld + block.rows) * size;
  nb::object memory = nb::cast(TileMemory{block.data, static_cast<Py_ssize_t>(bytes), read_only, nb::borrow(owner)});
  const nb::object shape = pair(block.rows, block.cols), strides = pair(size, block.ld * size);
  PyObject* const arguments[] = {shape.ptr(), dtype_of(element), memory.ptr(), numpy.zero, strides.ptr()};
  PyObject* const array = PyObject_Vectorcall(numpy.array, arguments, 5, nullptr);
  if (array == nullptr) throw nb::python_error();
  return {nb::steal(array), std::move(memory)};
}

/// Returns the b-th tile, or None, and its type.
std::pair<nb::handle, Element> tile_of(const Values& task, std::size_t b) {
  if (task.tiles.get() == nullptr) return {Py_None, task.first};
  const nb::handle tile = PyTuple_GetItem(task.tiles.get(), static_cast<Py_ssize_t>(b));
  return {tile, nb::inst_ptr<TileObject>(tile)->element};
}

std::string task_name(const Code& code, const Values& task) {
  if (task.tiles.get() == nullptr) return code.name + ", which combines a reduction";
  std::string tiles;
  for (const nb::handle h : nb::borrow<nb::tuple>(task.tiles.get())) {
    const auto* tile = nb::inst_ptr<TileObject>(h);
    const std::string place = "[" + std::to_string(tile->i) + ", " + std::to_string(tile->j) + "]";
    tiles += (tiles.empty() ? "" : ", ") + (tile->graph == nullptr ? place : "a tile of the graph");
  }
  return code.name + "(" + tiles + ")";
}

/// Keeps the exception for Graph.wait, and throws to end the graph.
[[noreturn]] void fail(const Code& code, const Values& task, const nb::python_error& error) {
  const nb::object raised = nb::borrow(error.value());
  try {
    raised.attr("add_note")("raised by the task " + task_name(code, task));
  } catch (nb::python_error& other) {
    other.discard_as_unraisable("add_note");
  }
  task.exception->set(raised);
  throw std::runtime_error("an exception in Python: " + nb::cast<std::string>(nb::repr(raised)));
}

/// Warns once if an array lives longer than its task.
void require_released(Code& code, std::vector<nb::object>& arrays, std::vector<nb::object>& memory) {
  arrays.clear();
  for (const nb::object& m : memory) {
    if (Py_REFCNT(m.ptr()) == 1 || code.warned.exchange(true)) continue;
    const std::string text = "the kernel " + code.name +
                             " keeps the array of a tile after its task: other tasks change or free it, so copy it";
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw nb::python_error();
  }
}

}  // namespace

void run_python(Code& code, const Values& task, std::span<const DynamicBlock> blocks) {
  const InTask gil;
  try {
    std::vector<nb::object> arrays, memory;
    std::vector<PyObject*> arguments{nullptr};  // Python may use the first place
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const auto [owner, element] = tile_of(task, b);
      auto [array, of] = array_of(blocks[b], owner, element, code.mode_of(b) == Mode::in);
      arguments.push_back(array.ptr());
      arrays.push_back(std::move(array));
      memory.push_back(std::move(of));
    }
    const Py_ssize_t values = task.values.get() != nullptr ? PyTuple_Size(task.values.get()) : 0;
    for (Py_ssize_t k = 0; k < values; ++k) arguments.push_back(PyTuple_GetItem(task.values.get(), k));
    const nb::object result = nb::steal(PyObject_Vectorcall(
        code.cpu.get(), arguments.data() + 1, blocks.size() | PY_VECTORCALL_ARGUMENTS_OFFSET, code.names.get()));
    if (!result) throw nb::python_error();
    if (!result.is_none()) {
      PyErr_Format(PyExc_TypeError, "the kernel %s returns %R: it must write to its arrays, and return None",
                   code.name.c_str(), result.ptr());
      throw nb::python_error();
    }
    require_released(code, arrays, memory);
  } catch (const nb::python_error& error) {
    fail(code, task, error);
  }
}

void run_python_on_gpu(const Code& code, CudaContext& context, const Values& task,
                       std::span<const DynamicBlock> blocks) {
  const InTask gil;
  try {
    nb::list arrays;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const DynamicBlock& t = blocks[b];
      arrays.append(nb::make_tuple(reinterpret_cast<std::uintptr_t>(t.data), t.rows, t.cols, t.ld,
                                   nb::handle(dtype_of(tile_of(task, b).second)), code.mode_of(b) == Mode::in));
    }
    const nb::handle values = task.values.get() != nullptr ? task.values.get() : Py_None;
    nb::handle(code.cuda.get())(reinterpret_cast<std::uintptr_t>(context.stream()), arrays, values);
  } catch (const nb::python_error& error) {
    fail(code, task, error);
  }
}

void run_compiled(const Code& code, const Values& task, std::span<const DynamicBlock> blocks) {
  std::array<void*, 16> few;
  std::array<std::int64_t, 3 * few.size()> few_shapes;
  std::vector<void*> many(blocks.size() > few.size() ? blocks.size() : 0);
  std::vector<std::int64_t> many_shapes(3 * many.size());
  void** const tiles = many.empty() ? few.data() : many.data();
  std::int64_t* const shapes = many.empty() ? few_shapes.data() : many_shapes.data();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    tiles[b] = blocks[b].data;
    shapes[3 * b] = blocks[b].rows;
    shapes[3 * b + 1] = blocks[b].cols;
    shapes[3 * b + 2] = blocks[b].ld;
  }
  code.compiled(tiles, shapes, task.numbers.data());
}

void launch_source(const Code& code, const CudaContext& context, const Values& task,
                   std::span<const DynamicBlock> blocks) {
  std::vector<detail::CudaTile> tiles;
  for (const DynamicBlock& b : blocks) tiles.push_back({b.data, b.rows, b.cols, b.ld});
  std::vector<double> numbers = task.numbers;
  std::vector<void*> parameters;
  for (detail::CudaTile& tile : tiles) parameters.push_back(&tile);
  for (double& number : numbers) parameters.push_back(&number);
  CudaSource::Size size = code.size;
  size.grid = task.grid;
  code.sources[static_cast<std::size_t>(task.first)].launch(context, size, parameters);
}

void prepare_calls(nb::module_& module) {
  numpy.array = nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  numpy.zero = nb::int_(0).release().ptr();
  dtype_of(Element::float64);  // before threads may ask for it
  nb::class_<TileMemory>(module, "_TileMemory", nb::type_slots(memory_slots));
}

}  // namespace tesela::python
