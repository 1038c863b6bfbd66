#pragma once

#include "interfaces/python/arrays.hpp"
#include "interfaces/python/call.hpp"
#include <tesela/runtime/graph.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tesela::python {

enum class Element : std::uint8_t { float32, float64, int32, int64, uint8 };
template <class T>
inline constexpr Element element_of = std::is_same_v<T, float>          ? Element::float32
                                      : std::is_same_v<T, double>       ? Element::float64
                                      : std::is_same_v<T, std::int32_t> ? Element::int32
                                      : std::is_same_v<T, index_t>      ? Element::int64
                                                                        : Element::uint8;
constexpr bool is_real(Element element) { return element <= Element::float64; }
/// Returns NumPy's name.
std::string name_of(Element);
Element element_named(nb::handle dtype);
/// Returns NumPy's dtype, a borrowed reference.
PyObject* dtype_of(Element);

/// Calls f(T()) with the type of these elements.
template <class F>
decltype(auto) with_type(Element element, F f) {
  switch (element) {
    case Element::float32: return f(float());
    case Element::int32: return f(std::int32_t());
    case Element::int64: return f(index_t());
    case Element::uint8: return f(std::uint8_t());
    case Element::float64: break;
  }
  return f(double());
}

/// tesela.TileMatrix: in its own memory or in an array that it keeps alive.
class TileMatrixObject {
 public:
  TileMatrixObject(nb::handle array, TileShape tile);
  TileMatrixObject(Shape shape, TileShape tile, Element element);
  ~TileMatrixObject();
  TileMatrixObject(const TileMatrixObject&) = delete;
  TileMatrixObject& operator=(const TileMatrixObject&) = delete;

  /// Calls f(matrix) with the matrix of its type.
  template <class F>
  auto with(F f) const {
    return std::visit([&](const auto& held) { return f(*held); }, matrix_);
  }
  Element element() const { return static_cast<Element>(matrix_.index()); }

 private:
  nb::object array_;  // destroyed after the tiles
  template <class... T>
  using OneOf = std::variant<std::optional<TileMatrix<T>>...>;
  OneOf<float, double, std::int32_t, index_t, std::uint8_t> matrix_;  // in the order of enum class Element
};

class GraphObject;
/// tesela.Tile, of a matrix or of a graph, which it keeps alive.
struct TileObject {
  nb::object owner;
  detail::Data* data;
  Element element;
  const GraphObject* graph = nullptr;  ///< null for a tile of a matrix
  index_t i = 0, j = 0;                ///< place in the matrix
  index_t first_row = 0;               ///< its first row in the matrix

  Shape shape() const { return data->shape(); }
  /// Throws TypeError for another precision.
  template <class T>
  Tile<T> in() const {
    if (element == element_of<T>) return Tile<T>(*data);
    throw nb::type_error("tiles of different types in one task");
  }
};

/// tesela.Graph: threads may share it, and use it one at a time.
class GraphObject {
 public:
  GraphObject(bool record, bool longest_path_priorities, const std::string& name);
  ~GraphObject();
  GraphObject(const GraphObject&) = delete;
  GraphObject& operator=(const GraphObject&) = delete;

  /// Calls f(graph) without the GIL, which tasks may need; cheaper than `with`, for calls that wait for no tasks.
  template <class F>
  decltype(auto) briefly(F f) {
    require_process();
    const Released free;
    const c::Session session;
    const std::scoped_lock lock(mutex_);
    return f(*graph_);
  }
  /// Calls f(graph, T()) with the precision of this tile, to insert a task.
  template <class F>
  void insert(const TileObject& tile, F f) {
    if (!is_real(tile.element)) throw nb::type_error("the first tile must be of float32 or float64");
    briefly([&](Graph& g) { tile.element == Element::float32 ? f(g, float()) : f(g, double()); });
  }
  /// A 1 x 1 tile in which Cholesky's kernels report the minor that is not positive.
  Tile<double> minor();

  /// Calls f(graph) without the GIL.
  template <class F>
  auto with(F f) {
    return with_workers([&](const c::Session&) {
      const std::scoped_lock lock(mutex_);
      return f(*graph_);
    });
  }
  /// Throws LinAlgError if a kernel found that there is no result, and the exception of a Python kernel.
  void wait();
  const std::shared_ptr<KernelException>& exception() const { return exception_; }
  /// Notes a reduction, whose copies the next wait() combines, and the exceptions of the kernel that combines them.
  void note_reduction(const TileObject& tile, std::shared_ptr<KernelException> exceptions) {
    reductions_.push_back({tile.graph == nullptr ? tile.owner : nb::object(), tile.data, std::move(exceptions)});
  }

 private:
  struct Outcome {
    index_t minor, status;
  };
  struct Reduction {
    nb::object owner;
    detail::Data* data;
    std::shared_ptr<KernelException> exceptions;
  };
  Outcome finished();

  std::mutex mutex_;
  std::shared_ptr<KernelException> exception_ = std::make_shared<KernelException>();
  std::optional<TileMatrix<double>> minor_;
  std::vector<Reduction> reductions_;  // since the last wait()
  std::unique_ptr<Graph> graph_;
};

/// Adds to Graph one method for each kernel.
void add_kernels(nb::class_<GraphObject>& graph);
/// Adds tesela.Kernel, and to Graph the insertion of such kernels.
void add_python_kernels(nb::module_& module, nb::class_<GraphObject>& graph);

}  // namespace tesela::python
