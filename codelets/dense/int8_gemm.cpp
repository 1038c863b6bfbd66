#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/codelets/dense/internal/int8_moduli.hpp>
#include <tesela/codelets/dense/internal/int8_workspace.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <mutex>

namespace tesela::kernels {
namespace {

index_t rounded_up(index_t size, index_t unit) { return ceil_div(size, unit) * unit; }

/// Returns the size of `count` equal pieces that cover `size`, rounded up to a multiple of `unit`.
index_t equal_pieces(index_t size, index_t count, index_t unit) {
  return std::min(size, rounded_up(ceil_div(size, count), unit));
}

}  // namespace

// The inner size of a piece is at most 8192: beyond, blocks drift apart and no longer share their operands in L2.
Int8Plan plan_int8(index_t m, index_t n, index_t k, int moduli, std::size_t most) {
  constexpr index_t deepest = 8192, least = 256;
  index_t parts_m = 1, parts_n = 1, parts_k = std::max<index_t>(1, ceil_div(k, deepest));
  for (;;) {
    Int8Plan plan{equal_pieces(m, parts_m, 256), equal_pieces(n, parts_n, 256), equal_pieces(k, parts_k, 128), 0,
                  moduli};
    plan.bytes = int8::Workspace(plan.m, plan.n, plan.k, moduli).bytes;
    if (plan.bytes <= most || std::max({plan.m, plan.n, plan.k}) <= least) return plan;
    // Long pieces in k spare reads and writes of C, large pieces of C spare conversions.
    if (plan.k > 2048 || std::max(plan.m, plan.n) <= least)
      ++parts_k;
    else
      ++(plan.m >= plan.n ? parts_m : parts_n);
  }
}

index_t int8_work(index_t m, index_t n, index_t k, int moduli, std::size_t most) {
  constexpr std::size_t least = std::size_t{32} << 20;
  const std::size_t bytes = plan_int8(m, n, k, moduli, std::bit_floor(std::max(most, least))).bytes;
  return static_cast<index_t>(std::max(std::bit_ceil(bytes), least) / sizeof(double));
}

// Roundings to integers give sums / R + norms k / R^2, the constants less than 2^-58 norms, and three roundings follow.
int moduli_for_spread(std::size_t element, index_t k, const Spread& spread) {
  const bool of_double = element == sizeof(double);
  const std::array<int, 3> counts = of_double ? std::array{14, 15, 16} : std::array{7, 14, 14};
  const auto inner = static_cast<double>(k);
  for (const int count : counts) {
    const double norm = int8::largest_norm(count, k);
    const double error = spread.sums / norm + spread.norms * (inner / (norm * norm) + 0x1p-58);
    if (error <= (inner - 3.1) * (of_double ? 0x1p-53 : 0x1p-24)) return count;
  }
  return 0;
}

namespace {
std::mutex counting;
std::map<int, index_t> pieces;
}  // namespace

void count_componentwise_piece(int moduli) {
  const std::lock_guard lock(counting);
  ++pieces[moduli];
}

std::map<int, index_t> componentwise_pieces() {
  const std::lock_guard lock(counting);
  return pieces;
}

// Measured for both precisions, for cubes and for products with one or two sides of 1024 to 4096 (docs/gemm.md).
bool int8_wins(index_t m, index_t n, index_t k) {
  const double products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const index_t least = std::min({m, n, k});
  return least >= 2048 ? products >= 0x1p34 : least >= 1024 && products >= 0x1p35;
}

}  // namespace tesela::kernels
