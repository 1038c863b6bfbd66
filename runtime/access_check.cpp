#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/variable.hpp>

#include <starpu.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace tesela::detail {
namespace {

/// A block in host memory, by bytes.
struct Bytes {
  std::byte* data;
  std::size_t height, columns, ld;  // bytes of a column, columns, bytes between columns

  explicit Bytes(void* interface) {
    const auto* matrix = static_cast<const starpu_matrix_interface*>(interface);
    data = static_cast<std::byte*>(tile_memory(interface).data);
    height = matrix->nx * matrix->elemsize;
    columns = matrix->ny;
    ld = matrix->ld * matrix->elemsize;
  }
  void fill(int byte) const {
    for (std::size_t j = 0; j < columns; ++j) std::memset(data + j * ld, byte, height);
  }
  std::vector<std::byte> copy() const {
    std::vector<std::byte> values(height * columns);
    for (std::size_t j = 0; j < columns; ++j) std::copy_n(data + j * ld, height, values.data() + j * height);
    return values;
  }
};

/// Throws if the b-th block of the task differs from its copy, with the first element that does.
void require_unchanged(void* interface, std::size_t b, const std::vector<std::byte>& before) {
  const std::vector<std::byte> after = Bytes(interface).copy();
  const auto change = std::mismatch(before.begin(), before.end(), after.begin()).first;
  if (change == before.end()) return;
  const auto* matrix = static_cast<const starpu_matrix_interface*>(interface);
  const std::size_t element = static_cast<std::size_t>(change - before.begin()) / matrix->elemsize;
  throw std::logic_error("changed element (" + std::to_string(element % matrix->nx) + ", " +
                         std::to_string(element / matrix->nx) + ") of tile " + std::to_string(b) +
                         ", which it takes as In (TESELA_CHECK=1)");
}

}  // namespace

bool checks_accesses() {
  static const bool wanted = variable_or("TESELA_CHECK", 0) != 0;
  return wanted;
}

void run_checked(const std::function<void()>& kernel, std::span<void* const> blocks, std::span<const Mode> modes) {
  const auto mode_of = [&](std::size_t b) { return modes[std::min(b, modes.size() - 1)]; };
  std::vector<std::vector<std::byte>> before(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (mode_of(b) == Mode::in) before[b] = Bytes(blocks[b]).copy();
    if (mode_of(b) == Mode::out || mode_of(b) == Mode::scratch) Bytes(blocks[b]).fill(0xff);
  }
  kernel();
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (mode_of(b) == Mode::in) require_unchanged(blocks[b], b, before[b]);
}

}  // namespace tesela::detail
