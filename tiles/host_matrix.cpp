#include <tesela/runtime/require.hpp>
#include <tesela/runtime/simulation/simulation.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdint>
#include <cstdlib>
#include <limits>

namespace tesela {

std::string to_string(Shape shape) { return std::to_string(shape.rows) + " x " + std::to_string(shape.cols); }

void require_fits(Shape shape, std::size_t element_bytes, const std::string& name, std::uint64_t max_bytes) {
  if (saturating_mul(elements_of(shape), element_bytes) > max_bytes)
    throw FileError(name, "a dense " + to_string(shape) + " matrix of " + std::to_string(element_bytes) +
                              "-byte values is more than the " + std::to_string(max_bytes >> 20) +
                              " MiB of memory that may be used");
}

namespace detail {

void* allocate(Shape shape, std::size_t element, bool zeroed) {
  require(shape.rows >= 0 && shape.cols >= 0, "HostMatrix", "shape", shape, " is negative");
  const auto bytes = saturating_mul(elements_of(shape), element);
  require(bytes <= static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()), "HostMatrix", "shape", shape,
          " does not fit the address space");
  if (bytes == 0) return nullptr;
  void* const memory = is_simulated() ? simulated_memory(bytes) : zeroed ? std::calloc(bytes, 1) : std::malloc(bytes);
  if (memory == nullptr)
    throw OutOfMemory("HostMatrix: no memory for " + to_string(shape) + " (" + std::to_string(bytes) + " bytes)");
  return memory;
}

void Release::operator()(void* p) const noexcept { is_simulated() ? release_simulated_memory(p) : std::free(p); }

}  // namespace detail
}  // namespace tesela
