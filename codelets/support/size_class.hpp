#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

namespace internal {

/// Returns a class of `rows` active rows, rounded to an eighth of an octave.
///
/// Active rows determine a QR kernel's run time in addition to the shapes of its tiles. With classes, tall tiles of one
/// shape share a few performance histories.
constexpr std::uint64_t size_class(index_t rows) {
  std::uint64_t octave = 0;
  while (rows >> (octave + 1) > 0) ++octave;
  return octave << 3 | (octave >= 3 ? static_cast<std::uint64_t>(rows >> (octave - 3)) & 7 : 0);
}

}  // namespace internal

}  // namespace tesela::kernels
