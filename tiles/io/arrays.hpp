#pragma once

#include <tesela/runtime/types.hpp>

#include <complex>
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

/// Reads complex64, complex128, float32 or float64, of either byte order, in C or Fortran order. Throws FileError where
/// the file is no such array, and for a value that is not finite in T, with its place.
template <class T>
Array<std::complex<T>> read_complex_array(const std::string& path);

/// Reads int32 or int64 of this machine's byte order, in C or Fortran order. Throws FileError, also for numbers beyond
/// int.
Array<int> read_whole_array(const std::string& path);

/// Writes int, float, double or std::complex of these in C order. The file appears when it is complete. Throws
/// FileError where it cannot be created or its name does not end in .npy, EnvironmentError when the disk is full.
template <class T>
void write_array(const std::string& path, const std::vector<index_t>& dims, const T* values);

}  // namespace tesela
