#pragma once

#include "interfaces/c/arguments.hpp"
#include "interfaces/c/process.hpp"
#include "interfaces/python/flag.hpp"
#include "interfaces/python/part.hpp"
#include <tesela/runtime/machine/device_memory.hpp>

#include <initializer_list>
#include <memory>
#include <nanobind/ndarray.h>
#include <utility>
#include <variant>
#include <vector>

namespace tesela::python {

/// A returned array of any library, which a stub cannot name.
class AnyArray : public nb::object {
  static bool any(PyObject*) { return true; }
  NB_OBJECT_DEFAULT(AnyArray, nb::object, "typing.Any", any)
  AnyArray(nb::object array) : nb::object(std::move(array)) {}
};

/// An array argument of any library, or anything that numpy.asarray accepts.
class ArrayLike : public nb::object {
  static bool any(PyObject*) { return true; }
  NB_OBJECT_DEFAULT(ArrayLike, nb::object, "numpy.typing.ArrayLike", any)
};

/// Library of an array; _devices.py uses the same numbers.
enum class Library : std::uint8_t { numpy, pytorch, jax, cupy };

/// Library and memory of an array.
struct Place {
  Library library = Library::numpy;
  int device = -1;  ///< CUDA's number of the GPU; -1 is the host
  bool on_device() const { return device >= 0; }
};

/// Throws ValueError for a masked array with masked elements.
void require_unmasked(const char* name, nb::handle given);

/// Numbers that a function accepts: float32 and float64, or complex64 and complex128 as well.
enum class Numbers : std::uint8_t { real, complex_too };

/// A matrix or a vector (a matrix of one column) from the caller: an array of any library, or anything that
/// numpy.asarray accepts. Integers and longdouble become float64, float16 becomes float32, longer complex numbers
/// complex128. Throws TypeError for other types of numbers, and ValueError for other dimensions and for masked
/// elements.
class Argument {
 public:
  Argument(const char* name, nb::handle given, Numbers accepted = Numbers::real);

  const char* name() const { return name_; }
  index_t rows() const { return shape_.rows; }
  index_t cols() const { return shape_.cols; }
  Shape shape() const { return shape_; }
  bool is_vector() const { return view_.ndim() == 1; }
  bool complex() const { return view_.dtype().code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex); }
  bool single() const { return view_.dtype().bits == (complex() ? 64 : 32); }
  /// Returns whether its numbers are of type T.
  template <class T>
  bool has() const {
    return complex() == is_complex<T> && single() == (sizeof(real_t<T>) == 4);
  }
  const Place& place() const { return place_; }
  /// Whether the array may be written to with the caller's permission; true for a copy.
  bool writable() const { return writable_; }
  bool converted() const { return converted_; }
  /// Whether it shares no memory with these arrays, which is required for an overwritten array.
  bool apart(std::initializer_list<const Argument*> others) const;
  /// The array or its copy.
  const nb::object& object() const { return object_; }

  /// Returns A^T in the same memory.
  Argument transposed() const;
  /// Whether the array is in Fortran order, or in C order.
  bool by_columns() const {
    return (row_stride_ == 1 || rows() <= 1) && (col_stride_ >= std::max<index_t>(rows(), 1) || cols() <= 1);
  }
  bool by_rows() const { return !is_vector() && col_stride_ == 1 && row_stride_ >= std::max<index_t>(cols(), 1); }

  const void* data() const { return view_.data(); }
  index_t row_stride() const { return row_stride_; }
  index_t col_stride() const { return col_stride_; }

  /// Throw ValueError.
  void require_square() const;
  void require_rows(index_t rows) const;
  void require_rows(index_t rows, index_t or_rows) const;
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
  Numbers accepted_;
};

/// New memory for a matrix in Fortran order at a place.
template <class T>
class NewMatrix {
 public:
  NewMatrix(Shape shape, const Place& place);
  /// Moves a host matrix to the place.
  NewMatrix(HostMatrix<T> numbers, const Place& place);

  T* data();
  index_t rows() const { return shape_.rows; }
  index_t cols() const { return shape_.cols; }
  index_t ld() const { return std::max<index_t>(shape_.rows, 1); }
  MatrixView<T> view() { return {data(), shape_, ld(), place_.device}; }
  TileMatrix<T> in_tiles(const c::Session& session, TileShape tile, const char* label = "A") {
    return view().in_tiles(session, tile, label);
  }
  /// Moves the matrix to the host.
  HostMatrix<T> on_host() &&;
  /// Returns an array of the place's library that owns the matrix; `vector`: with one dimension.
  nb::object to_python(bool vector = false) &&;

 private:
  Place place_;
  Shape shape_;
  std::variant<HostMatrix<T>, DeviceBuffer> memory_;
};

/// Returns a copy of X in new memory of the place. Waits.
template <class T>
NewMatrix<T> copied_to(const c::Session& session, const TileMatrix<T>& X, const Place& place);

/// An argument's matrix in Fortran order, in the caller's memory or in a copy, on the host or a device.
template <class T>
class Columns : public c::Array<T> {
 public:
  /// For tasks that read it.
  Columns(const c::Session& session, const Argument& a) : Columns(a, true, &session) {}
  /// For tasks that write it: makes a copy unless `may_be_lost`. Tasks transpose arrays in C order.
  static Columns overwriting(const c::Session& session, const Argument& a, bool may_be_lost) {
    return Columns(a, may_be_written_to(a, may_be_lost), &session);
  }
  /// For the host.
  static Columns on_host(const Argument& a);

  bool copied() const { return copy_ != nullptr; }
  /// Returns a copy on the host.
  HostMatrix<T> copy() const;
  /// Sets the elements below the diagonal blocks of this order to zero.
  void zero_below_blocks(index_t order) const;
  /// Returns the copy as an array.
  nb::object to_python(bool vector) { return std::move(*copy_).to_python(vector); }

 private:
  Columns(const Argument& a, bool in_place, const c::Session* session);
  Columns(const Argument& a, std::shared_ptr<NewMatrix<T>> copy);
  static bool may_be_written_to(const Argument& a, bool may_be_lost) {
    return (may_be_lost && a.writable()) || a.converted();
  }
  std::shared_ptr<NewMatrix<T>> copy_;
};

/// Returns whether dtype is float32, as numpy.dtype interprets it; throws TypeError unless it is float32 or float64.
bool is_single(nb::handle dtype);

/// Throws TypeError if some arguments are on a device and others are elsewhere or have another precision.
void require_together(std::initializer_list<const Argument*> arguments);

/// Calls f(T()) with the precision of these arguments: single if all are single.
template <class F>
auto in_precision(std::initializer_list<const Argument*> arguments, F f) {
  require_together(arguments);
  bool single = true;
  for (const Argument* a : arguments) single = single && a->single();
  return single ? f(float()) : f(double());
}

/// Calls f(T()) with the type of these arguments: complex if one is, and single if all are.
template <class F>
auto in_number_type(std::initializer_list<const Argument*> arguments, F f) {
  require_together(arguments);
  bool single = true, complex = false;
  for (const Argument* a : arguments) {
    single = single && a->single();
    complex = complex || a->complex();
  }
  if (complex) return single ? f(std::complex<float>()) : f(std::complex<double>());
  return single ? f(float()) : f(double());
}

/// Returns a new array of the place's library.
template <class T>
nb::object to_python(HostMatrix<T> matrix, const Place& place = {}) {
  return NewMatrix<T>(std::move(matrix), place).to_python();
}
/// Returns a vector; or the column of a matrix with one column.
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
/// Returns the overwritten array: the argument itself if no copy was made.
template <class T>
nb::object to_python(const Argument& a, Columns<T> columns) {
  return columns.copied() ? columns.to_python(a.is_vector()) : a.object();
}
/// Returns a vector or a matrix like the right-hand side.
template <class T>
nb::object to_python_like(const Argument& b, HostMatrix<T> matrix) {
  return NewMatrix<T>(std::move(matrix), b.place()).to_python(b.is_vector());
}

/// Returns the names of the arguments that were copied before the tasks began: ('a', 'b'), or ().
template <class T>
nb::tuple copied(std::initializer_list<std::pair<const Argument*, const Columns<T>*>> all) {
  nb::list names;
  for (const auto& [argument, columns] : all)
    if (columns->copied() || argument->converted()) names.append(argument->name());
  return nb::tuple(names);
}
inline constexpr const char* copied_doc =
    "Names of the arguments that were copied first: arrays in C order, which tasks transpose, and arrays in Fortran "
    "order that must not be overwritten.";

}  // namespace tesela::python
