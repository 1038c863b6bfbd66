#pragma once

#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace tesela::npy {

struct Header {
  std::size_t item_bytes = 0;  // 4 or 8
  bool swapped = false;        // stored in the byte order that this machine does not have
  bool fortran_order = false;
  Shape shape;
  std::size_t data_offset = 0;
};

/// Parses the header of a .npy file that is wholly in `bytes`. What comes out can be believed: exactly the bytes of
/// shape follow it. Throws FileError, also on what Tesela does not read (other types, more than two dimensions).
Header parse_header(std::span<const char> bytes, const std::string& name);

}  // namespace tesela::npy
