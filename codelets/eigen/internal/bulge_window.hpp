#pragma once

#include <tesela/codelets/eigen/bulge_blocks.hpp>

#include <algorithm>

// The window of C's rows that a core updates while it applies a bundle (ApplyBulgeBlocks). Internal to codelets/eigen.

namespace tesela::kernels::eigen {

/// Hops whose blocks are applied between two moves of the window.
inline constexpr index_t hops_at_once = 4;

/// Columns of C in the widest panel, three vectors of 32 bytes; panels of shorter vectors divide it.
constexpr index_t widest_panel(std::size_t element_size) { return 96 / static_cast<index_t>(element_size); }

/// Rows of C that are in the window at once.
inline index_t window_rows(const BulgeBlocks& p) {
  return (p.blocks - 1) * p.width + (hops_at_once - 1) * p.chase.b + p.length();
}

/// Returns the widest panels that are in the window at once.
inline index_t window_panels(const BulgeBlocks& p) {
  constexpr index_t cache = 1 << 17, row_bytes = 96;
  return std::max<index_t>(cache / (window_rows(p) * row_bytes), 1);
}

}  // namespace tesela::kernels::eigen
