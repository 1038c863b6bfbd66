#pragma once

#include <tesela/runtime/types.hpp>

#include <type_traits>

namespace tesela {

/// How a kernel accesses a tile: in, out, inout, commute, reduce or scratch. The types of its variants' parameters, In
/// to Scratch, select the mode.
enum class Mode : std::uint8_t { in, out, inout, commute, reduce, scratch };

/// A column-major block, `rows` x `cols`, in the memory of the worker that runs the kernel: element (i, j) is data[i +
/// j * ld].
template <class T>
struct Block {
  using value_type = std::remove_const_t<T>;
  T* data = nullptr;
  index_t rows = 0;
  index_t cols = 0;
  index_t ld = 0;

  T& operator()(index_t i, index_t j) const { return data[i + j * ld]; }  ///< element (i, j)
  Shape shape() const { return {rows, cols}; }                            ///< rows and columns
};

/// Read only.
template <class T>
struct In : Block<const T> {
  static constexpr Mode mode = Mode::in;
};

/// Overwritten without being read: the previous contents are lost.
template <class T>
struct Out : Block<T> {
  static constexpr Mode mode = Mode::out;
};

/// Read and written, in the order of insertion.
template <class T>
struct InOut : Block<T> {
  static constexpr Mode mode = Mode::inout;
};

/// Read and written; consecutive commuting tasks on one tile may run in any order (never at the same time).
template <class T>
struct Commute : Block<T> {
  static constexpr Mode mode = Mode::commute;
};

/// A contribution to a reduction: each worker accumulates into a private copy, and the copies are combined before the
/// next access of another mode. Graph::reduction must have set the tile's kernels.
template <class T>
struct Reduce : Block<T> {
  static constexpr Mode mode = Mode::reduce;
};

/// Uninitialised work space that lives for one task; see Graph::scratch.
template <class T>
struct Scratch : Block<T> {
  static constexpr Mode mode = Mode::scratch;
};

}  // namespace tesela
