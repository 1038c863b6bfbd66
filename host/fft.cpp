#include <tesela/host/fft.hpp>

#include <algorithm>
#include <limits>

namespace tesela::fft {

index_t good_size(index_t n) {
  constexpr index_t most = std::numeric_limits<index_t>::max();
  n = std::max<index_t>(n, 2);
  index_t best = most;
  for (index_t sevens = 1; sevens<best; sevens = sevens> most / 7 ? most : sevens * 7)
    for (index_t fives = sevens; fives<best; fives = fives> most / 5 ? most : fives * 5)
      for (index_t threes = fives; threes<best; threes = threes> most / 3 ? most : threes * 3) {
        index_t size = threes > most / 2 ? most : 2 * threes;
        while (size < n && size <= most / 2) size *= 2;
        if (size >= n) best = std::min(best, size);
      }
  return best;
}

}  // namespace tesela::fft
