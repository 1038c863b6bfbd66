#pragma once

#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tesela::npy {

struct Header {
  std::size_t item_bytes = 0;  // 4 or 8
  bool swapped = false;        // stored in the other byte order
  bool fortran_order = false;
  Shape shape;
  std::size_t data_offset = 0;
};

/// Header of an array of real or complex numbers with any number of dimensions.
struct ArrayHeader {
  std::size_t real_bytes = 0;  // 4 or 8: bytes of a real number or of either part
  bool complex = false;
  bool swapped = false;
  bool fortran_order = false;
  std::vector<index_t> dims;
  std::size_t data_offset = 0;
  std::size_t item_bytes() const { return real_bytes * (complex ? 2 : 1); }
};

/// Parse the header of a .npy file that is completely in `bytes`: of real or complex numbers, or of integers of 4 or 8
/// bytes. Exactly the bytes of dims follow the header. Throw FileError.
ArrayHeader parse_array_header(std::span<const char> bytes, const std::string& name);
ArrayHeader parse_whole_header(std::span<const char> bytes, const std::string& name);

/// Parses the header of a .npy file that is completely in `bytes`, and checks that exactly the bytes of shape follow
/// it. Throws FileError, also for files that Tesela does not read (other types, more than two dimensions).
Header parse_header(std::span<const char> bytes, const std::string& name);

}  // namespace tesela::npy
