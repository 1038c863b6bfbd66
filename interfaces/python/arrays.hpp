#pragma once

#include "interfaces/c/arguments.hpp"
#include "interfaces/c/process.hpp"
#include "interfaces/python/flag.hpp"
#include "interfaces/python/part.hpp"
#include <tesela/runtime/device_memory.hpp>

#include <initializer_list>
#include <memory>
#include <nanobind/ndarray.h>
#include <variant>
#include <vector>

namespace tesela::python {

/// What a function gives that is an array of some library, which no stub can name.
class AnyArray : public nb::object {
  static bool any(PyObject*) { return true; }
  NB_OBJECT_DEFAULT(AnyArray, nb::object, "typing.Any", any)
  AnyArray(nb::object array) : nb::object(std::move(array)) {}
};

/// Whose arrays go in, and come out; _devices.py has the same numbers.
enum class Library : std::uint8_t { numpy, pytorch, jax, cupy };

/// Where arrays are.
struct Place {
  Library library = Library::numpy;
  int device = -1;  ///< CUDA's number of a GPU; -1 is the host
  bool on_device() const { return device >= 0; }
};

/// Memory at a place, by columns, in tiles.
template <class T>
TileMatrix<T> map(const c::Session& session, T* data, Shape shape, index_t ld, TileShape tile, const char* label,
                  const Place& place) {
  if (!place.on_device()) return TileMatrix<T>::map(session, data, shape.rows, shape.cols, ld, tile, label);
  const int gpu = gpu_of_device(session.runtime(), place.device);
  return TileMatrix<T>::map_device(session, data, shape.rows, shape.cols, ld, tile, gpu, label);
}

/// Throws ValueError for a masked array with masked elements: their values are no data.
void require_unmasked(const char* name, nb::handle given);

/// A matrix that was given, or a vector, which is a matrix of one column: an array of any library, or what
/// numpy.asarray takes. Integers count as float64 and float16 as float32. Throws TypeError for what has other numbers,
/// and ValueError for other dimensions and for a masked array with masked elements.
class Argument {
 public:
  Argument(const char* name, nb::handle given);

  const char* name() const { return name_; }
  index_t rows() const { return shape_.rows; }
  index_t cols() const { return shape_.cols; }
  Shape shape() const { return shape_; }
  bool is_vector() const { return view_.ndim() == 1; }
  bool single() const { return view_.dtype().bits == 32; }
  const Place& place() const { return place_; }
  /// Whether the caller's own memory may be written to, if he allows it; it may always where it is a copy already.
  bool writable() const { return writable_; }
  bool converted() const { return converted_; }
  /// Whether it shares no memory with these: what is overwritten must not.
  bool apart(std::initializer_list<const Argument*> others) const;
  /// The array, or the copy.
  const nb::object& object() const { return object_; }

  /// The same memory as A^T.
  Argument transposed() const;
  /// Whether it lies by columns, or by rows.
  bool by_columns() const {
    return (row_stride_ == 1 || rows() <= 1) && (col_stride_ >= std::max<index_t>(rows(), 1) || cols() <= 1);
  }
  bool by_rows() const { return !is_vector() && col_stride_ == 1 && row_stride_ >= std::max<index_t>(cols(), 1); }

  const void* data() const { return view_.data(); }
  index_t row_stride() const { return row_stride_; }
  index_t col_stride() const { return col_stride_; }

  /// Throws ValueError.
  void require_square() const;
  void require_rows(index_t rows) const;
  void require_cols(index_t cols) const;
  void require_vector() const;
  void require_vector_of(index_t size) const;

 private:
  void read_host(nb::handle given);
  void read_device(const nb::tuple& found);
  void read_shape();

  const char* name_;
  nb::object object_;
  nb::ndarray<nb::ro> view_;
  Place place_;
  Shape shape_;
  index_t row_stride_ = 0, col_stride_ = 0;
  bool writable_ = false, converted_ = false;
};

/// New memory for a matrix, by columns, where arrays of a place are.
template <class T>
class NewMatrix {
 public:
  NewMatrix(Shape shape, const Place& place);
  /// What is on the host, at the place.
  NewMatrix(HostMatrix<T> numbers, const Place& place);

  T* data();
  index_t rows() const { return shape_.rows; }
  index_t cols() const { return shape_.cols; }
  index_t ld() const { return std::max<index_t>(shape_.rows, 1); }
  TileMatrix<T> in_tiles(const c::Session& session, TileShape tile, const char* label = "A") {
    return map(session, data(), shape_, ld(), tile, label, place_);
  }
  /// Its numbers, which leave it.
  HostMatrix<T> on_host() &&;
  /// An array of the place's library, which owns the numbers; `vector`: of one dimension.
  nb::object to_python(bool vector = false) &&;

 private:
  Place place_;
  Shape shape_;
  std::variant<HostMatrix<T>, DeviceBuffer> memory_;
};

/// An argument's numbers by columns, in the caller's memory or in a copy, on the host or on a device.
template <class T>
class Columns : public c::Array<T> {
 public:
  /// To be read by tasks.
  Columns(const c::Session& session, const Argument& a) : Columns(a, true, &session) {}
  /// To be written to: a copy, unless what was given may be lost. What lies by rows is turned by tasks.
  static Columns overwriting(const c::Session& session, const Argument& a, bool may_be_lost) {
    return Columns(a, may_be_written_to(a, may_be_lost), &session);
  }
  /// To be read by the host.
  static Columns on_host(const Argument& a);

  TileMatrix<T> in_tiles(const c::Session& session, TileShape tile, const char* label = "A") const {
    return map(session, this->data, {this->rows, this->cols}, this->ld, tile, label, place_);
  }
  TileMatrix<T> in_one_tile(const c::Session& session, const char* label = "A") const {
    return in_tiles(session, {std::max<index_t>(this->rows, 1), std::max<index_t>(this->cols, 1)}, label);
  }
  const Place& place() const { return place_; }
  bool copied() const { return copy_ != nullptr; }
  /// A copy on the host.
  HostMatrix<T> copy() const;
  /// The diagonal of a square matrix, on the host.
  std::vector<T> diagonal() const;
  /// Makes zero what lies below the blocks of this order on the diagonal.
  void zero_below_blocks(index_t order) const;
  /// The copy that was made, as an array.
  nb::object to_python(bool vector) { return std::move(*copy_).to_python(vector); }

 private:
  Columns(const Argument& a, bool in_place, const c::Session* session);
  Columns(const Argument& a, std::shared_ptr<NewMatrix<T>> copy);
  static bool may_be_written_to(const Argument& a, bool may_be_lost) {
    return (may_be_lost && a.writable()) || a.converted();
  }
  std::shared_ptr<NewMatrix<T>> copy_;
  Place place_;
};

/// Whether that is float32, as numpy.dtype takes it; throws TypeError for others than that and float64.
bool is_single(nb::handle dtype);

/// Throws TypeError where some are on a device and others are not there, or have another precision there.
void require_together(std::initializer_list<const Argument*> arguments);

/// Calls f(T()) with the precision of these arguments: single where all of them are.
template <class F>
auto in_precision(std::initializer_list<const Argument*> arguments, F f) {
  require_together(arguments);
  bool single = true;
  for (const Argument* a : arguments) single = single && a->single();
  return single ? f(float()) : f(double());
}

/// A new array of the place's library.
template <class T>
nb::object to_python(HostMatrix<T> matrix, const Place& place = {}) {
  return NewMatrix<T>(std::move(matrix), place).to_python();
}
/// A vector, and of a matrix with one column that column.
template <class T>
nb::object to_python(const std::vector<T>& numbers, const Place& place = {}) {
  HostMatrix<T> column(static_cast<index_t>(numbers.size()), 1);
  std::copy(numbers.begin(), numbers.end(), column.data());
  return NewMatrix<T>(std::move(column), place).to_python(true);
}
template <class T>
nb::object column_to_python(HostMatrix<T> matrix, const Place& place = {}) {
  return NewMatrix<T>(std::move(matrix), place).to_python(true);
}
/// What was overwritten: the argument itself where no copy was made.
template <class T>
nb::object to_python(const Argument& a, Columns<T> columns) {
  return columns.copied() ? columns.to_python(a.is_vector()) : a.object();
}
/// As the right-hand side was given: a vector or a matrix.
template <class T>
nb::object to_python_like(const Argument& b, HostMatrix<T> matrix) {
  return NewMatrix<T>(std::move(matrix), b.place()).to_python(b.is_vector());
}

}  // namespace tesela::python
