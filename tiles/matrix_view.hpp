#pragma once

#include <tesela/runtime/machine/device_memory.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <type_traits>

namespace tesela {

/// A column-major matrix in the caller's memory, on the host or on a CUDA device: element (i, j) is data[i + j ld].
/// Solvers accept it and choose the tiles.
template <class T>
struct MatrixView {
  using value_type = std::remove_const_t<T>;
  T* data = nullptr;
  index_t rows = 0, cols = 0, ld = 1;  ///< ld: distance of neighbouring columns, in elements
  int device = -1;                     ///< CUDA's number of the device; -1 is the host

  MatrixView() = default;
  MatrixView(T* memory, Shape shape, index_t leading, int on_device = -1)
      : data(memory), rows(shape.rows), cols(shape.cols), ld(leading), device(on_device) {}
  MatrixView(HostMatrix<value_type>& a) : MatrixView(a.data(), a.shape(), a.ld()) {}
  /// A view for reading.
  template <class U>
  requires(std::is_const_v<T>&& std::is_same_v<U, value_type>) MatrixView(const MatrixView<U>& a)
      : MatrixView(a.data, a.shape(), a.ld, a.device) {}

  Shape shape() const { return {rows, cols}; }  ///< rows and columns

  /// Maps the memory as tiles, without a copy. Throws as TileMatrix::map and map_device.
  TileMatrix<value_type> in_tiles(Runtime& runtime, TileShape tile, const char* label = "A") const {
    if (device < 0) return TileMatrix<value_type>::map(runtime, data, rows, cols, ld, tile, label);
    const int gpu = gpu_of_device(runtime, device);
    return TileMatrix<value_type>::map_device(runtime, const_cast<value_type*>(data), rows, cols, ld, tile, gpu, label);
  }
  TileMatrix<value_type> in_one_tile(Runtime& runtime, const char* label = "A") const {
    return in_tiles(runtime, {std::max<index_t>(rows, 1), std::max<index_t>(cols, 1)}, label);
  }
};

template <class T>
MatrixView(HostMatrix<T>&) -> MatrixView<T>;

}  // namespace tesela
