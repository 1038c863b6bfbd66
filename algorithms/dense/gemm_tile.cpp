#include <tesela/algorithms/dense/gemm.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {
namespace {

/// Multiples of 64 keep every kernel on its aligned path.
index_t rounded(double size) { return std::max<index_t>(64, static_cast<index_t>(size) / 64 * 64); }

}  // namespace

// On GPUs square tiles: large enough to hide their own transfer, small enough that eight a side share the work. On
// cores each BLAS call packs its operands anew, so few and long ones: the whole inner size up to 4096, and tiles of C
// of which each worker gets four, for balance. (Both measured: docs/benchmarks.) Among ranks steps of 512, since a
// rank holds several of them while they travel.
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
