#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/out_of_memory.hpp>
#include <tesela/runtime/types.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace tesela {

namespace detail {

/// Returns memory for a matrix with elements of `element` bytes, or null for an empty one. Throws as HostMatrix does.
void* allocate(Shape shape, std::size_t element, bool zeroed);
struct Release {
  void operator()(void* p) const noexcept;
};

}  // namespace detail

/// An owning column-major matrix in host memory with leading dimension max(rows, 1). Any size may be zero. A move is
/// cheap and leaves a 0 x 0 matrix behind; only clone() copies.
template <class T>
class HostMatrix {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// 0 x 0.
  HostMatrix() = default;

  /// rows x cols with uninitialised elements: the threads that fill a large matrix should touch its pages first. Throws
  /// ArgumentError if a size is negative or the byte count overflows, and OutOfMemory if memory is exhausted.
  HostMatrix(index_t rows, index_t cols) : HostMatrix(rows, cols, false) {}

  /// Returns rows x cols zeros, in pages that the system provides on first touch. Throws as the constructor does.
  static HostMatrix zeros(index_t rows, index_t cols) { return HostMatrix(rows, cols, true); }

  HostMatrix(HostMatrix&& other) noexcept
      : shape_(std::exchange(other.shape_, Shape{})), data_(std::move(other.data_)) {}
  HostMatrix& operator=(HostMatrix&& other) noexcept {
    shape_ = std::exchange(other.shape_, Shape{});
    data_ = std::move(other.data_);
    return *this;
  }

  /// Returns a copy. Throws OutOfMemory if memory is exhausted.
  HostMatrix clone() const {
    HostMatrix copy(rows(), cols());
    if (size() != 0) std::memcpy(copy.data(), data(), static_cast<std::size_t>(size()) * sizeof(T));
    return copy;
  }

  /// Return the rows, the columns, both, and the leading dimension.
  index_t rows() const { return shape_.rows; }
  index_t cols() const { return shape_.cols; }
  Shape shape() const { return shape_; }
  index_t ld() const { return std::max<index_t>(shape_.rows, 1); }
  /// rows * cols; elements are contiguous.
  index_t size() const { return shape_.rows * shape_.cols; }

  /// The first element; may be null when size() is zero.
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }

  /// Returns element (i, j), from 0.
  T& operator()(index_t i, index_t j) { return data_[offset(i, j)]; }
  const T& operator()(index_t i, index_t j) const { return data_[offset(i, j)]; }

 private:
  HostMatrix(index_t rows, index_t cols, bool zeroed)
      : shape_{rows, cols}, data_(static_cast<T*>(detail::allocate(shape_, sizeof(T), zeroed))) {}

  std::size_t offset(index_t i, index_t j) const {
    assert(0 <= i && i < rows() && 0 <= j && j < cols());
    return static_cast<std::size_t>(i + j * ld());
  }

  Shape shape_;
  std::unique_ptr<T[], detail::Release> data_;
};

}  // namespace tesela
