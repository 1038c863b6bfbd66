#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <complex>
#include <memory>
#include <string>
#include <vector>

// NumPy arrays other than real matrices: complex numbers or integers, with any number of dimensions.

namespace tesela {

/// An array in C order: the last index varies fastest.
template <class T>
struct Array {
  std::vector<index_t> dims;  ///< sizes of the dimensions
  std::vector<T> values;      ///< all elements
};

/// An array in a file, read in parts along the first index. The file is mapped and must not be shortened meanwhile.
/// Value is std::complex<float>, std::complex<double> or int. Complex arrays: .npy of complex64, complex128 or the real
/// types of file_formats.hpp, in either byte order, in C or Fortran order; or a Matrix Market file (complex, hermitian
/// or real), which is read as a whole. int: .npy of integers or bool.
template <class Value>
class ArrayRows {
 public:
  /// Throws FileError if the file is not such an array.
  explicit ArrayRows(const std::string& path);
  ~ArrayRows();
  ArrayRows(ArrayRows&&) noexcept;

  const std::vector<index_t>& dims() const;  ///< sizes of the dimensions
  const std::string& path() const;           ///< name of the file
  /// Number of values for one value of the first index.
  index_t row_size() const;

  /// Reads the values of first … first + count - 1 in C order; these rows must exist. Throws FileError, with the place,
  /// for a value that is not finite or that exceeds int.
  void read(index_t first, index_t count, Value* out) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a whole array. Throws as ArrayRows does.
template <class T>
Array<std::complex<T>> read_complex_array(const std::string& path);
Array<int> read_whole_array(const std::string& path);

/// Throws FileError if the name of an array's file does not end in .npy; a special file, such as /dev/stdout, may have
/// any name. Returns the path.
const std::string& require_array_name(const std::string& path);

/// Writes an array part by part in C order; the file appears when it is complete. Value is std::int8_t, int, float,
/// double or a std::complex type.
template <class Value>
class ArrayWriter {
 public:
  /// Throws FileError if the file cannot be created, and as require_array_name() does.
  ArrayWriter(const std::string& path, const std::vector<index_t>& dims);
  /// Throws EnvironmentError if the disk is full.
  void write(const Value* values, index_t count);
  void commit();

 private:
  AtomicFile file_;
};

/// Writes a whole array.
template <class Value>
void write_array(const std::string& path, const std::vector<index_t>& dims, const Value* values);

}  // namespace tesela
