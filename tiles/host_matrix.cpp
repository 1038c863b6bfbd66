#include <tesela/runtime/out_of_memory.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/simulation.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <cstdint>
#include <cstdlib>
#include <limits>

namespace tesela::detail {

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

}  // namespace tesela::detail
