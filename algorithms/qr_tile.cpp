#include "algorithms/qr.hpp"

#include <algorithm>
#include <cmath>

namespace tesela {

/// Cores want many square tiles, of which four wait for each worker in a tile column; a GPU wants few tall ones.
TileShape suitable_qr_tile(const Runtime& runtime, index_t m, index_t n) {
  const auto rounded = [](double size) { return static_cast<index_t>(size) / 32 * 32; };
  if (runtime.gpus() > 0) {
    const index_t nb = std::clamp<index_t>(rounded(static_cast<double>(std::min(m, n)) / 16), 128, 512);
    return {std::clamp<index_t>(m, nb, 32768), nb};
  }
  const double tiles = 4.0 * std::max(1, runtime.cpus());
  const index_t nb = std::clamp<index_t>(rounded(static_cast<double>(std::max(m, n)) / (2 * tiles)), 64, 256);
  return {nb, nb};
}

}  // namespace tesela
