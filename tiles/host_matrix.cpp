#include <tesela/tiles/host_matrix.hpp>

#include <cstdlib>

namespace tesela::detail {

void* allocate(std::size_t bytes, bool zeroed) noexcept { return zeroed ? std::calloc(bytes, 1) : std::malloc(bytes); }

void Release::operator()(void* p) const noexcept { std::free(p); }

}  // namespace tesela::detail
