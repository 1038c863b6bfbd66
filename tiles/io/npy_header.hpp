#pragma once

#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tesela::npy {

/// Type of an array's numbers.
struct Item {
  char kind = 'f';        ///< f: floating point, i: integer, u: unsigned integer, b: bool, c: complex
  std::size_t bytes = 0;  ///< 1, 2, 4 or 8: of a number, or of either part of a complex one
  bool swapped = false;   ///< stored in the other byte order
};

/// Header of a matrix or a vector.
struct Header {
  Item item;
  bool fortran_order = false;   ///< whether columns are contiguous
  Shape shape;                  ///< rows and columns
  std::size_t data_offset = 0;  ///< position of the first element, in bytes
  bool vector = false;          ///< one dimension
  /// Returns the numbers of an element: 2 of a complex one.
  std::size_t parts() const { return item.kind == 'c' ? 2 : 1; }
};

/// Header of an array with any number of dimensions.
struct ArrayHeader {
  Item item;
  bool fortran_order = false;   ///< whether the first index is contiguous
  std::vector<index_t> dims;    ///< sizes of the dimensions
  std::size_t data_offset = 0;  ///< position of the first element, in bytes
  std::size_t item_bytes() const { return item.bytes * (item.kind == 'c' ? 2 : 1); }  ///< bytes of an element
};

/// Parse the header of a .npy file that is completely in `bytes`: of real or complex numbers, or of integers. Exactly
/// the bytes of dims follow the header. Throw FileError.
ArrayHeader parse_array_header(std::span<const char> bytes, const std::string& name);
ArrayHeader parse_whole_header(std::span<const char> bytes, const std::string& name);

/// Parses the header of a .npy file that is completely in `bytes`, and checks that exactly the bytes of shape follow
/// it. Throws FileError, also for files that Tesela does not read (other types, more than two dimensions), and unless
/// `complex_too` for complex numbers.
Header parse_header(std::span<const char> bytes, const std::string& name, bool complex_too);

}  // namespace tesela::npy
