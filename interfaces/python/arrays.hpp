#pragma once

#include "interfaces/c/arguments.hpp"
#include "interfaces/python/part.hpp"

#include <initializer_list>
#include <memory>
#include <nanobind/ndarray.h>
#include <vector>

namespace tesela::python {

/// What a function gives that is an array of some library, which no stub can name.
class AnyArray : public nb::object {
  static bool any(PyObject*) { return true; }
  NB_OBJECT_DEFAULT(AnyArray, nb::object, "typing.Any", any)
  AnyArray(nb::object array) : nb::object(std::move(array)) {}
};

/// Whose arrays go in, and come out.
enum class Library : std::uint8_t { numpy, pytorch, jax };

/// A matrix that was given, or a vector, which is a matrix of one column: an array of any library, or what
/// numpy.asarray takes. Integers count as float64 and float16 as float32. Throws TypeError for what has other numbers,
/// and ValueError for other dimensions.
class Argument {
 public:
  Argument(const char* name, nb::handle given);

  const char* name() const { return name_; }
  index_t rows() const { return shape_.rows; }
  index_t cols() const { return shape_.cols; }
  Shape shape() const { return shape_; }
  bool is_vector() const { return view_.ndim() == 1; }
  bool single() const { return view_.dtype().bits == 32; }
  Library library() const { return library_; }
  /// Whether the caller's own memory may be written to, if he allows it; it may always where it is a copy already.
  bool writable() const { return writable_; }
  bool converted() const { return converted_; }
  /// Whether it shares no memory with these: what is overwritten must not.
  bool apart(std::initializer_list<const Argument*> others) const;
  /// The array, or the copy.
  const nb::object& object() const { return object_; }

  /// The same memory as A^T.
  Argument transposed() const;
  /// Whether it lies by rows.
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
  const char* name_;
  nb::object object_;
  nb::ndarray<nb::ro> view_;
  Library library_ = Library::numpy;
  Shape shape_;
  index_t row_stride_ = 0, col_stride_ = 0;
  bool writable_ = false, converted_ = false;
};

/// An argument's numbers by columns, in the caller's memory or in a copy.
template <class T>
class Columns : public c::Array<T> {
 public:
  /// To be read.
  explicit Columns(const Argument& a) : Columns(a, true, nullptr) {}
  /// To be written to: a copy, unless what was given may be lost. What lies by rows is turned by tasks.
  static Columns overwriting(const c::Session& session, const Argument& a, bool may_be_lost) {
    return Columns(a, may_be_written_to(a, may_be_lost), &session);
  }

  bool copied() const { return copy_ != nullptr; }
  /// The copy, which somebody may keep; made where there is none.
  HostMatrix<T> take() { return copy_ != nullptr ? std::move(*copy_) : this->copy(); }

 private:
  Columns(const Argument& a, bool in_place, const c::Session* session);
  static bool may_be_written_to(const Argument& a, bool may_be_lost) {
    return (may_be_lost && a.writable()) || a.converted();
  }
  std::shared_ptr<HostMatrix<T>> copy_;
};

/// Calls f(T()) with the precision of these arguments: single where all of them are.
template <class F>
auto in_precision(std::initializer_list<const Argument*> arguments, F f) {
  bool single = true;
  for (const Argument* a : arguments) single = single && a->single();
  return single ? f(float()) : f(double());
}

/// A new array of the library; it owns the numbers.
template <class T>
nb::object to_python(HostMatrix<T> matrix, Library library = Library::numpy);
/// A vector, and of a matrix with one column that column.
template <class T>
nb::object to_python(std::vector<T> numbers, Library library = Library::numpy);
template <class T>
nb::object column_to_python(HostMatrix<T> matrix, Library library = Library::numpy);
/// Of another type of numbers, as NumPy's.
nb::object counts_to_python(const std::vector<index_t>& counts);
/// What was overwritten: the argument itself where no copy was made.
template <class T>
nb::object to_python(const Argument& a, Columns<T> columns) {
  if (!columns.copied()) return a.object();
  return a.is_vector() ? column_to_python(columns.take(), a.library()) : to_python(columns.take(), a.library());
}
/// As the right-hand side was given: a vector or a matrix.
template <class T>
nb::object to_python_like(const Argument& b, HostMatrix<T> matrix) {
  return b.is_vector() ? column_to_python(std::move(matrix), b.library()) : to_python(std::move(matrix), b.library());
}

}  // namespace tesela::python
