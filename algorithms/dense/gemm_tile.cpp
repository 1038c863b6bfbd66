#include <tesela/algorithms/dense/gemm.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {
namespace {

/// Rounds down to a multiple of 64, which keeps every kernel on its aligned path.
index_t rounded(double size) { return std::max<index_t>(64, static_cast<index_t>(size) / 64 * 64); }

}  // namespace

// - GPUs: square tiles, large enough to hide their transfer, and small enough that the work can be shared (eight per
//   side).
// - Cores: each BLAS call packs its operands, so calls must be few and long: the whole inner size up to 4096, and four
//   tiles of C per worker for balance. Both are measured (docs/benchmarks).
// - Several ranks: inner size 512, because a rank holds several tiles while they travel.
GemmTile suitable_gemm_tile(const Runtime& runtime, index_t m, index_t n, index_t k) {
  if (runtime.gpus() > 0) {
    const index_t nb = std::clamp<index_t>(rounded(static_cast<double>(std::max({m, n, k})) / 8), 1024, 4096);
    return {nb, nb, nb};
  }
  const double area =
      static_cast<double>(m) * static_cast<double>(n) / (4.0 * std::max(1, runtime.cpus()) * runtime.ranks());
  const index_t nb = std::clamp<index_t>(rounded(std::sqrt(area / 2)), 64, 1024);
  return {2 * nb, nb, std::clamp<index_t>(k, 1, runtime.ranks() > 1 ? 512 : 4096)};
}

}  // namespace tesela
