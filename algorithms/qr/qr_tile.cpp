#include <tesela/algorithms/qr/qr.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {

// Measured: docs/benchmarks/README.md. GPUs use whole columns, enough per tile to hide the panels behind the updates.
// Cores use whole columns too, unless the matrix is so tall and thin that one panel keeps the others waiting.
TileShape suitable_qr_tile(const WorkerCounts& workers, index_t m, index_t n) {
  const auto rounded = [](index_t size) { return size / 32 * 32; };
  const index_t k = std::min(m, n);
  if (workers.gpus > 0) {
    const index_t nb = k >= 24576 ? std::max<index_t>(2048 / workers.gpus, 512)
                                  : std::clamp<index_t>(rounded(k / 16), k >= 1024 ? 256 : 128, 512);
    return {std::clamp<index_t>(m, nb, 131072), nb};
  }
  const index_t nb = std::clamp<index_t>(rounded(k / 20), 64, 256);
  return {std::clamp<index_t>(m, nb, std::max<index_t>(8192, 4 * nb)), nb};
}

}  // namespace tesela
