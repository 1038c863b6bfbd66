#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace tesela {

/// Returns a * b, or the largest value on overflow, which exceeds every limit.
constexpr std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > most / b ? most : a * b;
}

/// Returns the number of elements of a shape without negative sizes; saturates.
constexpr std::uint64_t elements_of(Shape shape) {
  return saturating_mul(static_cast<std::uint64_t>(shape.rows), static_cast<std::uint64_t>(shape.cols));
}

/// Returns, for example, "3 x 4".
std::string to_string(Shape shape);

/// Throws FileError if a dense matrix that the file `name` describes would need more than max_bytes of memory.
void require_fits(Shape shape, std::size_t element_bytes, const std::string& name, std::uint64_t max_bytes);

}  // namespace tesela
