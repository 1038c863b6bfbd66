#pragma once

#include "interfaces/c/arguments.hpp"
#include "interfaces/c/handles.hpp"
#include "interfaces/c/process.hpp"
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <functional>
#include <future>
#include <mutex>
#include <string>

namespace tesela::c {

template <class T>
std::string precision() {
  return std::string(sizeof(real_t<T>) == 4 ? "single" : "double") +
         (is_complex<T> ? " precision, complex" : " precision");
}

/// Implements the tesela_…_free functions: accepts null or an `O`. It may wait for tasks.
template <class O>
Code free_handle(const char* parameter, const void* handle) {
  if (handle == nullptr) return 0;
  object<O>(parameter, handle);
  const Session session;
  forget(handle);
  return 0;
}

/// tesela_matrix
struct AnyMatrix : Object {
  static std::string kind() { return "a matrix"; }
};
template <class T>
struct MatrixObject : AnyMatrix {
  explicit MatrixObject(TileMatrix<T> A, const MatrixView<T>& of = {}) : matrix(std::move(A)), memory(of) {}
  static std::string kind() { return "a matrix in " + precision<T>(); }
  std::string what() const override { return kind(); }
  const TileMatrix<T> matrix;
  const MatrixView<T> memory;  ///< the caller's; empty if the tiles are not mapped
};

/// The tiles of a handle and the name of its parameter.
template <class T>
struct Tiles : TileMatrix<T> {
  const char* name;
  Array<T> memory;  ///< the caller's; empty if the tiles are not mapped

  Tiles(const char* parameter, const TileMatrix<T>& A, const MatrixView<T>& of)
      : TileMatrix<T>(A), name(parameter), memory(parameter, of.data, of.shape(), "ld", of.ld) {}
  /// Returns whether the matrices share tiles or memory.
  bool meets(const Tiles& other) const { return this->shares_tiles(other) || Memory(memory).meets(other.memory); }
};

/// Returns the tiles of a matrix parameter.
template <class T>
Tiles<T> tiles(const char* parameter, const tesela_matrix* handle) {
  const auto found = object<MatrixObject<T>>(parameter, handle);
  return {parameter, found->matrix, found->memory};
}

/// tesela_graph: all threads may use it, one at a time.
class GraphObject : public Object {
 public:
  explicit GraphObject(Runtime& runtime) : graph_(runtime) {}
  ~GraphObject() override;
  static std::string kind() { return "a graph"; }
  std::string what() const override { return kind(); }

  /// Inserts tasks.
  void insert(const std::function<void(Graph&)>& tasks);
  /// Runs work that waits for its own tasks on another thread. The next insertion and wait() wait for it.
  void run_in_background(std::function<Code(Graph&)> work);
  /// Waits for all work, and returns the first failure once.
  Code wait();

 private:
  void join_background();

  std::mutex mutex_;
  Graph graph_;
  std::future<void> behind_;
  Code info_ = 0;
  std::string said_;
  std::exception_ptr thrown_;
};

}  // namespace tesela::c
