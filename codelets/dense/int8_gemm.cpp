#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/codelets/dense/internal/int8_workspace.hpp>

#include <algorithm>
#include <bit>

namespace tesela::kernels {
namespace {

index_t rounded_up(index_t size, index_t unit) { return ceil_div(size, unit) * unit; }

/// Returns the size of `count` equal pieces that cover `size`, rounded up to a multiple of `unit`.
index_t equal_pieces(index_t size, index_t count, index_t unit) {
  return std::min(size, rounded_up(ceil_div(size, count), unit));
}

}  // namespace

// The inner size of a piece is at most 8192: beyond, blocks drift apart and no longer share their operands in L2.
Int8Plan plan_int8(index_t m, index_t n, index_t k, std::size_t element, std::size_t most) {
  constexpr index_t deepest = 8192, least = 256;
  index_t parts_m = 1, parts_n = 1, parts_k = std::max<index_t>(1, ceil_div(k, deepest));
  for (;;) {
    Int8Plan plan{equal_pieces(m, parts_m, 256), equal_pieces(n, parts_n, 256), equal_pieces(k, parts_k, 128), 0};
    plan.bytes = int8::Workspace(plan.m, plan.n, plan.k, element).bytes;
    if (plan.bytes <= most || std::max({plan.m, plan.n, plan.k}) <= least) return plan;
    // Long pieces in k spare reads and writes of C, large pieces of C spare conversions.
    if (plan.k > 2048 || std::max(plan.m, plan.n) <= least)
      ++parts_k;
    else
      ++(plan.m >= plan.n ? parts_m : parts_n);
  }
}

index_t int8_work(index_t m, index_t n, index_t k, std::size_t element) {
  constexpr std::size_t least = std::size_t{64} << 20;
  const std::size_t bytes = plan_int8(m, n, k, element).bytes;
  return static_cast<index_t>(std::max(std::bit_ceil(bytes), least) / sizeof(double));
}

// Measured for both precisions, for cubes and for products with one or two sides of 1024 to 4096 (docs/gemm.md).
bool int8_wins(index_t m, index_t n, index_t k) {
  const double products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const index_t least = std::min({m, n, k});
  return least >= 2048 ? products >= 0x1p34 : least >= 1024 && products >= 0x1p35;
}

}  // namespace tesela::kernels
