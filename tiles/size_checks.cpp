#include <tesela/tiles/size_checks.hpp>

namespace tesela {

std::string to_string(Shape shape) { return std::to_string(shape.rows) + " x " + std::to_string(shape.cols); }

void require_fits(Shape shape, std::size_t element_bytes, const std::string& name, std::uint64_t max_bytes) {
  if (saturating_mul(elements_of(shape), element_bytes) > max_bytes)
    throw FileError(name, "a dense " + to_string(shape) + " matrix of " + std::to_string(element_bytes) +
                              "-byte values is more than the " + std::to_string(max_bytes >> 20) +
                              " MiB of memory that may be used");
}

}  // namespace tesela
