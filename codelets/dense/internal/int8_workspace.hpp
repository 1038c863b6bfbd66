#pragma once

#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <cstddef>

namespace tesela::kernels::int8 {

inline constexpr int most_blocks = 132;           ///< blocks of a product: multiprocessors of an H100 or H200
inline constexpr int tile_i = 256, tile_j = 128;  ///< rows and columns of C that a block multiplies at a time

/// Returns the number of parts of k whose squares are summed apart, for operands whose lines lie across memory.
constexpr index_t norm_parts(index_t k) { return k <= 4096 ? ceil_div(std::max<index_t>(k, 1), 128) : 32; }

/// Returns the bytes for residues of the tiles of C that blocks work on, two for each block.
constexpr index_t kept_bytes(index_t m, index_t n, int count) {
  return count * 2 * std::min<index_t>(most_blocks, ceil_div(m, tile_i) * ceil_div(n, tile_j)) * tile_i * tile_j;
}

/// Offsets in bytes of the parts of a work space for an m x n x k product by `count` moduli.
struct Workspace {
  index_t depth = 0;  ///< k rounded up to 16
  std::size_t a = 0, b = 0, rows = 0, columns = 0, squares = 0, kept = 0, found = 0, bytes = 0;

  Workspace(index_t m, index_t n, index_t k, int count) : depth(ceil_div(k, 16) * 16) {
    a = reserve(count * m * depth);
    b = reserve(count * n * depth);
    rows = reserve(4 * (m + tile_i));
    columns = reserve(4 * (n + 2 * tile_j));
    squares = reserve(24 * std::max(m, n) * norm_parts(k));
    kept = reserve(kept_bytes(m, n, count));
    found = reserve(4);
  }

 private:
  std::size_t reserve(index_t size) {
    const std::size_t at = bytes;
    bytes += static_cast<std::size_t>(ceil_div(size, 256) * 256);
    return at;
  }
};

}  // namespace tesela::kernels::int8
