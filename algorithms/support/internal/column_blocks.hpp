#pragma once

#include <tesela/runtime/residence.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <functional>
#include <vector>

// Factorizations of matrices that are larger than the GPUs' memory.

namespace tesela {

/// GPUs, and the bytes that tiles may occupy on each; infinite if unlimited.
struct GpuRoom {
  int gpus = 0;
  double bytes = 0;
  GpuRoom(int count, double on_each) : gpus(count), bytes(on_each) {}
  /// Without GPUs, and with several ranks, the room is infinite.
  explicit GpuRoom(const Runtime& runtime);
  /// Returns whether a matrix of elements T fits on a GPU.
  template <class T>
  bool holds(Shape shape) const {
    return sizeof(T) * static_cast<double>(shape.rows) * static_cast<double>(shape.cols) <= bytes;
  }
};

/// Consecutive tile columns (or tile rows) of a factorization.
struct ColumnBlock {
  index_t begin = 0, end = 0;
};

/// Cuts a factorization into blocks of columns that the GPUs' memory holds.
///
/// A factorization updates one block after the other by all earlier columns, and factors it (left-looking): a block is
/// loaded once, and the earlier columns pass by. With one block the order of the steps is right-looking.
///
/// columns   number of tile columns.
/// bytes     of tile column j, and of each earlier column in the update of a block that begins with j.
/// reserved  bytes on each GPU for other data.
/// Returns   one block if all columns fit. Otherwise two blocks fit at a time, so that one is loaded while the other is
///           factored, and three earlier columns on each GPU; a block has at least one column. The variable
///           TESELA_BLOCK_COLUMNS sets another number, also on cores: for tests and studies.
std::vector<ColumnBlock> column_blocks(const GpuRoom& room, index_t columns,
                                       const std::function<double(index_t)>& bytes, double reserved);

/// The same for whole columns of A; one block if A is in a GPU's memory.
template <class T>
std::vector<ColumnBlock> column_blocks(const Runtime& runtime, const TileMatrix<T>& A, double reserved) {
  if (A.mt() == 0 || A.nt() == 0 || lives_on_gpu(A(0, 0))) return {{0, A.nt()}};
  const auto rows = static_cast<double>(A.m()), width = static_cast<double>(std::min(A.n(), A.tile_shape().nb));
  return column_blocks(
      GpuRoom(runtime), A.nt(), [=](index_t) { return rows * width * sizeof(T); }, reserved);
}

/// Returns the width of tile columns of `rows` doubles: `suitable`, or the largest multiple of 32 such that a GPU holds
/// `least` tile columns.
index_t width_in_memory(const GpuRoom& room, index_t rows, index_t suitable, index_t least);

}  // namespace tesela
