#include "interfaces/python/tiles.hpp"

#include "interfaces/python/results.hpp"

#include <algorithm>
#include <array>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

namespace tesela::python {

namespace {

/// nb or (mb, nb).
using GivenTile = std::variant<index_t, std::pair<index_t, index_t>>;
TileShape tile_shape(const GivenTile& given) {
  if (const index_t* edge = std::get_if<index_t>(&given)) return {*edge, *edge};
  const auto [mb, nb] = std::get<std::pair<index_t, index_t>>(given);
  return {mb, nb};
}

PyObject* new_dtype(const char* name) {
  return nb::object(nb::module_::import_("numpy").attr("dtype")(name)).release().ptr();
}

/// Calls f without the GIL; destructors wait for tasks.
template <class F>
void without_python(F f) {
  const Released free;
  f();
}

}  // namespace

TileMatrixObject::TileMatrixObject(nb::handle array, TileShape tile) {
  nb::ndarray<nb::device::cpu, nb::f_contig> integers;  // writable
  const auto map = [&]<class T>(T) {
    if (integers.dtype() != nb::dtype<T>()) return;
    const auto rows = static_cast<index_t>(integers.shape(0));
    const auto cols = integers.ndim() == 2 ? static_cast<index_t>(integers.shape(1)) : 1;
    matrix_ = with_workers([&](const c::Session& session) {
      return std::optional(
          TileMatrix<T>::map(session, static_cast<T*>(integers.data()), rows, cols, std::max<index_t>(rows, 1), tile));
    });
    array_ = nb::borrow(array);
  };
  if (nb::try_cast(array, integers, false) && (integers.ndim() == 1 || integers.ndim() == 2)) {
    map(std::int32_t());
    map(index_t());
    map(std::uint8_t());
    if (array_) return;
  }
  const Argument a("a", array);
  if (!a.writable())
    throw nb::value_error(
        "a must be a writable array of float32 or float64, since tasks work on it in place; or of int32, int64 or "
        "uint8, in Fortran order, for kernels that use these");
  in_precision({&a}, [&]<class T>(T) {
    if (!a.by_columns()) throw nb::value_error("a must be in Fortran order, as numpy.asfortranarray(a) is");
    matrix_ = with_workers([&](const c::Session& session) {
      return std::optional<TileMatrix<T>>(Columns<T>(session, a).in_tiles(session, tile));
    });
  });
  array_ = a.object();
}

TileMatrixObject::TileMatrixObject(Shape shape, TileShape tile, Element element) {
  with_type(element, [&]<class T>(T) {
    matrix_ = with_workers([&](const c::Session& session) {
      return std::optional<TileMatrix<T>>(std::in_place, session, shape.rows, shape.cols, tile);
    });
  });
}

TileMatrixObject::~TileMatrixObject() {
  if (c::forked()) return;
  if (in_task()) {
    discard(std::make_shared<decltype(matrix_)>(std::move(matrix_)));
    discard(array_.release().ptr());
    return;
  }
  without_python([&] { std::visit([](auto& held) { held.reset(); }, matrix_); });
}

GraphObject::GraphObject(bool record, bool longest_path_priorities, const std::string& name) {
  with_workers([&](const c::Session& session) {
    graph_ = std::make_unique<Graph>(
        session, GraphOptions{.name = name, .record = record, .longest_path_priorities = longest_path_priorities});
    return 0;
  });
}

GraphObject::~GraphObject() {
  if (c::forked()) {
    static_cast<void>(graph_.release());
    return;
  }
  if (in_task()) {
    discard(std::make_shared<decltype(minor_)>(std::move(minor_)));
    discard(std::shared_ptr<Graph>(std::move(graph_)));
    return;
  }
  without_python([&] {
    graph_.reset();
    minor_.reset();
  });
  drop_discarded();
  if (const nb::object lost = exception_->take()) {  // nobody waited
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(lost.ptr())), lost.ptr());
    PyErr_WriteUnraisable(Py_None);
  }
}

namespace {

/// Waits until StarPU has combined the copies of a reduction, so that an exception there belongs to this graph.
void combine(detail::Data& data) {
  try {
    detail::acquire_on_host(data, Mode::in);
    detail::release_on_host(data);
  } catch (const Error&) {  // wait() reports it
  }
}

}  // namespace

Tile<double> GraphObject::minor() {
  if (!minor_) {
    minor_.emplace(graph_->runtime(), 1, 1, TileShape{1, 1}, "minor");
    (*minor_)(0, 0).write()(0, 0) = 0;
  }
  return (*minor_)(0, 0);
}

GraphObject::Outcome GraphObject::finished() {
  const std::vector<Reduction> reductions = std::exchange(reductions_, {});
  try {
    return with([&](Graph& graph) -> Outcome {
      const std::optional<TileMatrix<double>> kept = std::exchange(minor_, std::nullopt);  // cleared in any case
      for (const Reduction& r : reductions) combine(*r.data);
      const Status status = graph.wait();
      return {kept ? static_cast<index_t>((*kept)(0, 0).read()(0, 0)) : 0, status.info};
    });
  } catch (const EnvironmentError&) {
    nb::object raised = exception_->take();
    for (const Reduction& r : reductions)
      if (nb::object other = r.exceptions->take(); !raised) raised = std::move(other);
    if (!raised) throw;
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
    throw nb::python_error();
  }
}

void GraphObject::wait() {
  const auto [minor, status] = finished();
  drop_discarded();
  exception_->take();  // of a task that failed while another reason was reported
  if (minor != 0)
    raise_lin_alg_error("the leading minor of order " + std::to_string(minor) + " is not positive, or not finite",
                        "not positive definite", nb::none());
  if (status != 0)
    raise_lin_alg_error("a kernel reported the status " + std::to_string(status), "failed", nb::int_(status));
}

namespace {
constexpr std::array names{"float32", "float64", "int32", "int64", "uint8"};  // in the order of enum class Element
}

std::string name_of(Element element) { return names.at(static_cast<std::size_t>(element)); }

/// Throws TypeError for other types.
Element element_named(nb::handle dtype) {
  const nb::object type = nb::module_::import_("numpy").attr("dtype")(dtype);
  const auto found = std::find(names.begin(), names.end(), nb::cast<std::string>(type.attr("name")));
  if (found == names.end()) throw nb::type_error("dtype must be float32, float64, int32, int64 or uint8");
  return static_cast<Element>(found - names.begin());
}

PyObject* dtype_of(Element element) {
  static const auto all = [] {
    std::array<PyObject*, names.size()> types{};
    std::transform(names.begin(), names.end(), types.begin(), new_dtype);
    return types;
  }();
  return all[static_cast<std::size_t>(element)];
}

namespace {

AnyArray to_numpy(const TileMatrixObject& a) {
  return a.with([]<class T>(const TileMatrix<T>& m) {
    return to_python(with_workers([&](const c::Session&) { return m.to_host(); }));
  });
}

index_t place(index_t i, index_t count) {
  if (i < -count || i >= count)
    throw nb::index_error(("tile index " + std::to_string(i) + " of " + std::to_string(count) + " tiles").c_str());
  return i < 0 ? i + count : i;
}

const Part part([](nb::module_& m) {
  nb::class_<TileMatrixObject> matrix(m, "TileMatrix", R"(A matrix in tiles, for the tasks of a `Graph`.

Parameters
----------
a : (m, n) array
    Of float32 or float64, writable and in Fortran order: tasks use its memory in place as long as the matrix exists.
    Kernels may also use int32, int64 and uint8.
tile : int or (int, int)
    Rows and columns of a tile.

Examples
--------
>>> import numpy as np, tesela
>>> a = tesela.TileMatrix(np.zeros((5, 4), order="F"), 2)
>>> a.tiles, a[2, 0].shape
((3, 2), (1, 2))
)");
  prints(matrix, {"shape", "tiles", "dtype"});
  matrix
      .def(
          "__init__",
          [](TileMatrixObject* self, const ArrayLike& a, const GivenTile& tile) {
            new (self) TileMatrixObject(a, tile_shape(tile));
          },
          "a"_a, "tile"_a)
      .def_static(
          "empty",
          [](std::pair<index_t, index_t> shape, const GivenTile& tile, nb::handle dtype) {
            return new TileMatrixObject(Shape{shape.first, shape.second}, tile_shape(tile), element_named(dtype));
          },
          "shape"_a, "tile"_a, "dtype"_a = "float64",
          "Make a matrix without contents; each tile is allocated at its first write.")
      .def("__getitem__",
           [](nb::handle self, std::pair<index_t, index_t> at) {
             const auto* held = nb::cast<const TileMatrixObject*>(self);
             return held->with([&]<class T>(const TileMatrix<T>& a) {
               const index_t i = place(at.first, a.mt()), j = place(at.second, a.nt());
               return TileObject{.owner = nb::borrow(self),
                                 .data = &a(i, j).data(),
                                 .element = element_of<T>,
                                 .i = i,
                                 .j = j,
                                 .first_row = i * a.tile_shape().mb};
             });
           })
      .def_prop_ro(
          "shape",
          [](const TileMatrixObject& a) { return a.with([](const auto& x) { return std::pair(x.m(), x.n()); }); },
          "Rows and columns.")
      .def_prop_ro(
          "tiles",
          [](const TileMatrixObject& a) { return a.with([](const auto& x) { return std::pair(x.mt(), x.nt()); }); },
          "Numbers of tile rows and tile columns.")
      .def_prop_ro(
          "dtype", [](const TileMatrixObject& a) { return nb::borrow(dtype_of(a.element())); }, "NumPy's.")
      .def("to_numpy", to_numpy, "Return a copy, after the tasks that write the matrix.")
      .def(
          "bring_home",
          [](const TileMatrixObject& a) {
            with_workers([&](const c::Session&) {
              a.with([](const auto& x) { x.bring_home(); });
              return 0;
            });
          },
          "Wait until the array behind the matrix holds the tasks' results.");
  nb::class_<TileObject> bound_tile(m, "Tile", "A tile of a `TileMatrix` or of a `Graph`, which tasks read and write.");
  bound_tile
      .def_prop_ro(
          "shape", [](const TileObject& t) { return std::pair(t.shape().rows, t.shape().cols); }, "Rows and columns.")
      .def_prop_ro(
          "rows", [](const TileObject& t) { return t.shape().rows; }, "Their number.")
      .def_prop_ro(
          "cols", [](const TileObject& t) { return t.shape().cols; }, "Their number.")
      .def_prop_ro(
          "dtype", [](const TileObject& t) { return nb::borrow(dtype_of(t.element)); }, "NumPy's.");
  prints(bound_tile, {"shape"});
  nb::class_<Bounds> bounds(m, "Bounds", "Size of a graph and bounds of its run time.");
  prints(bounds, {"tasks", "work_flops", "path_flops", "untimed", "path_seconds", "area_seconds"});
  bounds.def_ro("tasks", &Bounds::tasks, "How many.")
      .def_ro("work_flops", &Bounds::work_flops, "Flops of all tasks.")
      .def_ro("path_flops", &Bounds::path_flops, "Flops of the longest path.")
      .def_ro("untimed", &Bounds::untimed, "Tasks without a sufficient performance model.")
      .def_ro("path_seconds", &Bounds::path_seconds,
              "Longest path, each task on its fastest kind of worker; needs `record`.")
      .def_ro("area_seconds", &Bounds::area_seconds,
              "The whole work, divided optimally over the workers; needs `record`.");
  nb::class_<GraphObject> graph(m, "Graph",
                                R"(A task graph: each method named after a kernel inserts one task and returns.

Tasks run in any order that respects the dependences implied by the order of insertion. As a context manager the graph
waits at the end.

Parameters
----------
record : bool
    Keep the graph, for `draw` and for bounds in seconds.
longest_path_priorities : bool
    Hold tasks back until `wait`; the length of the longest path from a task is then its priority.
name : str
    Name in its picture.

Examples
--------
>>> import numpy as np, tesela
>>> a = tesela.TileMatrix(np.asfortranarray(np.diag([4., 9.])), 2)
>>> with tesela.Graph() as g:
...     g.potrf(a[0, 0])
>>> a.to_numpy()
array([[2., 0.],
       [0., 3.]])
)");
  graph
      .def(nb::init<Flag, Flag, const std::string&>(), nb::kw_only(), "record"_a = false,
           "longest_path_priorities"_a = false, "name"_a = "tesela")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Graph"))
      .def(
          "__exit__",
          [](GraphObject& g, nb::handle type, nb::handle, nb::handle) {
            if (PyErr_GivenExceptionMatches(type.ptr(), PyExc_KeyboardInterrupt) != 0) Runtime::cancel();
            try {
              g.wait();
            } catch (...) {
              if (type.is_none()) throw;  // otherwise the exception of the block is more informative
            }
            return false;
          },
          nb::arg().none(), nb::arg().none(), nb::arg().none())
      .def("wait", &GraphObject::wait,
           "Wait for all tasks. Raises numpy.linalg.LinAlgError if a task found that there is no result; the graph "
           "accepts new tasks after that.")
      .def(
          "status",
          [](nb::handle self, index_t offset) {
            auto* g = nb::cast<GraphObject*>(self);
            detail::Data& data = g->briefly([&](Graph& x) -> detail::Data& { return x.status(offset).data(); });
            return TileObject{.owner = nb::borrow(self), .data = &data, .element = Element::int32, .graph = g};
          },
          nb::kw_only(), "offset"_a = 0,
          "Return a new tile of one int32, initially 0. A kernel writes another number if there is no result, as "
          "LAPACK's "
          "info. `wait` adds the offset to the first positive one, and raises numpy.linalg.LinAlgError, whose "
          "attribute "
          "`result` is the sum.")
      .def(
          "scratch",
          [](nb::handle self, index_t rows, index_t cols, nb::handle dtype, index_t which) {
            auto* g = nb::cast<GraphObject*>(self);
            const Element element = element_named(dtype);
            detail::Data& data = g->briefly([&](Graph& x) -> detail::Data& {
              return with_type(element,
                               [&]<class T>(T) -> detail::Data& { return x.scratch<T>(rows, cols, which).data(); });
            });
            return TileObject{.owner = nb::borrow(self), .data = &data, .element = element, .graph = g};
          },
          "rows"_a, "cols"_a, "dtype"_a = "float64", nb::kw_only(), "which"_a = 0,
          "Return work space for `Scratch` parameters: each worker has its own. `which` distinguishes several of one "
          "shape that one task uses.")
      .def_prop_ro(
          "tasks", [](GraphObject& g) { return g.with([](Graph& x) { return x.tasks(); }); },
          "Number of inserted tasks.")
      .def(
          "bounds", [](GraphObject& g) { return g.with([](Graph& x) { return x.bounds(); }); },
          "Bounds of its run time.")
      .def(
          "draw",
          [](GraphObject& g, const std::string& path) {
            g.with([&](Graph& x) {
              x.write_dot(path);
              return 0;
            });
          },
          "path"_a, "Write the graph for Graphviz: a node for each task, an edge for each dependence. Needs `record`.")
      .def(
          "_repr_svg_", [](nb::handle self) { return nb::module_::import_("tesela._draw").attr("svg")(self); },
          "Return a picture for a notebook if the graph is recorded; above 300 tasks a summary by kernel and level.");
  prints(graph, {"tasks"});
  add_kernels(graph);
  add_python_kernels(m, graph);
});

}  // namespace
}  // namespace tesela::python
