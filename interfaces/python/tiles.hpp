#pragma once

#include "interfaces/python/arrays.hpp"
#include "interfaces/python/call.hpp"
#include <tesela/runtime/graph.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <variant>

namespace tesela::python {

/// tesela.TileMatrix: float32 or float64, in its own memory or in an array that it keeps alive.
class TileMatrixObject {
 public:
  TileMatrixObject(nb::handle array, TileShape tile);
  TileMatrixObject(Shape shape, TileShape tile, bool single);
  ~TileMatrixObject();
  TileMatrixObject(const TileMatrixObject&) = delete;
  TileMatrixObject& operator=(const TileMatrixObject&) = delete;

  /// Calls f(matrix) with the matrix of either precision.
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
  nb::object array_;  // destroyed after the tiles
  std::variant<std::optional<TileMatrix<float>>, std::optional<TileMatrix<double>>> matrix_;
};

/// tesela.Tile: keeps its matrix alive.
struct TileObject {
  nb::object owner;
  const TileMatrixObject* matrix;
  index_t i, j;

  Shape shape() const {
    return matrix->with([&](const auto& m) { return m(i, j).shape(); });
  }
  /// Throws TypeError for another precision.
  template <class T>
  Tile<T> in() const {
    if (const TileMatrix<T>* m = matrix->in<T>()) return (*m)(i, j);
    throw nb::type_error("tiles of float32 and of float64 in one task");
  }
  /// Index of its first row in the matrix.
  index_t first_row() const {
    return matrix->with([&](const auto& m) { return i * m.tile_shape().mb; });
  }
};

/// tesela.Graph: threads may share it, and use it one at a time.
class GraphObject {
 public:
  GraphObject(bool record, bool longest_path_priorities, const std::string& name);
  ~GraphObject();
  GraphObject(const GraphObject&) = delete;
  GraphObject& operator=(const GraphObject&) = delete;

  /// Calls f(graph, T()) with the precision of this tile, to insert a task.
  template <class F>
  void insert(const TileObject& tile, F f) {
    require_process();
    const std::unique_lock lock = locked();
    const c::Session session;
    tile.matrix->single() ? f(*graph_, float()) : f(*graph_, double());
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
  /// Throws LinAlgError if a kernel found that there is no result.
  void wait();

 private:
  /// Releases the GIL while it waits, since the owner of the lock may need it.
  std::unique_lock<std::mutex> locked();

  std::mutex mutex_;
  std::optional<TileMatrix<double>> minor_;
  std::optional<Graph> graph_;
};

/// Adds to Graph one method for each kernel.
void add_kernels(nb::class_<GraphObject>& graph);

}  // namespace tesela::python
