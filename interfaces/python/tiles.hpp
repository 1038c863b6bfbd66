#pragma once

#include "interfaces/python/arrays.hpp"
#include "interfaces/python/call.hpp"
#include <tesela/runtime/graph.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <variant>

namespace tesela::python {

/// tesela.TileMatrix: of float32 or float64, in memory of its own or in an array's, which it keeps alive.
class TileMatrixObject {
 public:
  TileMatrixObject(nb::handle array, TileShape tile);
  TileMatrixObject(Shape shape, TileShape tile, bool single);
  ~TileMatrixObject();
  TileMatrixObject(const TileMatrixObject&) = delete;
  TileMatrixObject& operator=(const TileMatrixObject&) = delete;

  /// f(matrix), whatever its precision.
  template <class F>
  auto with(F f) const {
    return std::visit([&](const auto& held) { return f(*held); }, matrix_);
  }
  template <class T>
  const TileMatrix<T>* in() const {
    const auto* held = std::get_if<std::optional<TileMatrix<T>>>(&matrix_);
    return held != nullptr ? &**held : nullptr;
  }
  bool single() const { return in<float>() != nullptr; }

 private:
  nb::object array_;  // outlives the tiles
  std::variant<std::optional<TileMatrix<float>>, std::optional<TileMatrix<double>>> matrix_;
};

/// tesela.Tile: one of them, which keeps its matrix alive.
struct TileObject {
  nb::object owner;
  const TileMatrixObject* matrix;
  index_t i, j;

  Shape shape() const {
    return matrix->with([&](const auto& m) { return m(i, j).shape(); });
  }
  /// Throws TypeError where it has another precision.
  template <class T>
  Tile<T> in() const {
    if (const TileMatrix<T>* m = matrix->in<T>()) return (*m)(i, j);
    throw nb::type_error("tiles of float32 and of float64 in one task");
  }
  /// Its first row in the matrix.
  index_t first_row() const {
    return matrix->with([&](const auto& m) { return i * m.tile_shape().mb; });
  }
};

/// tesela.Graph. Threads may share it: one at a time uses it.
class GraphObject {
 public:
  GraphObject(bool record, bool longest_path_priorities, const std::string& name);
  ~GraphObject();
  GraphObject(const GraphObject&) = delete;
  GraphObject& operator=(const GraphObject&) = delete;

  /// f(graph, T()) with the precision of this tile: inserts a task.
  template <class F>
  void insert(const TileObject& tile, F f) {
    require_process();
    const std::unique_lock lock = locked();
    const c::Session session;
    tile.matrix->single() ? f(*graph_, float()) : f(*graph_, double());
  }
  /// Where Cholesky's kernels say which minor is not positive: 1 x 1.
  Tile<double> minor();

  /// f(graph), Python free to go on.
  template <class F>
  auto with(F f) {
    return with_workers([&](const c::Session&) {
      const std::scoped_lock lock(mutex_);
      return f(*graph_);
    });
  }
  /// Throws LinAlgError where a kernel found that there is no result.
  void wait();

 private:
  /// Whoever holds it may need Python before he lets go.
  std::unique_lock<std::mutex> locked();

  std::mutex mutex_;
  std::optional<TileMatrix<double>> minor_;
  std::optional<Graph> graph_;
};

/// The class Graph's methods that insert a kernel each.
void add_kernels(nb::class_<GraphObject>& graph);

}  // namespace tesela::python
