#pragma once

#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tesela::npy {

struct Header {
  std::size_t item_bytes = 0;  // 4 or 8
  bool swapped = false;        // stored in the byte order that this machine does not have
  bool fortran_order = false;
  Shape shape;
  std::size_t data_offset = 0;
};

/// The same of an array of real or complex numbers, of any number of dimensions.
struct ArrayHeader {
  std::size_t real_bytes = 0;  // 4 or 8: of a number, or of either part
  bool complex = false;
  bool swapped = false;
  bool fortran_order = false;
  std::vector<index_t> dims;
  std::size_t data_offset = 0;
  std::size_t item_bytes() const { return real_bytes * (complex ? 2 : 1); }
};

/// Parse the header of a .npy file that is wholly in `bytes`: of real or complex numbers, or of whole ones of 4 or 8
/// bytes. Exactly the bytes of dims follow it. Throw FileError.
ArrayHeader parse_array_header(std::span<const char> bytes, const std::string& name);
ArrayHeader parse_whole_header(std::span<const char> bytes, const std::string& name);

/// Parses the header of a .npy file that is wholly in `bytes`. What comes out can be believed: exactly the bytes of
/// shape follow it. Throws FileError, also on what Tesela does not read (other types, more than two dimensions).
Header parse_header(std::span<const char> bytes, const std::string& name);

}  // namespace tesela::npy
