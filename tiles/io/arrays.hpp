#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <complex>
#include <memory>
#include <string>
#include <vector>

// NumPy arrays that are no matrices of real numbers: complex ones, of any number of dimensions, and whole numbers.

namespace tesela {

/// In C order, the last index running fastest.
template <class T>
struct Array {
  std::vector<index_t> dims;
  std::vector<T> values;
};

/// An array in a file, of which a part of the first index's range is read at a time; the file is mapped, and nobody may
/// shorten it meanwhile. Value is std::complex<float>, std::complex<double> or int. Complex arrays: .npy of complex64,
/// complex128, float32 or float64, of either byte order, in C or Fortran order; or a Matrix Market file of two
/// dimensions, complex, hermitian or real, which is read as a whole. int: .npy of int32 or int64.
template <class Value>
class ArrayRows {
 public:
  /// Throws FileError where the file is no such array.
  explicit ArrayRows(const std::string& path);
  ~ArrayRows();
  ArrayRows(ArrayRows&&) noexcept;

  const std::vector<index_t>& dims() const;
  const std::string& path() const;
  /// Of one place of the first index.
  index_t row_size() const;

  /// Values of first … first + count - 1, in C order. Throws FileError for one that is not finite, or beyond int, with
  /// its place. The rows must exist.
  void read(index_t first, index_t count, Value* out) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All of it. Throws as ArrayRows does.
template <class T>
Array<std::complex<T>> read_complex_array(const std::string& path);
Array<int> read_whole_array(const std::string& path);

/// Throws FileError if the name of an array's file does not end in .npy; a special file, as /dev/stdout, has any name.
/// Returns the path.
const std::string& require_array_name(const std::string& path);

/// An array being written in C order, part after part; the file appears when it is complete. Value is std::int8_t, int,
/// float, double or std::complex of these.
template <class Value>
class ArrayWriter {
 public:
  /// Throws FileError if the file cannot be created, and as require_array_name() does.
  ArrayWriter(const std::string& path, const std::vector<index_t>& dims);
  /// Throws EnvironmentError when the disk is full.
  void write(const Value* values, index_t count);
  void commit();

 private:
  AtomicFile file_;
};

/// All of it.
template <class Value>
void write_array(const std::string& path, const std::vector<index_t>& dims, const Value* values);

}  // namespace tesela
